"""A prismatic joint slides along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rbdgen.model.joints.coordinates import Angle, Coordinate
from rbdgen.model.joints.joint_type import Displacement, JointType
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import IDENTITY, ZERO, ZERO_MATRIX, Motion, Transform, Vector
from rbdgen.spatial.scalar import Scalar


@dataclass(frozen=True)
class Prismatic(JointType):
    """q: the displacement, in m."""

    name = "prismatic"
    kind = "slide"
    elements = ("length",)

    def motion_subspace(self, axis: Vector) -> tuple[Motion, ...]:
        return (Motion(ZERO, axis),)

    def transform(self, axis: Vector, q: Any) -> Transform:
        return Transform(IDENTITY, axis * q)

    def displacement(self, q: Any) -> Displacement:
        return Displacement(Vector(0, 0, q))

    def coordinate(self, q: Sequence[Scalar], angle: Callable[[Scalar], Angle]) -> Coordinate:
        return q[0]

    def some_position(self, value: float, length: float) -> Coordinate:
        return value * length

    def split(self, own: MassMoments) -> tuple[MassMoments, MassMoments | None]:
        """The body rotates with its parent, so all of Sigma is felt by the parent only."""
        return MassMoments(own.mass, own.first, ZERO_MATRIX), MassMoments(0, ZERO, own.second)
