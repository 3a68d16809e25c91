"""Kinetic and potential energy.

Featherstone, Rigid Body Dynamics Algorithms, 2008, section 2.13: T is the sum of v_i . I_i v_i / 2, and U is
the sum of -m_i g . c_i, which is 0 for a mass at the world's origin. The cheap forms compute the same sums
over a `ReducedModel`. Mass that was moved to the world contributes nothing to T and a constant to U.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rbdgen.functions.inverse_dynamics.newton_euler import joint_motion
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD, Model
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import NO_MOTION, NO_TRANSFORM, Motion, Transform, Vector
from rbdgen.spatial.scalar import Naming, Scalar, add, mul, sub, unnamed
from rbdgen.sweeps.bodies import Body, motion_to_child, relative_motion
from rbdgen.sweeps.sweep import Given, Gives, Outward


def kinetic_energy(
    model: Model, q: Sequence[Coordinate], v: Sequence[Scalar], naming: Naming = unnamed
) -> Scalar:
    """T in J. q has one coordinate per body, v has nv elements."""
    total: Scalar = 0
    velocity: list[Motion] = []
    for i, (body, q_i) in enumerate(zip(model.bodies, q, strict=True)):
        v_i = joint_motion(body.joint, v)
        if body.parent != WORLD:
            v_i = body.transform(q_i).motion_to_child(velocity[body.parent]) + v_i
        velocity.append(v_i.named(naming, f"v[{i}]"))
        total = add(total, velocity[i].dot(body.inertia.apply(velocity[i])))
    return naming("T", half(total))


def potential_energy(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> Scalar:
    """U in J. q has one coordinate per body."""
    total: Scalar = 0
    placed: list[Transform] = []
    for body, q_i in zip(model.bodies, q, strict=True):
        above = NO_TRANSFORM if body.parent == WORLD else placed[body.parent]
        placed.append(above @ body.transform(q_i))
        R, p = placed[-1]
        weighed = R.apply(body.inertia.first_moment) + p * body.inertia.mass
        total = sub(total, model.gravity.dot(weighed))
    return naming("U", total)


def half(value: Scalar) -> Scalar:
    """Half of the value, which is exact for integers and rationals."""
    return Fraction(value) / 2 if isinstance(value, (int, Fraction)) else value / 2


def moved(body: Body, x: Given) -> Gives:
    """The velocity of a body from that of its parent, and its kinetic energy.

    T = v . (m v / 2 + w x h) + w . J w / 2. The constants m and J are halved beforehand, which takes no
    operation.
    """
    velocity = motion_to_child(body, x.parent) + relative_motion(body, x.v)
    w, v, moments = velocity.angular, velocity.linear, body.moments
    momentum = v * half(moments.mass) + w.cross(moments.first)
    return {"velocity": velocity, "T": add(w.dot(_half_turning(moments, w)), v.dot(momentum))}


def _half_turning(moments: MassMoments, w: Vector) -> Vector:
    """A vector whose scalar product with w is w . J w / 2, from the upper triangle of J alone."""
    J = moments.rotational
    return Vector(
        add(mul(half(J[0].x), w.x), add(mul(J[0].y, w.y), mul(J[0].z, w.z))),
        add(mul(half(J[1].y), w.y), mul(J[1].z, w.z)),
        mul(half(J[2].z), w.z),
    )


KINETIC = Outward(
    "outward",
    "velocity",
    moved,
    world=lambda _: NO_MOTION,
    reads=("placement", "moments", "v"),
    base_reads=("moments", "v"),
    gives={"velocity": Motion},
    totals={"T": lambda _: 0},
)
"""The sweep that computes `T` from v."""


@dataclass(frozen=True)
class Field:
    """Gravity at a body: `upward` is -g in its axes, and `potential` is -g . p for its origin p."""

    upward: Vector
    potential: Scalar


def lifted(body: Body, x: Given) -> Gives:
    """The field at a body's origin from that at its parent's, and the body's energy U = -m g . p - g . h."""
    above, moments = x.parent, body.moments
    potential = add(above.potential, above.upward.dot(body.translation))
    field = Field(body.rotation.to_child(above.upward), potential)
    U = add(mul(moments.mass, field.potential), field.upward.dot(moments.first))
    return {"field": field, "U": U}


POTENTIAL = Outward(
    "outward",
    "field",
    lifted,
    world=lambda x: Field(x.upward, 0),
    reads=("placement", "moments"),
    gives={"field": Field},
    totals={"U": lambda x: x.upward.dot(x.still)},
)
"""The sweep that computes `U`."""
