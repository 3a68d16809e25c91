"""The dynamics of a robot with closed loops, in terms of its independent velocities.

When loops are closed, Jc v = 0 determines the dependent velocities v_d from the independent ones v_i:

    v = G v_i,  a = G a_i + g,  G_d = -Jd^+ Ji,  g_d = -Jd^+ gamma,

where G_d and g_d are the rows of G and g for v_d, Jd and Ji are the columns of Jc that belong to v_d and v_i,
and gamma is the drift of Jc. The constraint forces do no work on such motions, so

    M_i = G^T M G,  tau_i = G^T ID(q, G v_i, G a_i + g),

and forward dynamics solves M_i a_i + G^T ID(q, G v_i, g) = tau_i. The equations are those for joints that
follow others (see `model/coupling.py`), except that G depends on q. See Featherstone, Rigid Body Dynamics
Algorithms, 2008, chapters 3 and 8, and Jain, Robot and Multibody Dynamics, 2011, on constraint embedding.

`loop_aba_embedded` is the articulated-body algorithm with such joints. Every independent velocity is
eliminated at the body that carries its closed loop.

Jd^+ is the least-squares inverse over all rows of Jc, some of which may be redundant. It exists whenever the
independent velocities determine the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rbdgen.functions.articulated.embedded import embedded_accelerations
from rbdgen.functions.closed_loops.relative_motion import loop_drift, loop_jacobian
from rbdgen.functions.form import Form
from rbdgen.functions.function import Function
from rbdgen.functions.inverse_dynamics.classical import body_forces
from rbdgen.functions.resistance import model_of, rotor_torque, terms_of, torque
from rbdgen.model.coupling import Member
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.orthogonal import Orthogonal, orthogonal
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, dot, is_zero, mul, neg, sub
from rbdgen.sweeps.inputs import State


@dataclass(frozen=True)
class Eliminated:
    """The closed loops of a robot at a state. Vectors whose names end in `_i` have an element for each
    independent velocity. All others have an element for each element of v.
    """

    model: Model
    x: State

    @cached_property
    def dependent(self) -> list[int]:
        """The dependent elements of v."""
        return [k for k in range(self.model.coupling.independent) if k not in self.model.independent]

    @cached_property
    def _jacobian(self) -> Rows:
        """Jc by columns."""
        rows = loop_jacobian(self.model, self.x.q, self.x.naming)
        return [[row[k] for row in rows] for k in range(self.model.coupling.independent)]

    @cached_property
    def _factor(self) -> Orthogonal:
        """The orthogonal factorisation of Jd."""
        return orthogonal([self._jacobian[k] for k in self.dependent])

    @cached_property
    def columns(self) -> Rows:
        """G_d by columns, one for each independent velocity."""
        return [list(map(neg, self._factor.solve(self._jacobian[k]))) for k in self.model.independent]

    @property
    def projection(self) -> Rows:
        """G by rows."""
        units = [[int(i == k) for k in self.model.independent] for i in self.model.independent]
        pairs = zip(units, self.columns, strict=True)
        return [list(row) for row in zip(*(self.whole(*pair) for pair in pairs), strict=True)]

    @property
    def groups(self) -> list[list[Member]]:
        """For every independent velocity, the degrees of freedom that move with it and their multipliers, its
        own first.
        """
        own, found = self.model.coupling.groups, []
        for i, column in zip(self.model.independent, self.columns, strict=True):
            led = [(d, value) for d, value in zip(self.dependent, column, strict=True) if not is_zero(value)]
            found.append([*own[i], *((k, mul(m, value)) for d, value in led for k, m in own[d])])
        return found

    def whole(self, independent: Sequence[Scalar], dependent: Sequence[Scalar]) -> list[Scalar]:
        """A vector over all elements of v from its independent and dependent parts."""
        numbers = (*self.model.independent, *self.dependent)
        found = dict(zip(numbers, (*independent, *dependent), strict=True))
        return [found[k] for k in range(len(numbers))]

    def velocities(self, v_i: Sequence[Scalar]) -> list[Scalar]:
        """v = G v_i."""
        return self.whole(v_i, self._led(v_i))

    def accelerations(self, v: Sequence[Scalar], a_i: Sequence[Scalar]) -> list[Scalar]:
        """a = G a_i + g."""
        drift = loop_drift(self.model, self.x.q, self.model.coupling.extended(v), self.x.naming)
        pairs = zip(self._led(a_i), self._factor.solve(drift), strict=True)
        return self.whole(a_i, [sub(led, own) for led, own in pairs])

    def _led(self, y: Sequence[Scalar]) -> list[Scalar]:
        """G_d y."""
        return [dot(row, tuple(y)) for row in zip(*self.columns, strict=True)]

    def folded(self, tau: Sequence[Scalar]) -> list[Scalar]:
        """G^T tau."""
        below = [tau[k] for k in self.dependent]
        pairs = zip(self.model.independent, self.columns, strict=True)
        return [add(tau[k], dot(column, below)) for k, column in pairs]

    def folded_matrix(self, M: Rows) -> Rows:
        """G^T M G of a symmetric M: M_ii + M_id G_d + G_d^T (M_di + M_dd G_d). Only one half is computed."""
        independent, dependent = self.model.independent, self.dependent
        below = [[M[d][i] for d in dependent] for i in independent]
        felt = [
            [
                add(own, dot([M[d][e] for e in dependent], column))
                for d, own in zip(dependent, rest, strict=True)
            ]
            for rest, column in zip(below, self.columns, strict=True)
        ]
        n = len(independent)
        result: Rows = [[0] * n for _ in range(n)]
        for r in range(n):
            for c in range(r, n):
                own = add(M[independent[r]][independent[c]], dot(below[r], self.columns[c]))
                result[r][c] = result[c][r] = add(own, dot(self.columns[r], felt[c]))
        return result


@dataclass(frozen=True)
class OfTree:
    """Functions of the open tree, each in one of its forms."""

    rnea: tuple[Function, Form]
    crba: tuple[Function, Form]

    def torques(self, robot: Any, x: State, v: Sequence[Scalar], a: Sequence[Scalar]) -> list[Scalar]:
        """ID(q, v, a)."""
        extended = model_of(robot).coupling.extended
        function, form = self.rnea
        (tau,) = function.trace(form, robot, replace(x, v=extended(v), a=extended(a)))
        return list(tau)

    def inertia(self, robot: Any, x: State) -> Rows:
        """M."""
        function, form = self.crba
        (M,) = function.trace(form, robot, x)
        n = model_of(robot).coupling.independent
        return [list(M[k : k + n]) for k in range(0, n * n, n)]


def loop_motion(model: Model, x: State) -> list[list[Scalar]]:
    """v and a of all joints."""
    loops = Eliminated(model, x)
    v = loops.velocities(x.arrays["v_i"])
    return [v, loops.accelerations(v, x.arrays["a_i"])]


def loop_rnea(tree: OfTree, robot: Any, x: State, a_i: Sequence[Scalar]) -> list[Scalar]:
    """tau_i = G^T ID(q, G v_i, G a_i + g)."""
    loops = Eliminated(model_of(robot), x)
    v = loops.velocities(x.arrays["v_i"])
    return loops.folded(tree.torques(robot, x, v, loops.accelerations(v, a_i)))


def loop_crba(tree: OfTree, robot: Any, x: State) -> Rows:
    """M_i = G^T M G."""
    return Eliminated(model_of(robot), x).folded_matrix(tree.inertia(robot, x))


def loop_aba(tree: OfTree, robot: Any, x: State) -> list[Scalar]:
    """a_i from M_i a_i = tau_i minus the torques at a_i = 0."""
    bias = loop_rnea(tree, robot, x, [0] * len(model_of(robot).independent))
    left = [sub(tau, b) for tau, b in zip(x.arrays["tau_i"], bias, strict=True)]
    return ldl(loop_crba(tree, robot, x), naming=x.naming).solve(left)


def loop_aba_embedded(reduced: ReducedModel, x: State) -> list[Scalar]:
    """a_i by articulated bodies: dependent joints follow the independent ones with the multipliers in G."""
    model, loops = reduced.model, Eliminated(reduced.model, x)
    extended = model.coupling.extended
    v = loops.velocities(x.arrays["v_i"])
    start = loops.accelerations(v, [0] * len(model.independent))
    state = replace(x, v=extended(v), a=extended(start))
    against = map(add, terms_of(model, torque, state), terms_of(model, rotor_torque, state))
    given = dict(zip(model.independent, x.arrays["tau_i"], strict=True))
    tau = [sub(given.get(k, 0), own) for k, own in enumerate(against)]
    a = embedded_accelerations(reduced, replace(state, tau=tau), loops.groups, body_forces())
    return [a[k] for k in model.independent]
