"""Articulated inertias of a reduced model: joints about and along z, planar rotations."""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.inverse_dynamics.classical import Placed
from rbdgen.model.articulated import ArticulatedInertia, JointFactor, factor_joint
from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import JointKind
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedBody
from rbdgen.spatial.ops import ZERO, Motion, Vector
from rbdgen.spatial.scalar import Naming

UNIT_Z = Vector(0, 0, 1)


def motion_subspace(body: ReducedBody) -> tuple[Motion, ...]:
    """S in the body's axes; a floating base moves along them, then about them."""
    if body.joint.kind is JointKind.REVOLUTE:
        return (Motion(UNIT_Z, ZERO),)
    if body.joint.kind is JointKind.PRISMATIC:
        return (Motion(ZERO, UNIT_Z),)
    return body.joint.motion_subspace


def articulated_factors(bodies: Sequence[ReducedBody], naming: Naming) -> list[JointFactor]:
    """U and D of every joint, leaves to root.

    What a joint passes on has a row and a column z of exact zeros.
    """
    inertias = [
        ArticulatedInertia.of(
            Inertia.from_second_moment(body.moments.mass, body.moments.first, body.moments.second)
        )
        for body in bodies
    ]
    factors: list[JointFactor] = []
    for i in reversed(range(len(bodies))):
        body = bodies[i]
        factors.append(factor_joint(inertias[i], motion_subspace(body)))
        if body.parent != WORLD:
            passed = to_parent(body, factors[-1].project(inertias[i]))
            inertias[body.parent] = (inertias[body.parent] + passed).named(naming, f"IA[{body.parent}]")
    return factors[::-1]


def to_parent(body: Placed, inertia: ArticulatedInertia) -> ArticulatedInertia:
    """In the parent's axes, about the parent's origin."""
    R = body.rotation
    turned = ArticulatedInertia(
        R.symmetric_to_parent(inertia.A), R.general_to_parent(inertia.B), R.symmetric_to_parent(inertia.C)
    )
    return turned.translated(body.translation)
