"""The coordinates of joints as dual numbers, with their derivatives in the tangent space of q."""

from __future__ import annotations

from collections.abc import Callable

from rbdgen.model.angles import TracedAngle
from rbdgen.model.joints import Angle, Attitude, Coordinate, Joint, PlanarPose, Pose, ScrewPosition
from rbdgen.spatial.dual import Dual
from rbdgen.spatial.ops import IDENTITY, Matrix, Vector
from rbdgen.spatial.quaternion import KnownRotation, Quaternion, rotation_of
from rbdgen.spatial.scalar import Scalar, neg


def dual_coordinate(joint: Joint, q: Coordinate) -> Coordinate:
    """The coordinate of a joint as dual numbers, whose variables are the numbers of its degrees of
    freedom."""
    first = joint.idx_v

    def dual(value: Scalar, *slopes: Scalar) -> Dual:
        return Dual(value, dict(enumerate(slopes, first)))

    if isinstance(q, Angle):
        return _angle(q, dual)
    if isinstance(q, ScrewPosition):
        return ScrewPosition(dual(q.turned, 1), _angle(q.angle, dual))
    if isinstance(q, PlanarPose):
        c, s = q.angle.cos, q.angle.sin
        turned = _angle(q.angle, lambda value, slope: dual(value, 0, 0, slope))
        return PlanarPose(dual(q.x, c, neg(s)), dual(q.y, s, c), turned)
    if isinstance(q, Attitude):
        return Attitude(_turning(q.quaternion, dual))
    if isinstance(q, Pose):
        R = rotation_of(q.quaternion)
        position = (dual(value, *row) for value, row in zip(q.position, R, strict=True))
        return Pose(Vector(*position), _turning(q.quaternion, lambda x, *slopes: dual(x, 0, 0, 0, *slopes)))
    return dual(q, 1)


def _angle(q: Angle, dual: Callable[[Scalar, Scalar], Dual]) -> Angle:
    if not isinstance(q, TracedAngle):
        return Angle(dual(q.cos, neg(q.sin)), dual(q.sin, q.cos))
    cos, sin = q.functions
    functions: tuple[Callable[[Dual], Dual], Callable[[Dual], Dual]] = (
        lambda x: x.mapped(cos(x.value), neg(sin(x.value))),
        lambda x: x.mapped(sin(x.value), cos(x.value)),
    )
    return TracedAngle(dual(q.radians, 1), functions, q.offset)


def _turning(quaternion: Quaternion, dual: Callable[..., Dual]) -> KnownRotation:
    """The rotation of a quaternion as dual numbers: dR = R [xi x] for a rotation vector xi in the body's
    axes.

    The entries of R become dual numbers; the quaternion itself keeps no derivative.
    """
    rows = (
        Vector(
            *(
                dual(x, *(row.dot(about.cross(e)) for about in IDENTITY))
                for x, e in zip(row, IDENTITY, strict=True)
            )
        )
        for row in rotation_of(quaternion)
    )
    return KnownRotation(quaternion, Matrix(*rows))
