"""Inverse dynamics: the recursive Newton-Euler algorithm.

Featherstone, Rigid Body Dynamics Algorithms, 2008, table 5.1; Carpentier and Mansard, RSS 2018, Alg. 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.model.joints import Coordinate, Joint
from rbdgen.model.model import WORLD, Body, Model
from rbdgen.spatial.ops import NO_MOTION, ZERO, Force, Motion, Transform
from rbdgen.spatial.scalar import Naming, Scalar, unnamed


def rnea(
    model: Model,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
) -> list[Scalar]:
    """tau = ID(q, v, a), in N m or N.

    q has one coordinate per body, v and a have nv elements, and fext is the external force on every body, in
    the body's own frame.
    """
    transforms = [body.transform(q_i) for body, q_i in zip(model.bodies, q, strict=True)]
    velocity: list[Motion] = []
    force: list[Force] = []
    acceleration: list[Motion] = []
    for i, (body, X) in enumerate(zip(model.bodies, transforms, strict=True)):
        v_i, a_i = step_outward(model, body, X, velocity, acceleration, v, a)
        velocity.append(v_i.named(naming, f"v[{i}]"))
        acceleration.append(a_i.named(naming, f"a[{i}]"))
        f_i = body.inertia.equation_of_motion(velocity[i], acceleration[i])
        force.append((f_i if fext is None else f_i - fext[i]).named(naming, f"f[{i}]"))
    return collect_inward(model, transforms, force, naming)


def step_outward(
    model: Model,
    body: Body,
    X: Transform,
    velocity: Sequence[Motion],
    acceleration: Sequence[Motion],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
) -> tuple[Motion, Motion]:
    """The velocity and acceleration of a body: v = X v_p + vJ, a = X a_p + S qdd + v x vJ."""
    parent_v, parent_a = NO_MOTION, Motion(ZERO, -model.gravity)
    if body.parent != WORLD:
        parent_v, parent_a = velocity[body.parent], acceleration[body.parent]
    joint_v = joint_motion(body.joint, v)
    v_i = X.motion_to_child(parent_v) + joint_v
    a_i = X.motion_to_child(parent_a) + joint_motion(body.joint, a) + v_i.cross(joint_v)
    return v_i, a_i


def collect_inward(
    model: Model, transforms: Sequence[Transform], force: list[Force], naming: Naming = unnamed
) -> list[Scalar]:
    """The torques tau_i = S_i^T f_i, where f_i is the sum of the forces on body i and all its descendants."""
    tau: list[Scalar] = [0] * model.nv
    for i in reversed(range(model.nbodies)):
        body = model.bodies[i]
        for k, S in enumerate(body.joint.motion_subspace, body.joint.idx_v):
            tau[k] = naming(f"tau[{k}]", S.dot(force[i]))
        if body.parent != WORLD:
            force[body.parent] += transforms[i].force_to_parent(force[i])
    return tau


def joint_motion(joint: Joint, rates: Sequence[Scalar]) -> Motion:
    """S qd of one joint, from the rates of all degrees of freedom."""
    total = NO_MOTION
    for k, S in enumerate(joint.motion_subspace, joint.idx_v):
        total = total + S * rates[k]
    return total


def nonlinear_effects(
    model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed
) -> list[Scalar]:
    """C(q, v) v + g(q): the torques at which qdd = 0."""
    return rnea(model, q, v, [0] * model.nv, naming=naming)


def gravity_torque(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> list[Scalar]:
    """g(q): the torques that hold the robot at rest."""
    zero = [0] * model.nv
    return rnea(model, q, zero, zero, naming=naming)
