"""Derivatives of inverse dynamics in the bodies' own axes, velocities relative to each frame's origin.

On a `ReducedModel`, for the subtree of body j seen from its origin: F = int r'' dm and N = int r x r'' dm
(r'' the acceleration less gravity), l2 = 2 int r' dm and K2 = 2 int r' r^T dm. A change of q_j moves the
subtree by S = (s_w, s_v), for example turns it about z; S is fixed in the body, and its rates Psi1, Psi2 and
dS/dt follow from velocity and acceleration. The field of accelerations that the change adds, integrated over
the subtree, gives the columns of dID/dq, dID/dv and M; what the same field of an ancestor's change does to
tau_j gives the rows. Composites and rates are those of Singh, Russell and Wensing, RA-L 2022, in another
frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdgen.functions.derivatives.one_frame import InverseDynamicsDerivatives
from rbdgen.functions.inverse_dynamics.classical import BodyMotion, body_forces, carried
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import ZERO, Force, Matrix, Motion, Vector
from rbdgen.spatial.scalar import Naming, Scalar, add, neg, unnamed
from rbdgen.sweeps.bodies import along_joint, force_to_parent, relative_motion
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.records import named
from rbdgen.sweeps.straight import Straight, straight


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
    def Q(self) -> Matrix:
        """tr(K2) 1 - K2: int r x (z' x r') dm is Q z' / 2."""
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (tuple(row) for row in self.K2)
        return Matrix(
            Vector(add(yy, zz), neg(xy), neg(xz)),
            Vector(neg(yx), add(xx, zz), neg(yz)),
            Vector(neg(zx), neg(zy), add(xx, yy)),
        )

    def to_parent(self, body: ReducedBody, twice_rate: Vector) -> Subtree:
        """About the parent's origin, in its axes; `twice_rate`: 2 p', p from there to this origin."""
        R, p = body.rotation, body.translation
        turned = self.moments.rotated(R)
        moments = turned.translated(p)
        l2 = R.to_parent(self.l2) + twice_rate * turned.mass
        K2 = R.general_to_parent(self.K2) + (Matrix.outer(l2, p) + Matrix.outer(twice_rate, turned.first))
        return Subtree(moments, force_to_parent(body, self.force), l2, K2)


@dataclass(frozen=True, slots=True)
class Direction:
    """A column S of a motion subspace, and how it changes, in its body's axes.

    A prime is the parent's motion at the body's origin, (w_J, u) that of the joint itself:

        psi1 = (w' x s_w, w' x s_v + s_w x u)
        psi2 = (U' s_w, U' s_v + a' x s_w + 2 (w' x s_w) x u)
        by_velocity = psi1 + dS/dt,  dS/dt = (w x s_w, w x s_v)
    """

    S: Motion
    psi1: Motion
    psi2: Motion
    by_velocity: Motion


def along_axis(S: Motion, motion: BodyMotion) -> Direction:
    """Of a joint about or along z: its own motion does not change z, w' x z = w x z and U' z = U z."""
    w, a, U = motion.w, motion.a, motion.U
    turning, sliding = S.angular.z, S.linear.z
    rate, acceleration = Vector(w.y, neg(w.x), 0), Vector(U[0].z, U[1].z, U[2].z)
    psi1 = Motion(rate * turning, rate * sliding)
    psi2 = Motion(acceleration * turning, acceleration * sliding + Vector(a.y, neg(a.x), 0) * turning)
    return Direction(S, psi1, psi2, psi1 * 2)


def in_any_way(S: Motion, above: BodyMotion, own: Motion, w: Vector) -> Direction:
    """Of any joint; `above`: the parent's motion at this origin, `own`: the joint's, in the body's axes."""
    (turn, slide), u = (S.angular, S.linear), own.linear
    rate = above.w.cross(turn)
    psi1 = Motion(rate, above.w.cross(slide) + turn.cross(u))
    shifted = above.U.apply(slide) + above.a.cross(turn) + (rate * 2).cross(u)
    psi2 = Motion(above.U.apply(turn), shifted)
    return Direction(S, psi1, psi2, psi1 + Motion(w.cross(turn), w.cross(slide)))


