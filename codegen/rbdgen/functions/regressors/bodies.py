"""Regressors, from the equations of motion of bodies with one parameter equal to 1.

Every body has ten columns, in the order of `model/inertial_parameters.py` and in its own frame. Torques are
tau = Y pi, energies T = K pi and U = P pi: Atkeson, An and Hollerbach 1986; Khalil and Dombre 2002, ch. 9.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.inverse_dynamics.newton_euler import joint_motion, step_outward
from rbdgen.functions.momentum.energy import half
from rbdgen.model.inertial_parameters import ENTRIES, UNIT_INERTIAS
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import NO_MOTION, NO_TRANSFORM, Motion, Transform, Vector
from rbdgen.spatial.scalar import Naming, Scalar, mul, unnamed


def regressor(
    model: Model,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    naming: Naming = unnamed,
) -> list[list[Scalar]]:
    """Y, nv x 10 nbodies: the torques of each body's unit parameters at all joints above it."""
    transforms = [body.transform(q_i) for body, q_i in zip(model.bodies, q, strict=True)]
    velocity: list[Motion] = []
    acceleration: list[Motion] = []
    for i, (body, X) in enumerate(zip(model.bodies, transforms, strict=True)):
        v_i, a_i = step_outward(model, body, X, velocity, acceleration, v, a)
        velocity.append(v_i.named(naming, f"v[{i}]"))
        acceleration.append(a_i.named(naming, f"a[{i}]"))
    columns = model.visible
    Y: list[list[Scalar]] = [[0] * (10 * len(columns)) for _ in range(model.nv)]
    for place, i in enumerate(columns):
        forces = [unit.equation_of_motion(velocity[i], acceleration[i]) for unit in UNIT_INERTIAS]
        above = i
        while above != WORLD:
            joint = model.bodies[above].joint
            for k, S in enumerate(joint.motion_subspace, joint.idx_v):
                Y[k][10 * place : 10 * place + 10] = [
                    naming(f"Y[{k},{10 * place + c}]", S.dot(force)) for c, force in enumerate(forces)
                ]
            forces = [transforms[above].force_to_parent(force) for force in forces]
            above = model.bodies[above].parent
    return Y


def kinetic_regressor(
    model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed
) -> list[Scalar]:
    """K, a row of 10 nbodies elements: T = K pi, in J."""
    velocity: list[Motion] = []
    for i, (body, q_i) in enumerate(zip(model.bodies, q, strict=True)):
        above = NO_MOTION if body.parent == WORLD else velocity[body.parent]
        v_i = body.transform(q_i).motion_to_child(above) + joint_motion(body.joint, v)
        velocity.append(v_i.named(naming, f"v[{i}]"))
    return [value for i in model.visible for value in kinetic_coefficients(velocity[i])]


def kinetic_coefficients(velocity: Motion) -> list[Scalar]:
    """The coefficients of m, m c and J in T = m v.v / 2 + m c . (v x w) + w . J w / 2."""
    w, v = velocity.angular, velocity.linear
    turning = [half(mul(w[i], w[i])) if i == j else mul(w[i], w[j]) for i, j in ENTRIES]
    return [half(v.dot(v)), *v.cross(w), *turning]


def potential_regressor(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> list[Scalar]:
    """P, a row of 10 nbodies elements: U = P pi, in J. A body with the pose R, p in the world has U = -m g .
    p - m c . R^T g.
    """
    placed: list[Transform] = []
    for body, q_i in zip(model.bodies, q, strict=True):
        above = NO_TRANSFORM if body.parent == WORLD else placed[body.parent]
        placed.append(above @ body.transform(q_i))
    upward = -model.gravity
    coefficients: list[Scalar] = []
    for i in model.visible:
        R, p = placed[i]
        field: Vector = R.T.apply(upward).named(naming, f"upward[{i}]")
        coefficients += [upward.dot(p), *field, *[0] * 6]
    return coefficients
