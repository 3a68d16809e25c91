"""Angles that keep known properties: exact right angles, and sums of traced angles as one angle."""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, cos, sin

from rbdgen.model.joints.coordinates import Angle
from rbdgen.spatial.scalar import Scalar, add, is_number, is_zero, neg

ZERO_ANGLE = Angle(1, 0)

ROUNDING = 1e-14
"""Cosines and sines with a magnitude up to this are the rounding errors of a right angle."""


def constant_angle(radians: float) -> Angle:
    """A known angle, which is exact if it is a multiple of a right angle."""
    return exact(Angle(cos(radians), sin(radians)))


def exact(angle: Angle) -> Angle:
    """The angle, with the integers 0 and +-1 as cosine and sine if it is a multiple of a right angle.

    An angle with symbols is returned unchanged.
    """
    if not (is_number(angle.cos) and is_number(angle.sin)):
        return angle
    if abs(angle.sin) <= ROUNDING:
        return Angle(1 if angle.cos > 0 else -1, 0)
    if abs(angle.cos) <= ROUNDING:
        return Angle(0, 1 if angle.sin > 0 else -1)
    return angle


def radians_of(angle: Angle) -> float:
    """A known angle in rad, in (-pi, pi]."""
    return atan2(angle.sin, angle.cos)


class TracedAngle(Angle):
    """An angle in rad that is an expression of an engine's symbols, plus a known angle (`offset`).

    A sum with a known angle or another traced angle is a traced angle again, with a single cosine and sine.
    cos(q1 + q2) then takes one addition and one cosine, whereas the addition theorem takes six operations.
    """

    radians: Scalar
    offset: Angle
    functions: tuple[Callable[[Scalar], Scalar], Callable[[Scalar], Scalar]]

    def __new__(
        cls,
        radians: Scalar,
        functions: tuple[Callable[[Scalar], Scalar], Callable[[Scalar], Scalar]],
        offset: Angle = ZERO_ANGLE,
    ) -> TracedAngle:
        """`functions` are the engine's cosine and sine."""
        cosine, sine = functions
        known = is_number(offset.cos) and is_number(offset.sin)
        if not known or is_zero(offset.cos) or is_zero(offset.sin):
            value = Angle(cosine(radians), sine(radians)) + offset
        else:
            shifted = radians + radians_of(offset)
            value = Angle(cosine(shifted), sine(shifted))
        self = super().__new__(cls, *value)
        self.radians, self.functions, self.offset = radians, functions, offset
        return self

    def __add__(self, other: object) -> Angle:
        if isinstance(other, TracedAngle):
            offset = exact(self.offset + other.offset)
            return TracedAngle(add(self.radians, other.radians), self.functions, offset)
        if isinstance(other, Angle):
            return TracedAngle(self.radians, self.functions, exact(self.offset + other))
        return NotImplemented

    def __radd__(self, other: Angle) -> Angle:
        return self + other

    @property
    def opposite(self) -> Angle:
        result = super().__new__(TracedAngle, self.cos, neg(self.sin))
        result.radians, result.functions, result.offset = (
            neg(self.radians),
            self.functions,
            self.offset.opposite,
        )
        return result
