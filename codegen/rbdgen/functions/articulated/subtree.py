"""The equations of motion of a subtree, seen from its root body, while some of its freedoms wait for
elimination (see `embedded.py`).

For an acceleration a of the root body and accelerations y_g of the waiting freedoms, the force on the subtree
is f = I a + sum_g F_g y_g + p, and each waiting freedom has F_g^T a + sum_j H_gj y_j = u_g. When a joint with
motion S, torque tau and rotor inertia A joins freedoms g with multipliers k_g, this adds k_g (tau - S^T p) to
u_g, k_g S^T F_j to H_gj and H_jg for every waiting j, k_g k_j (S^T I S + A) to H_gj between the freedoms that
it joins, and then k_g I S to F_g. When all joints of a freedom have joined, it is released: y_g is eliminated
from f and from the equations of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeVar

from rbdgen.model.articulated import ArticulatedInertia, JointFactor, combination
from rbdgen.model.coupling import Member
from rbdgen.model.inertia import Inertia
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ldl import forward_substituted, ldl
from rbdgen.spatial.ops import NO_FORCE, ZERO, ZERO_MATRIX, Force, Motion
from rbdgen.spatial.scalar import Naming, Scalar, add, dot, mul, sub
from rbdgen.sweeps.bodies import Body, Placed, force_to_parent, inertia_to_parent, with_joint_force
from rbdgen.sweeps.records import named

NOTHING = MassMoments(0, ZERO, ZERO_MATRIX)

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True)
class SubtreeInertia:
    """The inertia I as a sum of two parts: the mass moments of rigid parts, and the inertias handed on by
    bodies at which freedoms were released.
    """

    rigid: MassMoments = NOTHING
    articulated: ArticulatedInertia | None = None

    @cached_property
    def whole(self) -> ArticulatedInertia:
        """The sum of the two parts."""
        m, h, sigma = self.rigid.mass, self.rigid.first, self.rigid.second
        own = ArticulatedInertia.of(Inertia.from_second_moment(m, h, sigma))
        return own if self.articulated is None else own + self.articulated

    def __add__(self, other: SubtreeInertia) -> SubtreeInertia:
        a, b = self.articulated, other.articulated
        return SubtreeInertia(self.rigid + other.rigid, (a or b) if a is None or b is None else a + b)

    def apply(self, m: Motion) -> Force:
        """I m."""
        return self.rigid.apply(m) if self.articulated is None else self.whole.apply(m)

    def to_parent(self, body: Placed) -> SubtreeInertia:
        """The inertia in the parent's axes, about the parent's origin."""
        if self.articulated is None:
            return SubtreeInertia(self.rigid.rotated(body.rotation).translated(body.translation))
        return SubtreeInertia(articulated=inertia_to_parent(body, self.whole))

    def named(self, naming: Naming, label: str) -> SubtreeInertia:
        """Give each of its numbers a name."""
        rigid = named(MassMoments, self.rigid, naming, f"{label}.I")
        if self.articulated is None:
            return SubtreeInertia(rigid)
        return SubtreeInertia(rigid, named(ArticulatedInertia, self.articulated, naming, f"{label}.IA"))


class Released(NamedTuple):
    """Freedoms that were eliminated: L y = rates - scaled^T a - sum_j coupling_to_waiting_j y_j.

    Here a is the acceleration of the body at which they were released, and H = L^T D L.
    """

    freedoms: tuple[int, ...]
    """The numbers of the freedoms that are released."""
    rates: list[Scalar]
    scaled: list[Force]
    lower: list[Scalar]
    """L below its diagonal, row by row."""
    inverse_diagonal: Sequence[Scalar]
    coupling_to_waiting: Mapping[int, Sequence[Scalar]]
    """For every freedom that still waits, its coefficients in these equations."""

    def known(self, y: Mapping[int, Scalar]) -> list[Scalar]:
        """The part of the right-hand side that does not depend on a."""
        right = list(self.rates)
        for j, column in self.coupling_to_waiting.items():
            right = [sub(value, mul(z, y[j])) for value, z in zip(right, column, strict=True)]
        return right

    def accelerations(self, a: Motion, y: Mapping[int, Scalar]) -> dict[int, Scalar]:
        """The accelerations of these freedoms, by their numbers."""
        right = [sub(value, a.dot(F)) for value, F in zip(self.known(y), self.scaled, strict=True)]
        return dict(zip(self.freedoms, forward_substituted(self.lower, right), strict=True))


@dataclass(frozen=True)
class Subtree:
    """The inertia I, the force p, and F, H and u of the waiting freedoms by their numbers. The keys of H are
    pairs of numbers with the lower one first.
    """

    inertia: SubtreeInertia = SubtreeInertia()
    force: Force = NO_FORCE
    F: Mapping[int, Force] = field(default_factory=dict)
    H: Mapping[tuple[int, int], Scalar] = field(default_factory=dict)
    u: Mapping[int, Scalar] = field(default_factory=dict)

    def __add__(self, other: Subtree) -> Subtree:
        return Subtree(
            self.inertia + other.inertia,
            self.force + other.force,
            _united(self.F, other.F, lambda a, b: a + b),
            _united(self.H, other.H, add),
            _united(self.u, other.u, add),
        )

    def joined(self, moves: Sequence[Member], S: Motion, rotor: Scalar, tau: Scalar) -> Subtree:
        """The subtree after a degree of freedom with motion S has joined the freedoms `moves`, each with its
        multiplier.
        """
        U, left = self.inertia.apply(S), sub(tau, S.dot(self.force))
        own = add(S.dot(U), rotor)
        F, H, u = dict(self.F), dict(self.H), dict(self.u)
        for n, (g, k) in enumerate(moves):
            for j, force in self.F.items():
                power = mul(k, S.dot(force))
                H[_pair(g, j)] = add(H.get(_pair(g, j), 0), mul(2, power) if g == j else power)
            for j, m in moves[n:]:
                H[_pair(g, j)] = add(H.get(_pair(g, j), 0), mul(mul(k, m), own))
            F[g] = F.get(g, NO_FORCE) + U * k
            u[g] = add(u.get(g, 0), mul(k, left))
        return Subtree(self.inertia, self.force, F, H, u)

    def released(
        self, freedoms: tuple[int, ...], joint: Body | None = None, tau: Sequence[Scalar] = ()
    ) -> tuple[Subtree, Released]:
        """The subtree without these freedoms, and the equations that later give their accelerations.

        `joint` is the body that they move, if they move nothing else. Along its joint, the components of what
        is handed on are then known: those of the force are the torques `tau`.
        """
        S, rotors = (joint.subspace, joint.armature) if joint else ((), ())
        H = [[self.H.get(_pair(i, j), 0) for j in freedoms] for i in freedoms]
        factor = JointFactor(S, tuple(self.F[g] for g in freedoms), ldl(H), rotors)

        def settled(force: Force, along: Sequence[Scalar]) -> Force:
            return with_joint_force(joint, force, along) if joint else force

        rates = factor.decoupled([self.u[g] for g in freedoms])
        waiting = [j for j in self.F if j not in freedoms]
        felt = {j: [self.H.get(_pair(g, j), 0) for g in freedoms] for j in waiting}
        w = {j: factor.D.back_substitute(powers) for j, powers in felt.items()}
        z = {j: factor.D.scale(values) for j, values in w.items()}
        subtree = Subtree(
            SubtreeInertia(articulated=factor.project(self.inertia.whole)),
            settled(self.force + combination(factor.V, rates), tau),
            {j: settled(self.F[j] - combination(factor.V, z[j]), [0] * len(S)) for j in waiting},
            {
                (i, j): sub(value, dot(w[i], z[j]))
                for (i, j), value in self.H.items()
                if i in felt and j in felt
            },
            {j: sub(self.u[j], dot(w[j], rates)) for j in waiting},
        )
        diagonal = factor.D.inverse_diagonal
        return subtree, Released(freedoms, rates, factor.scaled, factor.lower, diagonal, z)

    def to_parent(self, body: Placed) -> Subtree:
        """The subtree in the parent's axes, about the parent's origin."""
        return Subtree(
            self.inertia.to_parent(body),
            force_to_parent(body, self.force),
            {g: force_to_parent(body, F) for g, F in self.F.items()},
            self.H,
            self.u,
        )

    def named(self, naming: Naming, label: str) -> Subtree:
        """Give each of its numbers a name."""
        return Subtree(
            self.inertia.named(naming, label),
            self.force.named(naming, f"{label}.p"),
            {g: F.named(naming, f"{label}.F[{g}]") for g, F in self.F.items()},
            {pair: naming(f"{label}.H[{pair[0]},{pair[1]}]", value) for pair, value in self.H.items()},
            {g: naming(f"{label}.u[{g}]", value) for g, value in self.u.items()},
        )


def _pair(i: int, j: int) -> tuple[int, int]:
    return min(i, j), max(i, j)


def _united(
    a: Mapping[Key, Value], b: Mapping[Key, Value], plus: Callable[[Value, Value], Value]
) -> dict[Key, Value]:
    """The union of both; a key that is in both has the sum."""
    return {**a, **{key: plus(a[key], value) if key in a else value for key, value in b.items()}}
