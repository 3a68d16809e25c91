"""A planar joint: its body slides in the x-y plane of the joint's frame and turns about z."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, sin
from typing import Any

from rbdgen.model.joints.coordinates import Angle, Coordinate, PlanarPose, rotation_about
from rbdgen.model.joints.joint_type import Displacement, JointType
from rbdgen.model.joints.revolute import only_zz, without_zz
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import IDENTITY, ZERO, Motion, Transform, Vector
from rbdgen.spatial.scalar import Scalar


@dataclass(frozen=True)
class Planar(JointType):
    """q: x and y in m, the angle in rad. v: the velocity along the moved x and y, and about z."""

    name = "planar"
    kind = "planar"
    nq = 3
    nv = 3
    one_axis = False
    resists = False

    def motion_subspace(self, axis: Vector) -> tuple[Motion, ...]:
        x, y, z = IDENTITY
        return Motion(ZERO, x), Motion(ZERO, y), Motion(z, ZERO)

    def transform(self, axis: Vector, q: Any) -> Transform:
        return Transform(rotation_about(IDENTITY[2], q.angle), Vector(q.x, q.y, 0))

    def displacement(self, q: Any) -> Displacement:
        return Displacement(Vector(q.x, q.y, 0), q.angle)

    def coordinate(self, q: Sequence[Scalar], angle: Callable[[Scalar], Angle]) -> Coordinate:
        return PlanarPose(q[0], q[1], angle(q[2]))

    def some_position(self, value: float, length: float) -> Coordinate:
        return PlanarPose(value * length, (3 - value) * length, Angle(cos(value), sin(value)))

    def split(self, own: MassMoments) -> tuple[MassMoments, MassMoments | None]:
        """Sigma_zz is the same wherever the body stands in the plane."""
        felt = MassMoments(own.mass, own.first, without_zz(own.second))
        return felt, MassMoments(0, ZERO, only_zz(own.second))
