"""Inverse dynamics with classical accelerations and no linear velocities.

Newton and Euler's equations with mass moments (m, h, Sigma) about the origin of each frame of a
`ReducedModel`. With U = [wdot x] + w w^T - |w|^2 1, a point r of a body has the acceleration a + U r, so that
F = m a + U h and N = h x a + 2 vee(U Sigma): of the origin only the acceleration is needed, never a
velocity. (Luh, Walker and Paul 1980; the matrix U as in Khalil and Dombre 2002, ch. 9.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rbdgen.model.joints import Coordinate, JointKind, Pose
from rbdgen.model.model import WORLD
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import ZERO, Force, Matrix, Vector
from rbdgen.spatial.planar import FactoredRotation
from rbdgen.spatial.scalar import Naming, Scalar, add, mul, neg, sub, unnamed


class Placed(Protocol):
    """What stands in its parent: `rotation` from its axes to the parent's, `translation` in the parent's."""

    @property
    def rotation(self) -> FactoredRotation: ...

    @property
    def translation(self) -> Vector: ...


@dataclass(frozen=True, slots=True)
class BodyMotion:
    """How a body moves, in its axes.

    `w`, `wdot`: angular velocity and acceleration; `a`: the origin's classical acceleration less gravity;
    `U`: see the top.
    """

    w: Vector
    wdot: Vector
    a: Vector
    U: Matrix


def rnea_classical(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
) -> list[Scalar]:
    """tau = ID(q, v, a), in N m or N.

    q: one coordinate a body; v, a: nv velocities and accelerations; fext: the external force on every
    body, in its joint's own frame. Terms of v or a given as the number 0 vanish: nonlinear effects and
    gravity torques are this function at a = 0 and at v = a = 0.
    """
    bodies = reduced.at(q)
    motions = outward(reduced, bodies, q, v, a, naming)
    forces = body_forces(reduced, bodies, motions, fext, naming)
    return inward(bodies, forces, naming)


def outward(
    reduced: ReducedModel,
    bodies: Sequence[ReducedBody],
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    naming: Naming,
) -> list[BodyMotion]:
    """The motion of every body, root to leaves."""
    upward = -reduced.gravity
    motions: list[BodyMotion] = []
    for i, (body, q_i) in enumerate(zip(bodies, q, strict=True)):
        if isinstance(q_i, Pose):
            w, wdot, acceleration = floating_motion(reduced, i, q_i, v, a)
        else:
            w, wdot, acceleration = ZERO, ZERO, upward
            if body.parent != WORLD:
                parent = motions[body.parent]
                w, wdot = parent.w, parent.wdot
                acceleration = parent.a + parent.U.apply(body.translation)
            w, wdot, acceleration = map(body.rotation.to_child, (w, wdot, acceleration))
            k = body.joint.idx_v
            w, wdot, acceleration = joint_motion(body, w, wdot, acceleration, v[k], a[k])
        w, wdot = w.named(naming, f"w[{i}]"), wdot.named(naming, f"wdot[{i}]")
        U = acceleration_matrix(w, wdot).named(naming, f"U[{i}]")
        motions.append(BodyMotion(w, wdot, acceleration.named(naming, f"a[{i}]"), U))
    return motions


def joint_motion(
    body: ReducedBody, w: Vector, wdot: Vector, a: Vector, rate: Scalar, acceleration: Scalar
) -> tuple[Vector, Vector, Vector]:
    """What a joint along or about z adds to its parent's motion, all in the child's axes."""
    if body.joint.kind is JointKind.REVOLUTE:
        turning = Vector(add(wdot.x, mul(w.y, rate)), sub(wdot.y, mul(w.x, rate)), add(wdot.z, acceleration))
        return Vector(w.x, w.y, add(w.z, rate)), turning, a
    twice = mul(2, rate)
    return w, wdot, a + Vector(mul(w.y, twice), neg(mul(w.x, twice)), acceleration)


def floating_motion(
    reduced: ReducedModel, i: int, q: Pose, v: Sequence[Scalar], a: Sequence[Scalar]
) -> tuple[Vector, Vector, Vector]:
    """A floating base's w and wdot, and a = vdot + w x v - R^T g."""
    joint = reduced.bodies[i].joint
    rates, accelerations = joint.slice(v), joint.slice(a)
    w = Vector(*rates[3:])
    linear = Vector(*accelerations[:3]) + upward_in_base(reduced, i, q) + w.cross(Vector(*rates[:3]))
    return w, Vector(*accelerations[3:]), linear


