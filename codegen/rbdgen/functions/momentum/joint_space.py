"""The momentum of the joints, p = M v, and the rate that it has without torques.

A joint's part of p is S^T h, where h is the momentum of its subtree and S is constant in the axes of the body
that it moves. In these axes, h changes by the force F on the subtree minus v x* h, where v is the velocity of
the body. As S^T F is the torque of the joint plus the weight along the joint,

    dp/dt = tau + beta,  beta = C^T v - g = -S^T (v x* h) - g.

Momentum observers integrate this equation, which takes neither M nor accelerations: De Luca, Albu-Schaffer,
Haddadin, Hirzinger, IROS 2006, eq. 5-9. The recursion uses spatial vectors, Featherstone 2008, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdgen.functions.form import Outputs
from rbdgen.functions.inverse_dynamics.newton_euler import collect_inward, gravity_torque, joint_motion
from rbdgen.functions.momentum.subtrees import Point
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import NO_MOTION, Force, Motion, Vector
from rbdgen.spatial.scalar import Scalar, neg, sub
from rbdgen.sweeps.bodies import (
    Body,
    along_joint,
    force_to_parent,
    motion_to_child,
    relative_motion,
)
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.sweep import Given, Gives, Inward, Outward, Sum


def joint_momentum(model: Model, x: State) -> Outputs:
    """p and beta. x.q has one coordinate per body, x.v has nv elements."""
    transforms = [body.transform(q_i) for body, q_i in zip(model.bodies, x.q, strict=True)]
    velocity: list[Motion] = []
    momentum: list[Force] = []
    for i, (body, X) in enumerate(zip(model.bodies, transforms, strict=True)):
        above = NO_MOTION if body.parent == WORLD else velocity[body.parent]
        v_i = X.motion_to_child(above) + joint_motion(body.joint, x.v)
        velocity.append(v_i.named(x.naming, f"v[{i}]"))
        momentum.append(body.inertia.apply(velocity[i]).named(x.naming, f"h[{i}]"))
    p = collect_inward(model, transforms, momentum)  # leaves the momenta of the subtrees
    beta = list(map(neg, gravity_torque(model, x.q, x.naming)))
    for body, v_i, h in zip(model.bodies, velocity, momentum, strict=True):
        turned = v_i.cross_force(h)
        for k, S in enumerate(body.joint.motion_subspace, body.joint.idx_v):
            beta[k] = x.naming(f"beta[{k}]", sub(beta[k], S.dot(turned)))
    return [p, beta]


@dataclass(frozen=True)
class Moving:
    """The motion of a body in its axes: its velocity, and minus gravity."""

    velocity: Motion
    up: Vector


def moved(body: Body, x: Given) -> Gives:
    """The motion of a body from that of its parent, and its own momentum and mass."""
    velocity = motion_to_child(body, x.parent.velocity) + relative_motion(body, x.v)
    return {
        "moving": Moving(velocity, body.rotation.to_child(x.parent.up)),
        "momentum": body.moments.apply(velocity),
    }


def collected(body: Body, x: Given) -> Gives:
    """p and beta of a joint, and the momentum and the mass of the subtree for the parent.

    A force mass * up at its centre of mass holds the subtree against gravity.
    """
    v, h, up = x.moving.velocity, x.momentum, x.moving.up
    turned = Force(
        h.moment.cross(v.angular) + h.force.cross(v.linear) - x.mass.first.cross(up),
        h.force.cross(v.angular) - up * x.mass.mass,
    )
    return {
        "p": along_joint(body, h),
        "dp": along_joint(body, turned),
        "momentum": force_to_parent(body, h),
        "mass": x.mass.to_parent(body),
    }


JOINT_MOMENTUM = (
    Outward(
        "outward",
        "moving",
        moved,
        world=lambda x: Moving(NO_MOTION, x.upward),
        reads=("placement", "moments", "upward", "v"),
        gives={"moving": Moving, "momentum": Force},
    ),
    Inward(
        "inward",
        {
            "momentum": Sum(Force),
            "mass": Sum(Point, lambda body: Point(body.moments.mass, body.moments.first)),
        },
        collected,
        reads=("placement", "moments", "moving"),
        gives={"p": Scalar, "dp": Scalar},
        base_gives={"p": Scalar, "dp": Scalar},
    ),
)
"""The sweeps that compute `p` and `dp` from v."""
