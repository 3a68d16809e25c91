"""Roll, pitch and yaw of a rotation in rad, and back: R = Rz(yaw) Ry(pitch) Rx(roll), the convention of
URDF.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import atan2, cos, hypot, sin

from rbdgen.spatial.ops import Matrix, Vector


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Matrix:
    """The rotation about the fixed x axis, then the fixed y axis, then the fixed z axis."""
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    return Matrix(
        Vector(cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        Vector(sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        Vector(-sp, cp * sr, cp * cr),
    )


def rpy_from_rotation(rotation: Iterable[Iterable[float]]) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a matrix of numbers.

    Roll is computed after yaw has been removed, so that R is reproduced to the last digits even near
    pitch = pi/2.
    """
    (r00, r01, r02), (r10, r11, r12), (r20, _, _) = ([float(x) for x in row] for row in rotation)
    yaw = atan2(r10, r00)
    c, s = cos(yaw), sin(yaw)
    return atan2(s * r02 - c * r12, c * r11 - s * r01), atan2(-r20, hypot(r00, r10)), yaw
