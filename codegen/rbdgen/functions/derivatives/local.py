"""Derivatives of inverse dynamics in the bodies' own axes, with velocities relative to each frame's origin.

The model is a `ReducedModel`. The subtree of body j, seen from the origin of j, has the composites F = int
r'' dm, N = int r x r'' dm, l2 = 2 int r' dm and K2 = 2 int r' r^T dm, where r'' is the acceleration less
gravity. A change of q_j moves the subtree by S = (s_w, s_v), for example by a rotation about z. S is fixed in
the body, and its rates Psi1, Psi2 and dS/dt follow from velocity and acceleration. The change adds a field of
accelerations to the subtree. The integral of this field over the subtree gives the columns of dID/dq, dID/dv
and M. The rows follow from the effect on tau_j of the fields that changes of ancestors add. Composites and
rates are those of Singh, Russell and Wensing, RA-L 2022, in another frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdgen.functions.derivatives.one_frame import OUTPUTS, InverseDynamicsDerivatives
from rbdgen.functions.derivatives.singh import BMatrix
from rbdgen.functions.inverse_dynamics.classical import BodyMotion, carried, inertial_force, moved
from rbdgen.functions.momentum.rates import origin_rate
from rbdgen.model.joints import Coordinate
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import ZERO, Force, Matrix, Motion, Vector
from rbdgen.spatial.scalar import Naming, Scalar, add, neg, unnamed
from rbdgen.sweeps.bodies import along_joint, force_to_parent, relative_motion
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.records import Each, Entry
from rbdgen.sweeps.straight import straight
from rbdgen.sweeps.sweep import Climb, Given, Gives, Inward, Outward, Sum, Sweep


@dataclass(frozen=True, slots=True)
class Subtree:
    """The composites of a subtree about the origin of its first body, in that body's axes."""

    moments: MassMoments
    force: Force
    l2: Vector
    K2: Matrix

    def __add__(self, other: Subtree) -> Subtree:
        return Subtree(
            self.moments + other.moments, self.force + other.force, self.l2 + other.l2, self.K2 + other.K2
        )

    @property
    def B(self) -> BMatrix:
        """The map from a motion m to 2 int r x (m_w x r') dm and 2 int m_w x r' dm. Its Bt is tr(K2) 1 -
        K2.
        """
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (tuple(row) for row in self.K2)
        Bt = Matrix(
            Vector(add(yy, zz), neg(xy), neg(xz)),
            Vector(neg(yx), add(xx, zz), neg(yz)),
            Vector(neg(zx), neg(zy), add(xx, yy)),
        )
        return BMatrix(self.l2, Bt)

    def to_parent(self, body: ReducedBody, twice_rate: Vector) -> Subtree:
        """The composites about the parent's origin, in the parent's axes. `twice_rate` is 2 p', where p is
        the vector from the parent's origin to this one.
        """
        R, p = body.rotation, body.translation
        turned = self.moments.rotated(R)
        moments = turned.translated(p)
        l2 = R.to_parent(self.l2) + twice_rate * turned.mass
        K2 = R.general_to_parent(self.K2) + (Matrix.outer(l2, p) + Matrix.outer(twice_rate, turned.first))
        return Subtree(moments, force_to_parent(body, self.force), l2, K2)


@dataclass(frozen=True, slots=True)
class Direction:
    """A column S of a motion subspace and its rates, in the body's axes.

    A prime marks the parent's motion at the body's origin. w is the angular velocity of the body, and u the
    linear velocity of the joint itself:

        psi1 = (w' x s_w, w' x s_v + s_w x u)
        psi2 = (U' s_w, U' s_v + a' x s_w + 2 (w' x s_w) x u)
        by_velocity = psi1 + dS/dt,  dS/dt = (w x s_w, w x s_v)
    """

    S: Motion
    psi1: Motion
    psi2: Motion
    by_velocity: Motion


def along_axis(S: Motion, motion: BodyMotion) -> Direction:
    """The direction of a joint about or along z. The motion of the joint does not change z, so w' x z = w x z
    and U' z = U z.
    """
    w, a, U = motion.w, motion.a, motion.U
    turning, sliding = S.angular.z, S.linear.z
    rate, acceleration = Vector(w.y, neg(w.x), 0), Vector(U[0].z, U[1].z, U[2].z)
    psi1 = Motion(rate * turning, rate * sliding)
    psi2 = Motion(acceleration * turning, acceleration * sliding + Vector(a.y, neg(a.x), 0) * turning)
    return Direction(S, psi1, psi2, psi1 * 2)


def in_any_way(S: Motion, above: BodyMotion, own: Motion, w: Vector) -> Direction:
    """The direction of any joint. `above` is the parent's motion at this origin and `own` that of the joint,
    both in the body's axes.
    """
    (turn, slide), u = (S.angular, S.linear), own.linear
    rate = above.w.cross(turn)
    psi1 = Motion(rate, above.w.cross(slide) + turn.cross(u))
    shifted = above.U.apply(slide) + above.a.cross(turn) + (rate * 2).cross(u)
    psi2 = Motion(above.U.apply(turn), shifted)
    return Direction(S, psi1, psi2, psi1 + Motion(w.cross(turn), w.cross(slide)))


@dataclass(frozen=True, slots=True)
class Column:
    """The derivatives of the force on the subtree with respect to `a_j`, `v_j` and `q_j` of one degree of
    freedom j.

    `row` is 2 int r' x s dm for the unit field s of j. It gives the effect of ancestors' changes on tau_j.
    """

    by_a: Force
    by_v: Force
    by_q: Force
    row: Vector

    def to_parent(self, body: ReducedBody, twice_rate: Vector) -> Column:
        by_a = force_to_parent(body, self.by_a)
        row = body.rotation.to_parent(self.row) + twice_rate.cross(by_a.force)
        return Column(by_a, force_to_parent(body, self.by_v), force_to_parent(body, self.by_q), row)


