"""The bodies that steps of sweeps see, and transforms of motions, forces and inertias to their parents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from rbdgen.model.articulated import ArticulatedInertia, coordinate_components
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import NO_MOTION, ZERO, Force, Motion, Vector
from rbdgen.spatial.planar import FactoredRotation
from rbdgen.spatial.scalar import Scalar, is_zero


class Placed(Protocol):
    """Something that is placed in a parent frame.

    `rotation` goes from its own axes to the parent's; `translation` is its origin in the parent's axes.
    """

    @property
    def rotation(self) -> FactoredRotation: ...

    @property
    def translation(self) -> Vector: ...


class Jointed(Protocol):
    """Something that moves on a joint.

    `subspace` is the motion subspace S in the axes of the body, one motion per degree of freedom. `armature`
    is the inertia of the joint's rotors, one number per degree of freedom.
    """

    @property
    def subspace(self) -> tuple[Motion, ...]: ...

    @property
    def armature(self) -> tuple[Scalar, ...]: ...


class Massive(Protocol):
    """Something that has mass moments, given in its own axes."""

    @property
    def moments(self) -> MassMoments: ...


class Body(Placed, Jointed, Massive, Protocol):
    """A body at a position of its joint, as a step sees it."""


class Unplaced(NamedTuple):
    """A floating base whose pose is not known, for steps that do not depend on it."""

    subspace: tuple[Motion, ...]
    moments: MassMoments
    rotation: FactoredRotation = FactoredRotation()
    translation: Vector = ZERO

    @property
    def armature(self) -> tuple[Scalar, ...]:
        """Zeros, because a floating base has no motor."""
        return (0,) * len(self.subspace)


def along_joint(body: Jointed, force: Force) -> list[Scalar]:
    """S^T f: the components of a force along the joint, one per degree of freedom."""
    return [S.dot(force) for S in body.subspace]


def relative_motion(body: Jointed, rates: Sequence[Scalar]) -> Motion:
    """S qd, the velocity of the body relative to its parent; or S qdd, for accelerations."""
    total = NO_MOTION
    for S, rate in zip(body.subspace, rates, strict=True):
        total = total + S * rate
    return total


def known_components(body: Jointed) -> list[int] | None:
    """For each column of S, the component of a motion (0 to 2 angular, 3 to 5 linear) along which it points.

    The result is None if a column is not a positive coordinate axis, or if rotors take a part of the torque.
    Otherwise S^T f is just these components of a force f, and the articulated-body inertia that the parent
    feels through the joint has exact zeros in these rows and columns.
    """
    if not all(map(is_zero, body.armature)):
        return None
    found = coordinate_components(body.subspace)
    ahead = found and all((*S.angular, *S.linear)[k] == 1 for S, k in zip(body.subspace, found, strict=True))
    return found if ahead else None


def with_joint_force(body: Jointed, force: Force, values: Sequence[Scalar]) -> Force:
    """The force, with its components along the joint (S^T f) replaced by values that are known.

    If `known_components` gives None, the result is the force itself.
    """
    known = known_components(body)
    if known is None:
        return force
    components = [*force.moment, *force.force]
    for k, value in zip(known, values, strict=True):
        components[k] = value
    return Force(Vector(*components[:3]), Vector(*components[3:]))


def force_to_parent(body: Placed, f: Force) -> Force:
    """The force in the parent's axes, with its moment about the parent's origin."""
    force = body.rotation.to_parent(f.force)
    return Force(body.rotation.to_parent(f.moment) + body.translation.cross(force), force)


def motion_to_child(body: Placed, m: Motion) -> Motion:
    """A motion of the parent, taken at the body's origin and expressed in the body's axes."""
    linear = m.linear + m.angular.cross(body.translation)
    return Motion(body.rotation.to_child(m.angular), body.rotation.to_child(linear))


def inertia_to_parent(body: Placed, inertia: ArticulatedInertia) -> ArticulatedInertia:
    """The inertia in the parent's axes, about the parent's origin."""
    R = body.rotation
    turned = ArticulatedInertia(
        R.symmetric_to_parent(inertia.A), R.general_to_parent(inertia.B), R.symmetric_to_parent(inertia.C)
    )
    return turned.translated(body.translation)
