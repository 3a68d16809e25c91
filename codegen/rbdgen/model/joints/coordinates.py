"""The coordinates of one joint, as the algorithms see them."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from rbdgen.spatial.ops import Matrix, Vector
from rbdgen.spatial.quaternion import Quaternion
from rbdgen.spatial.scalar import Scalar, add, mul, neg, sub


class Angle(NamedTuple):
    """An angle as its cosine and its sine, which is all that the dynamics depends on."""

    cos: Scalar
    sin: Scalar

    def __add__(self, other: object) -> Angle:
        """The sum of two angles by the addition theorems."""
        if not isinstance(other, Angle):
            return NotImplemented
        return Angle(
            sub(mul(self.cos, other.cos), mul(self.sin, other.sin)),
            add(mul(self.sin, other.cos), mul(self.cos, other.sin)),
        )

    @property
    def opposite(self) -> Angle:
        """The angle with the other sign."""
        return Angle(self.cos, neg(self.sin))


class ScrewPosition(NamedTuple):
    """The angle of a helical joint, in rad (`turned`) and as an `Angle`."""

    turned: Scalar
    angle: Angle


class PlanarPose(NamedTuple):
    """The position of a body in a plane, in m, and its angle there."""

    x: Scalar
    y: Scalar
    angle: Angle


class Attitude(NamedTuple):
    """The orientation of a body as a unit quaternion (x, y, z, w)."""

    quaternion: Quaternion


class Pose(NamedTuple):
    """The position of a body, in m, and its orientation as a unit quaternion (x, y, z, w)."""

    position: Vector
    quaternion: Quaternion


Coordinate: TypeAlias = Angle | ScrewPosition | PlanarPose | Attitude | Pose | Scalar
"""A coordinate of one joint: one type of value for every joint type, such as an angle for a revolute
joint.
"""


def elements(q: Coordinate) -> tuple[Scalar, ...]:
    """The joint's elements of q, where an angle is represented by its `Angle` or `ScrewPosition`."""
    if isinstance(q, Pose):
        return (*q.position, *q.quaternion)
    if isinstance(q, Attitude):
        return q.quaternion
    return (q.x, q.y, q.angle) if isinstance(q, PlanarPose) else (q,)


def angle_of(q: Coordinate) -> Angle | None:
    """The angle by which a joint has turned about its axis; None for a joint that does not turn about one
    axis.
    """
    if isinstance(q, Angle):
        return q
    return q.angle if isinstance(q, (ScrewPosition, PlanarPose)) else None


def with_angle(q: Coordinate, angle: Angle) -> Coordinate:
    """The coordinate with another angle. A coordinate without an angle is returned unchanged."""
    if isinstance(q, Angle):
        return angle
    return q._replace(angle=angle) if isinstance(q, (ScrewPosition, PlanarPose)) else q


def rotation_about(axis: Vector, angle: Angle) -> Matrix:
    """Rodrigues' formula for a unit axis n: n n^T + cos (1 - n n^T) + sin [n x]; zeros stay exact."""
    n, skew = axis, Matrix.skew(axis)

    def entry(i: int, j: int) -> Scalar:
        product = mul(n[i], n[j])
        rest = sub(1 if i == j else 0, product)
        return add(add(product, mul(rest, angle.cos)), mul(skew[i][j], angle.sin))

    return Matrix(*(Vector(*(entry(i, j) for j in range(3))) for i in range(3)))
