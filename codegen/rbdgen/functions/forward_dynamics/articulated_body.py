"""Forward dynamics: the articulated-body algorithm (Featherstone 2008, table 7.1)."""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.inverse_dynamics.newton_euler import joint_motion
from rbdgen.model.articulated import ArticulatedInertia, JointFactor, factor_joint
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import NO_MOTION, ZERO, Force, Motion, Transform
from rbdgen.spatial.scalar import Naming, Scalar, sub, unnamed
from rbdgen.sweeps.records import named


def aba(
    model: Model,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
) -> list[Scalar]:
    """qdd = FD(q, v, tau), in rad/s^2 or m/s^2; the arguments are those of `rnea`."""
    transforms = [body.transform(q_i) for body, q_i in zip(model.bodies, q, strict=True)]
    drift, bias = velocity_terms(model, transforms, v, fext, naming)
    articulated = [ArticulatedInertia.of(body.inertia) for body in model.bodies]
    factors: list[JointFactor | None] = [None] * model.nbodies
    u: list[list[Scalar]] = [[] for _ in model.bodies]
    for i in reversed(range(model.nbodies)):
        body, X = model.bodies[i], transforms[i]
        columns = body.joint.motion_subspace
        factor = factors[i] = factor_joint(articulated[i], columns, body.joint.armature)
        u[i] = [sub(tau[k], S.dot(bias[i])) for k, S in enumerate(columns, body.joint.idx_v)]
        if body.parent != WORLD:
            remaining = factor.project(articulated[i])
            passed = bias[i] + remaining.apply(drift[i]) + factor.force(u[i])
            total = articulated[body.parent] + remaining.transformed(X)
            articulated[body.parent] = named(ArticulatedInertia, total, naming, f"IA[{body.parent}]")
            bias[body.parent] = (bias[body.parent] + X.force_to_parent(passed)).named(
                naming, f"pA[{body.parent}]"
            )
    return accelerations(model, transforms, drift, factors, u, naming)


def velocity_terms(
    model: Model,
    transforms: Sequence[Transform],
    v: Sequence[Scalar],
    fext: Sequence[Force] | None,
    naming: Naming,
) -> tuple[list[Motion], list[Force]]:
    """Pass 1: the velocity-product acceleration c = v x vJ and the bias force p = v x* I v - f_ext of every
    body.
    """
    velocity: list[Motion] = []
    drift: list[Motion] = []
    bias: list[Force] = []
    for i, (body, X) in enumerate(zip(model.bodies, transforms, strict=True)):
        joint_v = joint_motion(body.joint, v)
        parent_v = NO_MOTION if body.parent == WORLD else velocity[body.parent]
        velocity.append((X.motion_to_child(parent_v) + joint_v).named(naming, f"v[{i}]"))
        drift.append(velocity[i].cross(joint_v))
        p = body.inertia.equation_of_motion(velocity[i], NO_MOTION)
        bias.append(p if fext is None else p - fext[i])
    return drift, bias


def accelerations(
    model: Model,
    transforms: Sequence[Transform],
    drift: Sequence[Motion],
    factors: Sequence[JointFactor | None],
    u: Sequence[Sequence[Scalar]],
    naming: Naming,
) -> list[Scalar]:
    """Pass 3: qdd = D^-1 (u - U^T a'), a' = X a_parent + c, and a = a' + S qdd."""
    qdd: list[Scalar] = [0] * model.nv
    acceleration: list[Motion] = []
    for i, (body, X) in enumerate(zip(model.bodies, transforms, strict=True)):
        parent_a = Motion(ZERO, -model.gravity) if body.parent == WORLD else acceleration[body.parent]
        a = (X.motion_to_child(parent_a) + drift[i]).named(naming, f"a[{i}]")
        factor = factors[i]
        assert factor is not None
        rates = factor.solve([sub(u_k, a.dot(U_k)) for u_k, U_k in zip(u[i], factor.U, strict=True)])
        for k, (S, rate) in enumerate(zip(body.joint.motion_subspace, rates, strict=True), body.joint.idx_v):
            qdd[k] = naming(f"qdd[{k}]", rate)
            a = a + S * qdd[k]
        acceleration.append(a)
    return qdd
