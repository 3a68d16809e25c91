"""Angular velocities of bodies, and velocities of their origins relative to their parents, in the bodies'
axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedBody
from rbdgen.spatial.ops import ZERO, Motion, Vector
from rbdgen.spatial.scalar import Naming, Scalar
from rbdgen.sweeps.bodies import relative_motion


def angular_velocities(bodies: Sequence[ReducedBody], v: Sequence[Scalar], naming: Naming) -> list[Vector]:
    """The angular velocities of all bodies, each in its own axes."""
    found: list[Vector] = []
    for i, body in enumerate(bodies):
        own = relative_motion(body, body.joint.slice(v)).angular
        above = ZERO if body.parent == WORLD else body.rotation.to_child(found[body.parent])
        found.append((above + own).named(naming, f"w[{i}]"))
    return found


def origin_rates(bodies: Sequence[ReducedBody], w: Sequence[Vector], v: Sequence[Scalar]) -> list[Vector]:
    """For each body, the rate of the vector p from the origin of its parent to its own, in the parent's
    axes.
    """
    return [
        origin_rate(
            body,
            ZERO if body.parent == WORLD else w[body.parent],
            relative_motion(body, body.joint.slice(v)).linear,
        )
        for body in bodies
    ]


def origin_rate(body: ReducedBody, above: Vector, u: Vector) -> Vector:
    """The rate of p for one body: w x p + R u.

    `above` is the parent's angular velocity w, and u the velocity at which the joint moves the origin.
    """
    slid: Vector = body.axis * u.z if body.joint.type.one_axis else body.rotation.to_parent(u)
    return above.cross(body.translation) + slid


def turning(w: Vector, S: Motion) -> Motion:
    """The rate of a motion S that is constant in a body with angular velocity w, in the body's axes. The
    motion of the body's origin is left out.
    """
    return Motion(w.cross(S.angular), w.cross(S.linear))
