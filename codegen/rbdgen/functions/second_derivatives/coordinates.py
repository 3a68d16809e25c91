"""The coordinates of joints as dual numbers, with their derivatives in the tangent space of q."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rbdgen.model.angles import TracedAngle
from rbdgen.model.joints import Angle, Attitude, Coordinate, Joint, PlanarPose, Pose, ScrewPosition, Turning
from rbdgen.spatial.dual import Dual
from rbdgen.spatial.ops import IDENTITY, ZERO, Matrix, Vector
from rbdgen.spatial.quaternion import KnownRotation, Quaternion, rotation_of
from rbdgen.spatial.scalar import Scalar, neg


def dual_coordinate(joint: Joint, q: Coordinate) -> Coordinate:
    """The coordinate of a joint as dual numbers, whose variables are the numbers of its degrees of
    freedom."""
    type, first = joint.type, joint.idx_v
    if isinstance(q, Angle):
        return _angle(q, lambda value, slope: Dual(value, {first: slope}))
    if isinstance(q, ScrewPosition):
        angle = _angle(q.angle, lambda value, slope: Dual(value, {first: slope}))
        return ScrewPosition(Dual(q.turned, {first: 1}), angle)
    if not isinstance(type, Turning):
        return Dual(q, {first: 1})
    moves = type.moves

    def dual(value: Scalar, linear: Iterable[Scalar], angular: Iterable[Scalar]) -> Dual:
        """A number with its slopes along motions of the body, in the body's axes."""
        slopes = [*linear, *angular]
        return Dual(value, {first + k: slopes[move] for k, move in enumerate(moves)})

    if isinstance(q, PlanarPose):
        c, s = q.angle.cos, q.angle.sin
        turned = _angle(q.angle, lambda value, slope: dual(value, ZERO, (0, 0, slope)))
        return PlanarPose(dual(q.x, (c, neg(s), 0), ZERO), dual(q.y, (s, c, 0), ZERO), turned)
    if isinstance(q, Attitude):
        return Attitude(_turning(q.quaternion, dual))
    R = rotation_of(q.quaternion)
    position = (dual(value, row, ZERO) for value, row in zip(q.position, R, strict=True))
    return Pose(Vector(*position), _turning(q.quaternion, dual))


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
                dual(x, ZERO, (row.dot(about.cross(e)) for about in IDENTITY))
                for x, e in zip(row, IDENTITY, strict=True)
            )
        )
        for row in rotation_of(quaternion)
    )
    return KnownRotation(quaternion, Matrix(*rows))
