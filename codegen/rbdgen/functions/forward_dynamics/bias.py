"""Forward dynamics: articulated bodies with the bias forces of inverse dynamics.

The articulated-body algorithm (Featherstone 2008, table 7.1) on a `ReducedModel`, written for the change of
acceleration against qdd = 0: the outward pass of `rnea_classical` at qdd = 0 gives each body's bias force,
velocity and gravity terms included, so that the drift and its product with the articulated inertia vanish,
and the last pass starts from zero at the root.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.forward_dynamics.articulated_planar import articulated_factors
from rbdgen.functions.inverse_dynamics.classical import (
    Placed,
    along_joint,
    body_forces,
    force_to_parent,
    outward,
)
from rbdgen.model.articulated import JointFactor
from rbdgen.model.joints import Coordinate, JointKind
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.spatial.ops import NO_MOTION, Force, Motion, Vector
from rbdgen.spatial.scalar import Naming, Scalar, mul, sub, unnamed


def aba_bias(
    reduced: ReducedModel,
    q: Sequence[Coordinate],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    naming: Naming = unnamed,
) -> list[Scalar]:
    """qdd = FD(q, v, tau), in rad/s^2 or m/s^2; arguments as in `rnea_classical`."""
    bodies = reduced.at(q)
    at_rest = outward(reduced, bodies, q, v, [0] * reduced.nv, naming)
    bias = body_forces(reduced, bodies, at_rest, fext, naming)
    factors = articulated_factors(bodies, naming)
    rates = joint_rates(bodies, factors, bias, tau, naming)
    return accelerations(bodies, factors, rates, naming)


def joint_rates(
    bodies: Sequence[ReducedBody],
    factors: Sequence[JointFactor],
    bias: list[Force],
    tau: Sequence[Scalar],
    naming: Naming,
) -> list[list[Scalar]]:
    """D^-1 u of every joint, u = tau - S^T p; leaves to root."""
    rates: list[list[Scalar]] = [[] for _ in bodies]
    for i in reversed(range(len(bodies))):
        body, factor, force = bodies[i], factors[i], bias[i]
        own = body.joint.slice(tau)
        rates[i] = factor.solve([sub(t, f) for t, f in zip(own, along_joint(body, force), strict=True)])
        if body.parent != WORLD:
            passed = with_joint_force(body, force + factor.U[0] * rates[i][0], own[0])
            bias[body.parent] = (bias[body.parent] + force_to_parent(body, passed)).named(
                naming, f"pA[{body.parent}]"
            )
    return rates


def with_joint_force(body: ReducedBody, force: Force, value: Scalar) -> Force:
    """The force with a component along the joint's axis that is known: p_z + U_z D^-1 (tau - p_z) is tau."""
    n, f = force.moment, force.force
    if body.joint.kind is JointKind.REVOLUTE:
        return Force(Vector(n.x, n.y, value), f)
    return Force(n, Vector(f.x, f.y, value))


def accelerations(
    bodies: Sequence[ReducedBody],
    factors: Sequence[JointFactor],
    rates: Sequence[Sequence[Scalar]],
    naming: Naming,
) -> list[Scalar]:
    """qdd = D^-1 u - D^-1 U^T a', a' the parent's change of acceleration; root to leaves."""
    qdd: list[Scalar] = []
    changes: list[Motion] = []
    for i, (body, factor, rate) in enumerate(zip(bodies, factors, rates, strict=True)):
        if body.joint.kind is JointKind.FLOATING:
            qdd += rate
            change = Motion(Vector(*rate[3:]), Vector(*rate[:3]))
        else:
            above = NO_MOTION if body.parent == WORLD else to_child(body, changes[body.parent])
            acceleration, change = _joint_acceleration(body, factor.scaled, rate[0], above)
            qdd.append(naming(f"qdd[{len(qdd)}]", acceleration))
        changes.append(change.named(naming, f"da[{i}]"))
    return qdd


def _joint_acceleration(
    body: ReducedBody, scaled: Force, rate: Scalar, above: Motion
) -> tuple[Scalar, Motion]:
    """qdd of a joint and its body's change of acceleration.

    U_z / D is 1: the component of the change along the joint, a'_z + qdd, comes first and qdd from it.
    """
    w, a, n, f = above.angular, above.linear, scaled.moment, scaled.force
    if body.joint.kind is JointKind.REVOLUTE:
        pairs = (n.x, w.x), (n.y, w.y), (f.x, a.x), (f.y, a.y), (f.z, a.z)
        along = _less(rate, pairs)
        return sub(along, w.z), Motion(Vector(w.x, w.y, along), a)
    pairs = (n.x, w.x), (n.y, w.y), (n.z, w.z), (f.x, a.x), (f.y, a.y)
    along = _less(rate, pairs)
    return sub(along, a.z), Motion(w, Vector(a.x, a.y, along))


def _less(value: Scalar, pairs: Sequence[tuple[Scalar, Scalar]]) -> Scalar:
    for x, y in pairs:
        value = sub(value, mul(x, y))
    return value


def to_child(body: Placed, m: Motion) -> Motion:
    """A motion of the parent at the body's origin, in the body's axes."""
    linear = m.linear + m.angular.cross(body.translation)
    return Motion(body.rotation.to_child(m.angular), body.rotation.to_child(linear))
