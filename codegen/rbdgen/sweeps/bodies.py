"""What a step sees of a body, and how motions, forces and inertias go from a body to its parent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from rbdgen.model.articulated import ArticulatedInertia, coordinate_components
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import NO_MOTION, ZERO, Force, Motion, Vector
from rbdgen.spatial.planar import FactoredRotation
from rbdgen.spatial.scalar import Scalar, is_zero


class Placed(Protocol):
    """What stands in its parent: `rotation` from its axes to the parent's, `translation` in the parent's."""

    @property
    def rotation(self) -> FactoredRotation: ...

    @property
    def translation(self) -> Vector: ...


class Jointed(Protocol):
    """What moves on a joint: `subspace` is S in its axes, one motion a degree of freedom, `armature` the
    inertia of its rotors, one number a degree of freedom."""

    @property
    def subspace(self) -> tuple[Motion, ...]: ...

    @property
    def armature(self) -> tuple[Scalar, ...]: ...


class Massive(Protocol):
    """What has mass moments, in its axes."""

    @property
    def moments(self) -> MassMoments: ...


class Body(Placed, Jointed, Massive, Protocol):
    """A body at a position of its joint, as a step sees it."""


class Unplaced(NamedTuple):
    """A floating base where a step does not depend on its pose."""

    subspace: tuple[Motion, ...]
    moments: MassMoments
    rotation: FactoredRotation = FactoredRotation()
    translation: Vector = ZERO

    @property
    def armature(self) -> tuple[Scalar, ...]:
        """None: a base has no motor."""
        return (0,) * len(self.subspace)


def along_joint(body: Jointed, force: Force) -> list[Scalar]:
    """S^T f."""
    return [S.dot(force) for S in body.subspace]


def relative_motion(body: Jointed, rates: Sequence[Scalar]) -> Motion:
    """S qd, the motion of the body against its parent, or S qdd."""
    total = NO_MOTION
    for S, rate in zip(body.subspace, rates, strict=True):
        total = total + S * rate
    return total


def known_components(body: Jointed) -> list[int] | None:
    """Which of a motion's components (angular, linear) the columns of S are; None where one is no such axis,
    or where rotors take a part of the torque.

    Where they are, the power S^T f is just these components of a force, and what the parent feels through
    the joint has exact zeros there.
    """
    if not all(map(is_zero, body.armature)):
        return None
    found = coordinate_components(body.subspace)
    ahead = found and all((*S.angular, *S.linear)[k] == 1 for S, k in zip(body.subspace, found, strict=True))
    return found if ahead else None


def with_joint_force(body: Jointed, force: Force, values: Sequence[Scalar]) -> Force:
    """The force with its components along the joint, S^T f, known to be these values."""
    known = known_components(body)
    if known is None:
        return force
    components = [*force.moment, *force.force]
    for k, value in zip(known, values, strict=True):
        components[k] = value
    return Force(Vector(*components[:3]), Vector(*components[3:]))


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
