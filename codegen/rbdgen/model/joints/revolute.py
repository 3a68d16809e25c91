"""A revolute joint turns about an axis; a continuous joint is a revolute joint without limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, sin
from typing import Any

from rbdgen.model.joints.coordinates import Angle, Coordinate, rotation_about
from rbdgen.model.joints.joint_type import Displacement, JointType
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import ZERO, Matrix, Motion, Transform, Vector, mirrored
from rbdgen.spatial.scalar import Scalar


@dataclass(frozen=True)
class Revolute(JointType):
    """q: the angle, in rad."""

    name = "revolute"
    kind = "angle"
    elements = ("angle",)
    turns = True

    def motion_subspace(self, axis: Vector) -> tuple[Motion, ...]:
        return (Motion(axis, ZERO),)

    def transform(self, axis: Vector, q: Any) -> Transform:
        return Transform(rotation_about(axis, q), ZERO)

    def displacement(self, q: Any) -> Displacement:
        return Displacement(turn=q)

    def coordinate(self, q: Sequence[Scalar], angle: Callable[[Scalar], Angle]) -> Coordinate:
        return angle(q[0])

    def some_position(self, value: float, length: float) -> Coordinate:
        return Angle(cos(value), sin(value))

    def split(self, own: MassMoments) -> tuple[MassMoments, MassMoments | None]:
        """m, h_z and Sigma_zz are those of a rod on the axis."""
        h = own.first
        felt = MassMoments(0, Vector(h.x, h.y, 0), without_zz(own.second))
        return felt, MassMoments(own.mass, Vector(0, 0, h.z), only_zz(own.second))


def without_zz(second: Matrix) -> Matrix:
    """A second moment without its entry zz, which a rotation about z does not feel."""
    (xx, xy, xz), (_, yy, yz), _ = (tuple(row) for row in second)
    return mirrored([[xx, xy, xz], [0, yy, yz], [0, 0, 0]])


def only_zz(second: Matrix) -> Matrix:
    """A second moment with only its entry zz."""
    return Matrix.diagonal(0, 0, second[2].z)
