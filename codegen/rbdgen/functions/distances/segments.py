"""The closest points of two segments c + s u with |s| <= h, without a branch.

With r = c1 - c2, B = u1 . u2, C = u1 . r, F = u2 . r and clamp(x, h) = min(max(x, -h), h):

    plain   s0 = clamp((B F - C) / max(1 - B^2, 1.5e-14), h1)
    exact   w = u1 - B u2,  y = r - F u2,  s0 = clamp(-w . y / max(w . w, 1e-24), h1)
    both    t = clamp(B s0 + F, h2),  s = clamp(B t - C, h1)

|c1 + s u1 - c2 - t u2|^2 is convex. If s0 is clamped, t is best for it, and the last s is s0 again. If t is
clamped, the last s is best for it. Otherwise nothing changes. If the axes are parallel, any s0 will do. After
Ericson, Real-Time Collision Detection, 2005, section 5.1.9, with a floor under the determinant and units in
which it needs no division by lengths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from rbdgen.model.distances import Segments
from rbdgen.spatial.ops import ZERO, Vector
from rbdgen.spatial.scalar import (
    Scalar,
    add,
    held,
    is_zero,
    maximum,
    minimum,
    mul,
    neg,
    reciprocal,
    select,
    sub,
)

PLAIN_FLOOR: Final = 1.5e-14
EXACT_FLOOR: Final = 1e-24
HELD: Final = 1e-10
"""The squared sine of the angle between axes below which derivatives take s0 as a constant. Any s0 will do
where axes are parallel, but its derivative grows as the inverse of the square.
"""
TINY: Final = 1e-30
"""The floor of a squared length in m^2. It is a normal number in float, too."""


@dataclass(frozen=True)
class Segment:
    """A segment with a radius: c + s u for |s| <= h. `radius` and `half_length` are in m."""

    center: Vector
    axis: Vector
    half_length: Scalar
    radius: Scalar

    @property
    def is_sphere(self) -> bool:
        return is_zero(self.half_length)

    def at(self, s: Scalar) -> Vector:
        """The point c + s u of the axis."""
        along: Vector = self.axis * s
        return self.center + along


class Closest(NamedTuple):
    """A distance with the place where it is taken."""

    distance: Scalar
    """In m, negative inside."""
    normal: Vector
    """The unit vector from the second to the first, or 0 where the axes cross."""
    first: Vector
    """The point of the first axis, or of the first surface if it has no axis."""
    second: Vector
    length: Scalar
    """The distance of both points before radii are subtracted, in m."""


Root = Callable[[Scalar], Scalar]


def clamp(x: Scalar, h: Scalar) -> Scalar:
    """x limited to -h and h; NaN if x is NaN."""
    return minimum(maximum(x, neg(h)), h)


def parameters(one: Segment, other: Segment, form: Segments) -> tuple[Scalar, Scalar]:
    """s and t of the closest points of two segments."""
    r = one.center - other.center
    if other.is_sphere:
        return (0 if one.is_sphere else clamp(neg(one.axis.dot(r)), one.half_length)), 0
    F = other.axis.dot(r)
    if one.is_sphere:
        return 0, clamp(F, other.half_length)
    B, C = one.axis.dot(other.axis), one.axis.dot(r)
    if form == "exact":
        w, y = one.axis - other.axis * B, r - other.axis * F
        square = w.dot(w)
        s0 = mul(neg(w.dot(y)), reciprocal(maximum(square, EXACT_FLOOR)))
    else:
        square = sub(1, mul(B, B))
        s0 = mul(sub(mul(B, F), C), reciprocal(maximum(square, PLAIN_FLOOR)))
    s0 = select(square, HELD, held(s0), s0)
    t = clamp(add(mul(B, clamp(s0, one.half_length)), F), other.half_length)
    return clamp(sub(mul(B, t), C), one.half_length), t


def segments(one: Segment, other: Segment, form: Segments, floor: float, sqrt: Root) -> Closest:
    """The signed distance of two capsules; where they overlap, minus the depth of penetration.

    `floor` is added in squares to the distance of the axes.
    """
    s, t = parameters(one, other, form)
    first, second = one.at(s), other.at(t)
    x = first - second
    length = length_of(x, floor, sqrt)
    distance = sub(length, add(one.radius, other.radius))
    return Closest(distance, x * reciprocal(length), first, second, length)


def length_of(x: Vector, floor: float, sqrt: Root) -> Scalar:
    """The length of a vector, above 0."""
    square = x.dot(x)
    return sqrt(maximum(square, TINY) if floor == 0 else add(square, floor * floor))


def apart(one: Segment, other: Segment, at: Closest, sqrt: Root) -> Vector:
    """The normal for those who push bodies apart: perpendicular to both axes where these cross, and e_z
    where they are parallel as well.
    """
    across = one.axis.cross(other.axis) if not (one.is_sphere or other.is_sphere) else ZERO
    square = across.dot(across)
    up = Vector(0, 0, 1)
    found = up
    if not is_zero(square):
        unit = across * reciprocal(sqrt(maximum(square, TINY)))
        found = chosen(square, _PARALLEL, up, unit)
    return chosen(at.length, _CROSSING, found, at.normal)


def chosen(a: Scalar, b: Scalar, x: Vector, y: Vector) -> Vector:
    """x if a < b, else y."""
    return Vector(*(select(a, b, i, j) for i, j in zip(x, y, strict=True)))


_CROSSING: Final = 1e-9
"""The distance of axes in m below which they cross."""

_PARALLEL: Final = 1e-18
"""The squared sine of the angle between axes below which they are parallel."""