def upward_in_base(reduced: ReducedModel, i: int, q: Pose) -> Vector:
    """-R^T g of a floating base, R its rotation; R^T u = u + 2 (r (r.u) - |r|^2 u - s r x u), q = (r, s)."""
    u = reduced.model.bodies[i].placement.rotation.T.apply(-reduced.gravity)
    x, y, z, s = q.quaternion
    twice = u * 2

    def entry(k: int) -> Scalar:
        r, m, n = (x, y, z), (k + 1) % 3, (k + 2) % 3
        total = sub(u[k], mul(twice[k], add(mul(r[m], r[m]), mul(r[n], r[n])))) if u[k] != 0 else 0
        total = add(total, mul(twice[m], add(mul(r[k], r[m]), mul(s, r[n]))))
        return add(total, mul(twice[n], sub(mul(r[k], r[n]), mul(s, r[m]))))

    return Vector(entry(0), entry(1), entry(2))


def acceleration_matrix(w: Vector, wdot: Vector) -> Matrix:
    """U = [wdot x] + w w^T - |w|^2 1: the acceleration of a body's point r less the origin's is U r."""
    xx, yy, zz = mul(w.x, w.x), mul(w.y, w.y), mul(w.z, w.z)
    xy, xz, yz = mul(w.x, w.y), mul(w.x, w.z), mul(w.y, w.z)
    return Matrix(
        Vector(neg(add(yy, zz)), sub(xy, wdot.z), add(xz, wdot.y)),
        Vector(add(xy, wdot.z), neg(add(xx, zz)), sub(yz, wdot.x)),
        Vector(sub(xz, wdot.y), add(yz, wdot.x), neg(add(xx, yy))),
    )


def body_forces(
    reduced: ReducedModel,
    bodies: Sequence[ReducedBody],
    motions: Sequence[BodyMotion],
    fext: Sequence[Force] | None,
    naming: Naming,
) -> list[Force]:
    """The force and the moment about the origin that every body's own motion takes."""
    external = reduced.external_forces(bodies, fext)
    forces = []
    for i, (body, motion) in enumerate(zip(bodies, motions, strict=True)):
        force = inertial_force(body.moments, motion)
        if external is not None:
            force = force - external[i]
        forces.append(force.named(naming, f"f[{i}]"))
    return forces


def inertial_force(moments: MassMoments, motion: BodyMotion) -> Force:
    """F = m a + U h, N = h x a + int r x U r dm."""
    h, a, U = moments.first, motion.a, motion.U
    return Force(turning_moment(moments.second, motion.w, U) + h.cross(a), U.apply(h) + a * moments.mass)


def turning_moment(sigma: Matrix, w: Vector, U: Matrix) -> Vector:
    """int r x U r dm.

    N_x = Sigma_yy U_zy - Sigma_zz U_yz + Sigma_xy U_zx - Sigma_xz U_yx + Sigma_yz (w_z^2 - w_y^2), cyclic.
    """

    def entry(x: int) -> Scalar:
        y, z = (x + 1) % 3, (x + 2) % 3
        total = sub(mul(sigma[y][y], U[z][y]), mul(sigma[z][z], U[y][z]))
        total = add(total, mul(sigma[x][y], U[z][x]))
        total = sub(total, mul(sigma[x][z], U[y][x]))
        return add(total, mul(sigma[y][z], sub(mul(w[z], w[z]), mul(w[y], w[y]))))

    return Vector(entry(0), entry(1), entry(2))


def inward(bodies: Sequence[ReducedBody], forces: list[Force], naming: Naming) -> list[Scalar]:
    """tau, leaves to root: every body's force with those of all its descendants, along or about z."""
    tau: list[Scalar] = [0] * sum(body.joint.nv for body in bodies)
    for i in reversed(range(len(bodies))):
        body = bodies[i]
        for k, value in enumerate(along_joint(body, forces[i]), body.joint.idx_v):
            tau[k] = naming(f"tau[{k}]", value)
        if body.parent != WORLD:
            passed = force_to_parent(body, forces[i])
            forces[body.parent] = (forces[body.parent] + passed).named(naming, f"f[{body.parent}]")
    return tau


def along_joint(body: ReducedBody, force: Force) -> tuple[Scalar, ...]:
    """S^T f."""
    if body.joint.kind is JointKind.REVOLUTE:
        return (force.moment.z,)
    if body.joint.kind is JointKind.PRISMATIC:
        return (force.force.z,)
    return (*force.force, *force.moment)


def force_to_parent(body: Placed, f: Force) -> Force:
    """In the parent's axes, the moment about the parent's origin."""
    force = body.rotation.to_parent(f.force)
    return Force(body.rotation.to_parent(f.moment) + body.translation.cross(force), force)