def rnea_derivatives_local(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
) -> InverseDynamicsDerivatives:
    """dID/dq, dID/dv and M, and tau as a by-product. The arguments are those of `rnea_classical`.

    The external forces `fext` turn with the bodies.
    """
    x = State(q, v, a, fext=fext, naming=naming)
    values = straight(reduced, x).run(*derivatives_in_own_axes(external=fext is not None))
    return InverseDynamicsDerivatives(*(values[name] for name in (*OUTPUTS, "tau")))


def derivatives_in_own_axes(external: bool = False) -> tuple[Sweep, ...]:
    """The sweeps that compute `dtau_dq`, `dtau_dv`, `dtau_da` and `tau` from v and a and, with `external`,
    from fext.
    """
    outward = Outward(
        "outward",
        "motion",
        step,
        world=lambda x: BodyMotion(x.upward, ZERO, ZERO),
        reads=("placement", "moments", "upward", "v", "a", *(("fext",) if external else ())),
        gives={"motion": BodyMotion, "direction": Each(Direction), "rate": Vector, "subtree": Subtree},
    )
    return outward, INWARD, CLIMB


# ---- outward


def step(body: ReducedBody, x: Given) -> Gives:
    """Compute the motion of a body, the directions of its joint, twice the rate of its origin, and its own
    composites.
    """
    motion = moved(body, x)
    force = inertial_force(body.moments, motion)
    return {
        "motion": motion,
        "direction": directions_of(body, x.parent, x.v, motion),
        "rate": origin_rate(body, x.parent.w * 2, relative_motion(body, x.v).linear * 2),
        "subtree": own_subtree(body.moments, motion.w * 2, force if x.fext is None else force - x.fext),
    }


def directions_of(
    body: ReducedBody, parent: BodyMotion, v: Sequence[Scalar], motion: BodyMotion
) -> list[Direction]:
    """The directions of all degrees of freedom of a joint."""
    if body.joint.type.one_axis:
        return [along_axis(body.subspace[0], motion)]
    above = BodyMotion(*carried(body, parent))
    own = relative_motion(body, v)
    return [in_any_way(S, above, own, motion.w) for S in body.subspace]


def own_subtree(own: MassMoments, twice_w: Vector, force: Force) -> Subtree:
    """The composites of a single body: K2 = 2 [w x] Sigma, l2 = 2 w x h."""
    return Subtree(own, force, twice_w.cross(own.first), Matrix.skew(twice_w) @ own.second)


# ---- inward


def own_column(direction: Direction, subtree: Subtree) -> Column:
    """The column of a degree of freedom, for its own body, which turns with it."""
    S, moments, B = direction.S, subtree.moments, subtree.B
    return Column(
        moments.apply(S),
        moments.apply(direction.by_velocity) + B.apply(S),
        moments.apply(direction.psi2) + B.apply(direction.psi1),
        B.transposed(S),
    )


def with_turned_force(own: Column, S: Motion, force: Force) -> Column:
    """The column for ancestors. Seen from the ancestors, the force on the subtree also turns with the joint,
    which adds S x* f.
    """
    return replace(own, by_q=own.by_q + S.cross_force(force))


def own_entries(body: ReducedBody, x: Given) -> Gives:
    """Compute the entries between the degrees of freedom of one joint, and the columns for its ancestors."""
    columns = [own_column(direction, x.subtree) for direction in x.direction]
    return {
        "tau": along_joint(body, x.subtree.force),
        "dtau_dq": [S.dot(column.by_q) for S in body.subspace for column in columns],
        "dtau_dv": [S.dot(column.by_v) for S in body.subspace for column in columns],
        "dtau_da": [S.dot(column.by_a) for S in body.subspace for column in columns],
        "column": [
            with_turned_force(column, S, x.subtree.force)
            for column, S in zip(columns, body.subspace, strict=True)
        ],
        "subtree": x.subtree.to_parent(body, x.rate),
    }


INWARD = Inward(
    "inward",
    {"subtree": Sum(Subtree)},
    own_entries,
    reads=("placement", "direction", "rate"),
    gives={"tau": Scalar, **dict.fromkeys(OUTPUTS, Entry), "column": Each(Column)},
)


# ---- from every body to its ancestors


def carry(body: ReducedBody, column: Column, x: Given) -> Column:
    """The column of a degree of freedom at the parent of this body."""
    return column.to_parent(body, x.rate)


def entries_above(_: object, x: Given) -> Gives:
    """Compute the entries between a degree of freedom and those of a joint above it, in both orders."""
    column, inertial = x.column, [direction.S.dot(x.column.by_a) for direction in x.direction]
    return {
        "dtau_da": inertial,
        "dtau_da_below": inertial,
        "dtau_dv": [above.S.dot(column.by_v) for above in x.direction],
        "dtau_dq": [above.S.dot(column.by_q) for above in x.direction],
        "dtau_dv_below": [
            add(column.row.dot(above.S.angular), above.by_velocity.dot(column.by_a)) for above in x.direction
        ],
        "dtau_dq_below": [
            add(above.psi2.dot(column.by_a), column.row.dot(above.psi1.angular)) for above in x.direction
        ],
    }


CLIMB = Climb(
    "climb",
    "column",
    carry,
    entries_above,
    gives=(*OUTPUTS, *(f"{name}_below" for name in OUTPUTS)),
    reads=("direction",),
    carry_reads=("rate",),
)
