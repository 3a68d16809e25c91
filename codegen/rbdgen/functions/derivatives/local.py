"""Derivatives of inverse dynamics in the bodies' own axes, velocities relative to each frame's origin.

On a `ReducedModel`, for the subtree of body j seen from its origin: F = int r'' dm and N = int r x r'' dm
(r'' the acceleration less gravity), l2 = 2 int r' dm and K2 = 2 int r' r^T dm. A change of q_j turns the
subtree about z or shifts it along z; z is fixed in the body, so that z' = w x z and z'' = U z with the U of
`rnea_classical`. The field of accelerations that the change adds, integrated over the subtree, gives the
columns of dID/dq, dID/dv and M; what the same field of an ancestor's change does to tau_j gives the rows.
The composites are those of Singh, Russell and Wensing, RA-L 2022, in another frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdgen.functions.derivatives.one_frame import InverseDynamicsDerivatives
from rbdgen.functions.inertia_matrix.moments import unit_force, unit_forces
from rbdgen.functions.inverse_dynamics.classical import BodyMotion, body_forces
from rbdgen.model.joints import Coordinate, JointKind, Pose
from rbdgen.model.model import WORLD
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import IDENTITY, ZERO, Force, Matrix, Vector
from rbdgen.spatial.scalar import Naming, Scalar, add, mul, neg, unnamed
from rbdgen.sweeps.bodies import along_base, along_joint, force_to_parent
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.records import named
from rbdgen.sweeps.straight import straight, upward_in_base


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
class Axis:
    """A joint's axis as its changes see it, in its body's axes: z', z'' and c = a x z."""

    rate: Vector
    acceleration: Vector
    c: Vector

    @staticmethod
    def of(motion: BodyMotion) -> Axis:
        w, a, U = motion.w, motion.a, motion.U
        return Axis(Vector(w.y, neg(w.x), 0), Vector(U[0].z, U[1].z, U[2].z), Vector(a.y, neg(a.x), 0))


@dataclass(frozen=True, slots=True)
class Columns:
    """What changes of one degree of freedom j add to the force on the subtree, by `a_j`, `v_j` and `q_j`.

    `row`: 2 int r' x s dm of the unit field s of j (z x r, or z), which ancestors' changes meet in tau_j.
    """

    by_a: Force
    by_v: Force
    by_q: Force
    row: Vector

    def to_parent(self, body: ReducedBody, twice_rate: Vector) -> Columns:
        by_a = force_to_parent(body, self.by_a)
        row = body.rotation.to_parent(self.row) + twice_rate.cross(by_a.force)
        return Columns(by_a, force_to_parent(body, self.by_v), force_to_parent(body, self.by_q), row)


def rnea_derivatives_local(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
) -> InverseDynamicsDerivatives:
    """dID/dq, dID/dv and M, and tau itself on the way; arguments as in `rnea_classical`.

    `fext` is constant in the bodies' frames.
    """
    line = straight(reduced, State(q, v, a, fext=fext, naming=naming))
    bodies, given = line.bodies, line.run(body_forces(external=fext is not None))
    motions, forces = given["motion"], given["force"]
    axes = [Axis.of(motion) for motion in motions]
    bases = {i: Base.of(reduced, i, x, motions[i], v) for i, x in enumerate(q) if isinstance(x, Pose)}
    rates = [origin_rate(body, motions, v) for body in bodies]
    subtrees = [own_subtree(*own) for own in zip(bodies, motions, forces, strict=True)]
    dq, dv, M = ([[0] * reduced.nv for _ in range(reduced.nv)] for _ in range(3))
    result = InverseDynamicsDerivatives(dq, dv, M, [0] * reduced.nv)
    for j in reversed(range(len(bodies))):
        body, subtree = bodies[j], subtrees[j]
        felt = along_base(subtree.force) if j in bases else [along_joint(body, subtree.force)]
        for k, value in enumerate(felt, body.joint.idx_v):
            result.tau[k] = naming(f"tau[{k}]", value)
        if j in bases:
            fill_base(body, subtree, bases[j], result)
            continue
        columns = own_columns(body, subtree, axes[j])
        fill_joint(body, body, columns, axes[j], result)
        i = j
        while (parent := bodies[i].parent) != WORLD:
            columns = columns.to_parent(bodies[i], rates[i])
            columns = named(Columns, columns, naming, f"columns[{j},{parent}]")
            i = parent
            if i in bases:
                fill_base_joint(bodies[i], body, columns, bases[i], result)
            else:
                fill_joint(bodies[i], body, columns, axes[i], result)
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
    """2 p', p from the parent's origin to this one, in its axes: 2 w x p, and 2 z qd if it slides."""
    if body.parent == WORLD:
        return ZERO
    rate = (motions[body.parent].w * 2).cross(body.translation)
    if body.joint.kind is JointKind.PRISMATIC:
        rate = rate + body.axis * mul(2, v[body.joint.idx_v])
    return rate


