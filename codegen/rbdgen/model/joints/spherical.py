"""A spherical joint, or ball joint: its body rotates freely about a point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rbdgen.model.joints.coordinates import Angle, Attitude, Coordinate
from rbdgen.model.joints.joint_type import Displacement, Turning
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.exponential import Elementary, Exponential
from rbdgen.spatial.ops import IDENTITY, ZERO, ZERO_MATRIX, Motion, Transform, Vector
from rbdgen.spatial.quaternion import (
    Quaternion,
    at_unit_length,
    conjugate,
    product,
    rates_of,
    rotation_of,
    turning_of,
    unit,
)
from rbdgen.spatial.scalar import Scalar


@dataclass(frozen=True)
class Spherical(Turning):
    """q: a unit quaternion (x, y, z, w). v: the angular velocity, in the body's axes."""

    name = "spherical"
    kind = "spherical"
    elements = ("quaternion",) * 4
    layout = "q: quaternion x y z w; v: angular, in body axes"
    nv = 3
    moves = (3, 4, 5)

    def motion_subspace(self, axis: Vector) -> tuple[Motion, ...]:
        return tuple(Motion(e, ZERO) for e in IDENTITY)

    def transform(self, axis: Vector, q: Any) -> Transform:
        return Transform(rotation_of(q.quaternion), ZERO)

    def displacement(self, q: Any) -> Displacement:
        return Displacement(attitude=q.quaternion)

    def coordinate(self, q: Sequence[Scalar], angle: Callable[[Scalar], Angle]) -> Coordinate:
        return Attitude((q[0], q[1], q[2], q[3]))

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar], functions: Elementary) -> Sequence[Scalar]:
        turn = Exponential(self.motion(v), functions).quaternion
        return product(unit((q[0], q[1], q[2], q[3]), functions.sqrt), turn)

    def displaced(
        self, start: Sequence[Scalar], end: Sequence[Scalar], functions: Elementary
    ) -> tuple[Quaternion, Vector]:
        x, y, z, w = start
        relative = product(conjugate((x, y, z, w)), (end[0], end[1], end[2], end[3]))
        return unit(relative, functions.sqrt), ZERO

    def rates(
        self, q: Sequence[Scalar], v: Sequence[Scalar], angle: Callable[[Scalar], Angle]
    ) -> Sequence[Scalar]:
        return rates_of((q[0], q[1], q[2], q[3]), Vector(*v))

    def velocities(
        self, q: Sequence[Scalar], rates: Sequence[Scalar], angle: Callable[[Scalar], Angle]
    ) -> Sequence[Scalar]:
        return [*turning_of((q[0], q[1], q[2], q[3]), (rates[0], rates[1], rates[2], rates[3]))]

    def within(self, q: Sequence[Scalar], rates: Sequence[Scalar]) -> Sequence[Scalar]:
        return at_unit_length((q[0], q[1], q[2], q[3]), (rates[0], rates[1], rates[2], rates[3]))

    def some_position(self, value: float, length: float) -> Coordinate:
        return Attitude(some_quaternion(value))

    def split(self, own: MassMoments) -> tuple[MassMoments, MassMoments | None]:
        """A mass at the centre of the joint does not move with the body, so only the parent feels it."""
        return MassMoments(0, own.first, own.second), MassMoments(own.mass, ZERO, ZERO_MATRIX)


def some_quaternion(value: float) -> Quaternion:
    """A generic unit quaternion, from a number between 1 and 2."""
    x, y, z, w = value, 0.7, 3 - value, 1.6 * value
    size: float = (x * x + y * y + z * z + w * w) ** 0.5
    return x / size, y / size, z / size, w / size
