"""Dual numbers: a value and its rate, for derivatives along a motion, which are exact for exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rbdgen.model.joints import Angle, Attitude, Coordinate, PlanarPose, Pose, ScrewPosition, rotation_about
from rbdgen.model.model import Model
from rbdgen.spatial.ops import Vector
from rbdgen.spatial.quaternion import Quaternion, rotation_of


@dataclass(frozen=True)
class Dual:
    """A value and its rate."""

    value: Any
    rate: Any

    def __add__(self, other: Any) -> Dual:
        return Dual(self.value + value_of(other), self.rate + rate_of(other))

    def __sub__(self, other: Any) -> Dual:
        return self + -other

    def __mul__(self, other: Any) -> Dual:
        rate = self.rate * value_of(other) + self.value * rate_of(other)
        return Dual(self.value * value_of(other), rate)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.rate)

    def __truediv__(self, other: int) -> Dual:
        return self * Fraction(1, other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Dual:
        return -self + other


def value_of(x: Any) -> Any:
    return x.value if isinstance(x, Dual) else x


def rate_of(x: Any) -> Any:
    return x.rate if isinstance(x, Dual) else 0


def moving(model: Model, q: Sequence[Coordinate], v: Sequence[Any]) -> list[Coordinate]:
    """The coordinates with their rates at v."""
    return [
        _moving(q_i, body.joint.slice(v), body.joint.axis) for body, q_i in zip(model.bodies, q, strict=True)
    ]


def _moving(q: Coordinate, v: Sequence[Any], axis: Vector) -> Coordinate:
    if isinstance(q, Angle):
        return Angle(Dual(q.cos, -q.sin * v[0]), Dual(q.sin, q.cos * v[0]))
    if isinstance(q, ScrewPosition):
        angle: Any = _moving(q.angle, v, axis)
        return ScrewPosition(Dual(q.turned, v[0]), angle)
    if isinstance(q, PlanarPose):
        angle = _moving(q.angle, v[2:], axis)
        slid = rotation_about(Vector(0, 0, 1), q.angle).apply(Vector(v[0], v[1], 0))
        return PlanarPose(Dual(q.x, slid.x), Dual(q.y, slid.y), angle)
    if isinstance(q, Attitude):
        return Attitude(_turning(q.quaternion, Vector(*v)))
    if isinstance(q, Pose):
        slid = rotation_of(q.quaternion).apply(Vector(*v[:3]))
        position = Vector(*(Dual(x, rate) for x, rate in zip(q.position, slid, strict=True)))
        return Pose(position, _turning(q.quaternion, Vector(*v[3:])))
    return Dual(q, v[0])


def _turning(quaternion: Quaternion, w: Vector) -> Quaternion:
    """dq/dt = q (w, 0) / 2."""
    x, y, z, s = quaternion
    u = Vector(x, y, z)
    rates = [*(w * s + u.cross(w)), -u.dot(w)]
    a, b, c, d = (Dual(own, Fraction(rate) / 2) for own, rate in zip(quaternion, rates, strict=True))
    return a, b, c, d
