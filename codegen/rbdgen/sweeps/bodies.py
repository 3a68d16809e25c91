"""What a step sees of a body, and how motions, forces and inertias go from a body to its parent."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from rbdgen.model.articulated import ArticulatedInertia
from rbdgen.model.joints import Joint
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import Force, Motion, Vector
from rbdgen.spatial.planar import FactoredRotation
from rbdgen.spatial.scalar import Scalar, add, mul


class Placed(Protocol):
    """What stands in its parent: `rotation` from its axes to the parent's, `translation` in the parent's."""

    @property
    def rotation(self) -> FactoredRotation: ...

    @property
    def translation(self) -> Vector: ...


class Jointed(Protocol):
    """What moves on a screw about z: by `turning` and `sliding` times its coordinate, 1 and 0 or 0 and 1."""

    @property
    def turning(self) -> Scalar: ...

    @property
    def sliding(self) -> Scalar: ...


class Massive(Protocol):
    """What has mass moments, in its axes."""

    @property
    def moments(self) -> MassMoments: ...


class Base(NamedTuple):
    """A floating base, as its own step sees it."""

    joint: Joint
    moments: MassMoments


class Body(Placed, Jointed, Massive, Protocol):
    """A body at a position of its joint, as a step sees it."""

    @property
    def subspace(self) -> Motion:
        """S of a joint of one degree of freedom."""


def along_joint(body: Jointed, force: Force) -> Scalar:
    """S^T f of a body that is no floating base."""
    return add(mul(body.turning, force.moment.z), mul(body.sliding, force.force.z))


def along_base(force: Force) -> list[Scalar]:
    """S^T f of a floating base."""
    return [*force.force, *force.moment]


def force_to_parent(body: Placed, f: Force) -> Force:
    """In the parent's axes, the moment about the parent's origin."""
    force = body.rotation.to_parent(f.force)
    return Force(body.rotation.to_parent(f.moment) + body.translation.cross(force), force)


def motion_to_child(body: Placed, m: Motion) -> Motion:
    """A motion of the parent at the body's origin, in the body's axes."""
    linear = m.linear + m.angular.cross(body.translation)
    return Motion(body.rotation.to_child(m.angular), body.rotation.to_child(linear))


def inertia_to_parent(body: Placed, inertia: ArticulatedInertia) -> ArticulatedInertia:
    """In the parent's axes, about the parent's origin."""
    R = body.rotation
    turned = ArticulatedInertia(
        R.symmetric_to_parent(inertia.A), R.general_to_parent(inertia.B), R.symmetric_to_parent(inertia.C)
    )
    return turned.translated(body.translation)