def own_columns(body: ReducedBody, subtree: Subtree, axis: Axis) -> Columns:
    """The columns of a joint about or along z, at its own body."""
    h, m = subtree.moments.first, subtree.moments.mass
    unit = unit_force(body, subtree.moments)
    f, n, l2 = subtree.force.force, subtree.force.moment, subtree.l2
    twice, rate, acceleration, c = axis.rate * 2, axis.rate, axis.acceleration, axis.c
    z_f = Vector(neg(f.y), f.x, 0)
    if body.joint.kind is JointKind.PRISMATIC:
        by_v = Force(h.cross(twice), twice * m)
        by_q = Force(h.cross(acceleration) + z_f, acceleration * m)
        return Columns(unit, by_v, by_q, Vector(l2.y, neg(l2.x), 0))
    J, Q = subtree.moments.rotational, subtree.Q
    z_n, z_l = Vector(neg(n.y), n.x, 0), Vector(neg(l2.y), l2.x, 0)
    by_v = Force(J.apply(twice) + Q.T[2], twice.cross(h) + z_l)
    by_q = Force(
        J.apply(acceleration) + Q.apply(rate) + h.cross(c) + z_n,
        acceleration.cross(h) + rate.cross(l2) + c * m + z_f,
    )
    return Columns(unit, by_v, by_q, Q[2])


def fill_joint(
    above: ReducedBody, body: ReducedBody, columns: Columns, axis: Axis, result: InverseDynamicsDerivatives
) -> None:
    """Entries between body j's degree of freedom and an ancestor's, or its own; `columns` at the ancestor."""
    i, j = above.joint.idx_v, body.joint.idx_v
    result.dtau_da[i][j] = along_joint(above, columns.by_a)
    result.dtau_dv[i][j] = along_joint(above, columns.by_v)
    result.dtau_dq[i][j] = along_joint(above, columns.by_q)
    if i == j:
        return
    result.dtau_da[j][i] = result.dtau_da[i][j]
    n, f, row = columns.by_a.moment, columns.by_a.force, columns.row
    twice = axis.rate * 2
    if above.joint.kind is JointKind.PRISMATIC:
        result.dtau_dv[j][i] = f.dot(twice)
        result.dtau_dq[j][i] = f.dot(axis.acceleration)
    else:
        result.dtau_dv[j][i] = add(row.z, n.dot(twice))
        result.dtau_dq[j][i] = add(add(n.dot(axis.acceleration), f.dot(axis.c)), row.dot(axis.rate))


@dataclass(frozen=True, slots=True)
class Base:
    """What changes of a floating base's coordinates see, in its axes: -R^T g, w and v."""

    upward: Vector
    w: Vector
    v: Vector

    @staticmethod
    def of(reduced: ReducedModel, i: int, q: Pose, motion: BodyMotion, v: Sequence[Scalar]) -> Base:
        joint = reduced.bodies[i].joint
        return Base(upward_in_base(reduced, i, q), motion.w, Vector(*joint.slice(v)[:3]))


def fill_base(body: ReducedBody, subtree: Subtree, base: Base, result: InverseDynamicsDerivatives) -> None:
    """The block of a floating base: a shift changes nothing, a turn only gravity in base axes.

    A linear velocity e adds w x e to the origin's acceleration; an angular one adds e x v there and
    (w x e) x r + 2 e x r' to a point's.
    """
    own = body.joint.idx_v
    h, m, J, Q = subtree.moments.first, subtree.moments.mass, subtree.moments.rotational, subtree.Q

    def shift(a: Vector) -> Force:
        return Force(h.cross(a), a * m)

    nothing = Force(ZERO, ZERO)
    for k, e in enumerate(IDENTITY):
        turned = base.w.cross(e)
        by_turn = Force(J.apply(turned) + Q.T[k], turned.cross(h) + e.cross(subtree.l2))
        columns = (
            (k, nothing, shift(turned)),
            (k + 3, shift(base.upward.cross(e)), by_turn + shift(e.cross(base.v))),
        )
        for column, by_q, by_v in columns:
            for row in range(6):
                result.dtau_dq[own + row][own + column] = along_base(by_q)[row]
                result.dtau_dv[own + row][own + column] = along_base(by_v)[row]
    for column, force in enumerate(unit_forces(subtree.moments)):
        for row, value in enumerate(along_base(force)):
            result.dtau_da[own + row][own + column] = value


def fill_base_joint(
    above: ReducedBody, body: ReducedBody, columns: Columns, base: Base, result: InverseDynamicsDerivatives
) -> None:
    """Entries between body j's degree of freedom and a floating base's six; `columns` at the base."""
    i, j = above.joint.idx_v, body.joint.idx_v
    n, f = columns.by_a.moment, columns.by_a.force
    by_linear = f.cross(base.w)
    by_angular = n.cross(base.w) + columns.row + base.v.cross(f)
    by_turn = f.cross(base.upward)
    for k in range(6):
        result.dtau_da[i + k][j] = result.dtau_da[j][i + k] = along_base(columns.by_a)[k]
        result.dtau_dv[i + k][j] = along_base(columns.by_v)[k]
        result.dtau_dq[i + k][j] = along_base(columns.by_q)[k]
        result.dtau_dv[j][i + k] = by_linear[k] if k < 3 else by_angular[k - 3]
        result.dtau_dq[j][i + k] = 0 if k < 3 else by_turn[k - 3]
