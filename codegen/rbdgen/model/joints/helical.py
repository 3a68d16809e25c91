"""A helical joint, or screw joint: it turns about an axis and slides along it in proportion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, sin
from typing import Any

from rbdgen.model.joints.coordinates import Angle, Coordinate, ScrewPosition, rotation_about
from rbdgen.model.joints.joint_type import Displacement, JointType
from rbdgen.model.joints.revolute import only_zz, without_zz
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import ZERO, Motion, Transform, Vector
from rbdgen.spatial.scalar import Scalar, mul


@dataclass(frozen=True)
class Helical(JointType):
    """q: the angle in rad. `pitch` is the displacement per radian, in m/rad; a full turn moves the body by
    2 pi times this number.
    """

    pitch: Scalar

    name = "helical"
    kind = "screw"
    elements = ("full_turn",)

    def motion_subspace(self, axis: Vector) -> tuple[Motion, ...]:
        return (Motion(axis, axis * self.pitch),)

    def transform(self, axis: Vector, q: Any) -> Transform:
        return Transform(rotation_about(axis, q.angle), axis * mul(self.pitch, q.turned))

    def displacement(self, q: Any) -> Displacement:
        return Displacement(Vector(0, 0, mul(self.pitch, q.turned)), q.angle)

    def coordinate(self, q: Sequence[Scalar], angle: Callable[[Scalar], Angle]) -> Coordinate:
        return ScrewPosition(q[0], angle(q[0]))

    def some_position(self, value: float, length: float) -> Coordinate:
        return ScrewPosition(value, Angle(cos(value), sin(value)))

    def split(self, own: MassMoments) -> tuple[MassMoments, MassMoments | None]:
        """The joint does not feel Sigma_zz, which is the same however far the body has turned or slid."""
        felt = MassMoments(own.mass, own.first, without_zz(own.second))
        return felt, MassMoments(0, ZERO, only_zz(own.second))
