"""A planar joint: its body slides in the x-y plane of the joint's frame and turns about z."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, sin
from typing import Any

from rbdgen.model.joints.coordinates import Angle, Coordinate, PlanarPose, rotation_about
from rbdgen.model.joints.joint_type import Displacement, Turning
from rbdgen.model.joints.revolute import only_zz, without_zz
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.exponential import Elementary, Exponential
from rbdgen.spatial.ops import IDENTITY, ZERO, Motion, Transform, Vector
from rbdgen.spatial.quaternion import Quaternion
from rbdgen.spatial.scalar import Scalar, add, mul, neg, sub


@dataclass(frozen=True)
class Planar(Turning):
    """q: x and y in m, and the angle in rad. v: the velocity along the x and y axes of the body, and about
    z."""

    name = "planar"
    kind = "planar"
    elements = ("length", "length", "angle")
    layout = "q: x y angle; v: linear along x and y of the body, angular"
    nv = 3
    moves = (0, 1, 5)
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

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar], functions: Elementary) -> Sequence[Scalar]:
        x, y, angle = q
        shift = _turned(Exponential(self.motion(v), functions).translation, *functions.angle(angle))
        return [add(x, shift.x), add(y, shift.y), add(angle, v[2])]

    def displaced(
        self, start: Sequence[Scalar], end: Sequence[Scalar], functions: Elementary
    ) -> tuple[Quaternion, Vector]:
        x, y, turned = (sub(there, here) for here, there in zip(start, end, strict=True))
        cos, sin = functions.angle(start[2])
        half_cos, half_sin = functions.angle(mul(0.5, turned))
        return (0, 0, half_sin, half_cos), _turned(Vector(x, y, 0), cos, neg(sin))

    def rates(
        self, q: Sequence[Scalar], v: Sequence[Scalar], angle: Callable[[Scalar], Angle]
    ) -> Sequence[Scalar]:
        slid = _turned(Vector(v[0], v[1], 0), *angle(q[2]))
        return slid.x, slid.y, v[2]

    def velocities(
        self, q: Sequence[Scalar], rates: Sequence[Scalar], angle: Callable[[Scalar], Angle]
    ) -> Sequence[Scalar]:
        cos, sin = angle(q[2])
        own = _turned(Vector(rates[0], rates[1], 0), cos, neg(sin))
        return own.x, own.y, rates[2]

    def some_position(self, value: float, length: float) -> Coordinate:
        return PlanarPose(value * length, (3 - value) * length, Angle(cos(value), sin(value)))

    def split(self, own: MassMoments) -> tuple[MassMoments, MassMoments | None]:
        """The joint does not feel Sigma_zz, which is the same wherever the body is in the plane."""
        felt = MassMoments(own.mass, own.first, without_zz(own.second))
        return felt, MassMoments(0, ZERO, only_zz(own.second))


def _turned(v: Vector, cos: Scalar, sin: Scalar) -> Vector:
    """A vector of the plane, rotated by an angle."""
    return Vector(sub(mul(cos, v.x), mul(sin, v.y)), add(mul(sin, v.x), mul(cos, v.y)), 0)
