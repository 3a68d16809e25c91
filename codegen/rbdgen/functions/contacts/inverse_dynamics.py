"""Inverse dynamics of a floating base with contacts at rest, from M, h, J and the drift.

    M a + h = [0; tau] + J^T lambda,  J a + drift = 0

The first six rows belong to the base (index b below) and have no torque. The others belong to the joints
(index j). If lambda is known, the rows of the base determine a_b, and the rows of the joints determine tau.
See Nakanishi, Mistry, Schaal, Inverse Dynamics Control with Floating Base and Constraints, ICRA 2007, eq. 10
and 11, with misprints corrected (M12 M22^-1 for M22^-1 M21, and its inverse in eq. 10).

If there are more contacts than the base needs, lambda is determined only up to internal forces.
`contact_control` uses the forces that the torques of the previous sample cause (eq. 6 and 17).
`contact_rnea_least` uses the smallest weighted forces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdgen.functions.contacts import kinematic_rows
from rbdgen.functions.contacts.arguments import LAMBDA
from rbdgen.functions.form import Outputs
from rbdgen.functions.function import Function
from rbdgen.functions.inertia_matrix import rows as inertia_matrix
from rbdgen.functions.inverse_dynamics import rows as inverse_dynamics
from rbdgen.functions.resistance import model_of
from rbdgen.functions.resisting import resisting
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.rows import Rows, times, transposed
from rbdgen.spatial.scalar import Scalar, add, mul, neg, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.sweep import BASE

NLE = resisting(inverse_dynamics.NLE)
CRBA = resisting(inertia_matrix.CRBA)


@dataclass(frozen=True)
class Terms:
    """The terms of the equation of motion and of contacts, over the independent degrees of freedom.

    On a `Model` they are computed by the textbook's forms, and on a `ReducedModel` by those on mass moments.
    """

    robot: Model | ReducedModel
    x: State

    def _array(self, function: Function, output: int = 0) -> list[Scalar]:
        """An output of a function."""
        form = function.forms[1 if isinstance(self.robot, ReducedModel) else 0]
        return list(function.trace(form, self.robot, self.x)[output])

    def _rows(self, function: Function) -> Rows:
        flat, n = self._array(function), model_of(self.robot).coupling.independent
        return [flat[k : k + n] for k in range(0, len(flat), n)]

    @cached_property
    def M(self) -> Rows:
        return self._rows(CRBA)

    @cached_property
    def h(self) -> list[Scalar]:
        return self._array(NLE)

    @cached_property
    def J(self) -> Rows:
        return self._rows(kinematic_rows.CONTACT_JACOBIAN)

    @cached_property
    def drift(self) -> list[Scalar]:
        return self._array(kinematic_rows.CONTACT_MOTION, 1)

    def left(self, a_joints: Sequence[Scalar], forces: Sequence[Scalar]) -> list[Scalar]:
        """M [0; a_joints] + h - J^T lambda."""
        pushes = times(transposed(self.J), forces)
        moved = times([row[BASE:] for row in self.M], a_joints)
        return list(map(sub, map(add, moved, self.h), pushes))


def contact_rnea(robot: Model | ReducedModel, x: State) -> Outputs:
    """tau and a_base for given lambda."""
    terms = Terms(robot, x)
    f = terms.left(x.arrays["a_joints"], x.arrays[LAMBDA.name])
    a_base = solved([row[:BASE] for row in terms.M[:BASE]], list(map(neg, f[:BASE])))
    return [list(map(add, f[BASE:], times([row[:BASE] for row in terms.M[BASE:]], a_base))), a_base]


def contact_rnea_least(robot: Model | ReducedModel, x: State) -> Outputs:
    """tau, lambda and a_base from weighted least squares.

    With K = J_b^T W J_b: a_b = -K^-1 J_b^T W (J_j a_j + drift), lambda = W J_b K^-1 f_b with f = M a + h, and
    tau = f_j - J_j^T lambda.
    """
    terms, a_joints = Terms(robot, x), x.arrays["a_joints"]
    weights = [weight for weight in x.arrays["share"] for _ in range(3)]
    of_base, of_joints = ([row[part] for row in terms.J] for part in (slice(BASE), slice(BASE, None)))
    weighted = transposed([[mul(w, value) for value in row] for w, row in zip(weights, of_base, strict=True)])
    K = [times(transposed(of_base), column) for column in weighted]
    away = list(map(add, times(of_joints, a_joints), terms.drift))
    a_base = solved(K, list(map(neg, times(weighted, away))))
    f = list(map(add, times(terms.M, [*a_base, *a_joints]), terms.h))
    forces = times(transposed(weighted), solved(K, f[:BASE]))
    return [list(map(sub, f[BASE:], times(transposed(of_joints), forces))), forces, a_base]


def solved(A: Rows, b: Sequence[Scalar]) -> list[Scalar]:
    """A^-1 b for a symmetric A."""
    return ldl(A).solve(b)