@dataclass(frozen=True, slots=True)
class Column:
    """What changes of one degree of freedom j add to the force on the subtree, by `a_j`, `v_j` and `q_j`.

    `row`: 2 int r' x s dm of the unit field s of j, which ancestors' changes meet in tau_j.
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
    """dID/dq, dID/dv and M, and tau itself on the way; arguments as in `rnea_classical`.

    `fext` turns with the bodies.
    """
    return derivatives_on(straight(reduced, State(q, v, a, fext=fext, naming=naming)))


def derivatives_on(line: Straight) -> InverseDynamicsDerivatives:
    """The same on bodies at a state; forces of `line.fext` are in the axes of the bodies."""
    bodies, v, naming, nv = line.bodies, line.inputs["v"], line.naming, line.nv
    given = line.run(body_forces(external=line.fext is not None))
    motions = given["motion"]
    directions = [directions_of(body, motions, v, line.world.upward, i) for i, body in enumerate(bodies)]
    rates = [origin_rate(body, motions, v) for body in bodies]
    subtrees = [own_subtree(*own) for own in zip(bodies, motions, given["force"], strict=True)]
    dq, dv, M = ([[0] * nv for _ in range(nv)] for _ in range(3))
    result = InverseDynamicsDerivatives(dq, dv, M, [0] * nv)
    for j in reversed(range(len(bodies))):
        body, subtree = bodies[j], subtrees[j]
        for k, value in enumerate(along_joint(body, subtree.force), body.joint.idx_v):
            result.tau[k] = naming(f"tau[{k}]", value)
        columns = [own_column(direction, subtree) for direction in directions[j]]
        fill_own(body, columns, result)
        for k, (direction, own) in enumerate(zip(directions[j], columns, strict=True), body.joint.idx_v):
            column, i = with_turned_force(own, direction.S, subtree.force), j
            while (parent := bodies[i].parent) != WORLD:
                column = column.to_parent(bodies[i], rates[i])
                column = named(Column, column, naming, f"column[{k},{parent}]")
                i = parent
                fill_above(bodies[i], k, column, directions[i], result)
        if body.parent != WORLD:
            whole = subtrees[body.parent] + subtree.to_parent(body, rates[j])
            subtrees[body.parent] = named(Subtree, whole, naming, f"subtree[{body.parent}]")
    return result


def own_subtree(body: ReducedBody, motion: BodyMotion, force: Force) -> Subtree:
    """A body by itself: K2 = 2 [w x] Sigma, l2 = 2 w x h."""
    twice = motion.w * 2
    own = body.moments
    return Subtree(own, force, twice.cross(own.first), Matrix.skew(twice) @ own.second)


def origin_rate(body: ReducedBody, motions: Sequence[BodyMotion], v: Sequence[Scalar]) -> Vector:
    """2 p', p from the parent's origin to this one, in its axes: 2 w x p + 2 R u."""
    if body.parent == WORLD:
        return ZERO
    own = relative_motion(body, body.joint.slice(v)).linear * 2
    slid: Vector = body.axis * own.z if body.joint.type.one_axis else body.rotation.to_parent(own)
    return (motions[body.parent].w * 2).cross(body.translation) + slid


def directions_of(
    body: ReducedBody, motions: Sequence[BodyMotion], v: Sequence[Scalar], upward: Vector, i: int
) -> list[Direction]:
    """Of all of a joint's degrees of freedom; `upward`: what the world accelerates by."""
    if body.joint.type.one_axis:
        return [along_axis(body.subspace[0], motions[i])]
    parent = BodyMotion(upward, ZERO, ZERO) if body.parent == WORLD else motions[body.parent]
    above = BodyMotion(*carried(body, parent))
    own = relative_motion(body, body.joint.slice(v))
    return [in_any_way(S, above, own, motions[i].w) for S in body.subspace]


def own_column(direction: Direction, subtree: Subtree) -> Column:
    """What changes of a degree of freedom take at its own body, which turns with them."""
    S, psi1, moments = direction.S, direction.psi1, subtree.moments
    l2, Q = subtree.l2, subtree.Q

    def turned(m: Motion) -> Force:
        """2 int r x (m_w x r') dm and 2 int m_w x r' dm."""
        return Force(Q.apply(m.angular), m.angular.cross(l2))

    return Column(
        moments.apply(S),
        moments.apply(direction.by_velocity) + turned(S),
        moments.apply(direction.psi2) + turned(psi1),
        Q.T.apply(S.angular) + l2.cross(S.linear),
    )


def with_turned_force(own: Column, S: Motion, force: Force) -> Column:
    """The column that ancestors see: for them the force on the subtree moves too, by S x* f."""
    return replace(own, by_q=own.by_q + S.cross_force(force))


def fill_own(body: ReducedBody, columns: Sequence[Column], result: InverseDynamicsDerivatives) -> None:
    """The entries between the degrees of freedom of one joint."""
    for j, column in enumerate(columns, body.joint.idx_v):
        for i, S in enumerate(body.subspace, body.joint.idx_v):
            result.dtau_da[i][j] = S.dot(column.by_a)
            result.dtau_dv[i][j] = S.dot(column.by_v)
            result.dtau_dq[i][j] = S.dot(column.by_q)


def fill_above(
    above: ReducedBody,
    j: int,
    column: Column,
    directions: Sequence[Direction],
    result: InverseDynamicsDerivatives,
) -> None:
    """The entries between degree of freedom j and those of a joint above it; `column` at that joint."""
    for i, direction in enumerate(directions, above.joint.idx_v):
        S, psi1 = direction.S, direction.psi1
        result.dtau_da[i][j] = result.dtau_da[j][i] = S.dot(column.by_a)
        result.dtau_dv[i][j] = S.dot(column.by_v)
        result.dtau_dq[i][j] = S.dot(column.by_q)
        result.dtau_dv[j][i] = add(column.row.dot(S.angular), direction.by_velocity.dot(column.by_a))
        result.dtau_dq[j][i] = add(direction.psi2.dot(column.by_a), column.row.dot(psi1.angular))
