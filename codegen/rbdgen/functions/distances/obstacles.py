"""Obstacles, which are inputs, and their distances from capsules.

A box is exact as long as the axis of the capsule stays outside of it; where the axis enters, the distance is
minus the radius, so the box is at least this deep. For spheres it is exact inside, too. Unused rows with a
radius or an offset of -1e6 are about 1e6 m away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from rbdgen.functions.distances.segments import TINY, Closest, Root, Segment, chosen, clamp, length_of
from rbdgen.spatial.ops import NO_TRANSFORM, ZERO, Matrix, Transform, Vector
from rbdgen.spatial.scalar import (
    Scalar,
    add,
    maximum,
    minimum,
    mul,
    neg,
    reciprocal,
    select,
    select_le,
    sub,
)

STEEP: Final = 1e-12
"""The smallest slope of an axis against the side of a box."""


@dataclass(frozen=True)
class Box:
    """A box; the columns of `rotation` are its axes."""

    center: Vector
    rotation: Matrix
    half: Vector


@dataclass(frozen=True)
class Halfspace:
    """The points with n . x <= offset, for a unit vector n that points out of it."""

    normal: Vector
    offset: Scalar


WIDTHS: Final[Mapping[str, int]] = MappingProxyType(
    {"spheres": 4, "capsules": 7, "boxes": 15, "halfspaces": 4}
)
"""The number of numbers of an obstacle, by the name of the input that has them."""

Obstacle: TypeAlias = Segment | Box | Halfspace


def obstacles_of(
    arrays: Mapping[str, Sequence[Scalar]], root: Transform, sqrt: Root
) -> dict[str, list[Obstacle]]:
    """The obstacles of each kind in the axes of `root`, whose pose in the world this is."""
    back = NO_TRANSFORM if root is NO_TRANSFORM else root.inverse
    R, p = back

    def at(x: Sequence[Scalar]) -> Vector:
        return R.apply(Vector(*x)) + p

    found: dict[str, list[Obstacle]] = {}
    found["sphere"] = [Segment(at(x[:3]), ZERO, 0, x[3]) for x in _rows(arrays, "spheres")]
    found["capsule"] = [_capsule(at(x[:3]), at(x[3:6]), x[6], sqrt) for x in _rows(arrays, "capsules")]
    found["box"] = [
        Box(at(x[:3]), R @ Matrix(Vector(*x[3:6]), Vector(*x[6:9]), Vector(*x[9:12])), Vector(*x[12:]))
        for x in _rows(arrays, "boxes")
    ]
    for x in _rows(arrays, "halfspaces"):
        normal = R.apply(Vector(*x[:3]))
        plane = Halfspace(normal, add(x[3], normal.dot(p)))
        found.setdefault("halfspace", []).append(plane)
    return found


def _rows(arrays: Mapping[str, Sequence[Scalar]], name: str) -> Iterator[Sequence[Scalar]]:
    flat, width = arrays.get(name, ()), WIDTHS[name]
    return (flat[k : k + width] for k in range(0, len(flat), width))


def _capsule(a: Vector, b: Vector, radius: Scalar, sqrt: Root) -> Segment:
    """The capsule between two points, which may coincide: then it is a sphere with the axis 0."""
    along = b - a
    length = sqrt(maximum(along.dot(along), TINY))
    axis = along * reciprocal(length)
    return Segment((a + b) * 0.5, axis, mul(0.5, length), radius)


def from_halfspace(capsule: Segment, plane: Halfspace) -> Closest:
    """The distance of a capsule from a halfspace. The normal is that of the halfspace."""
    n, slope = plane.normal, plane.normal.dot(capsule.axis)
    lowest = capsule.center
    if not capsule.is_sphere:
        lowest = capsule.at(select(slope, 0, capsule.half_length, neg(capsule.half_length)))
    height = sub(n.dot(lowest), plane.offset)
    return Closest(sub(height, capsule.radius), n, lowest, lowest - n * height, height)


def from_box(capsule: Segment, box: Box, floor: float, sqrt: Root) -> Closest:
    """The distance of a capsule from a box. The normal points from the box to the capsule."""
    back = box.rotation.T
    c = back.apply(capsule.center - box.center)
    if capsule.is_sphere:
        return _from_center(capsule, c, box, floor, sqrt)
    u = back.apply(capsule.axis)
    s = _along(c, u, box.half, capsule.half_length)
    y = c + u * s
    outside = _outside(y, box.half)
    length = length_of(outside, floor, sqrt)
    normal = box.rotation.apply(outside * reciprocal(length))
    first = capsule.at(s)
    on_box = first - box.rotation.apply(outside)
    return Closest(sub(length, capsule.radius), normal, first, on_box, length)


def _from_center(sphere: Segment, y: Vector, box: Box, floor: float, sqrt: Root) -> Closest:
    """The distance of a sphere, whose centre is y in the axes of the box. Inside, the nearest side counts."""
    outside = _outside(y, box.half)
    length = length_of(outside, floor, sqrt)
    deep = Vector(*(sub(abs(a), h) for a, h in zip(y, box.half, strict=True)))
    deepest = maximum(maximum(deep.x, deep.y), deep.z)
    side = chosen(deep.x, deepest, chosen(deep.y, deepest, _Z, _Y), _X)
    signs = Vector(*(select(a, 0, -1, 1) for a in y))
    inward = Vector(*(mul(a, b) for a, b in zip(side, signs, strict=True)))
    depth = minimum(deepest, 0)
    local = chosen(deepest, 0, inward, outside * reciprocal(length))
    to_surface = chosen(deepest, 0, inward * depth, outside)
    distance = sub(add(length, depth), sphere.radius)
    return Closest(
        distance,
        box.rotation.apply(local),
        sphere.center,
        sphere.center - box.rotation.apply(to_surface),
        length,
    )


_X, _Y, _Z = Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1)


def _outside(y: Vector, half: Vector) -> Vector:
    """The vector from the nearest point of a box to y; 0 inside."""
    return Vector(*(sub(a, clamp(a, h)) for a, h in zip(y, half, strict=True)))


def _slope(c: Vector, u: Vector, half: Vector, s: Scalar) -> Scalar:
    """Half the slope of the squared distance of c + s u from the box."""
    return u.dot(_outside(c + u * s, half))


def _along(c: Vector, u: Vector, half: Vector, length: Scalar) -> Scalar:
    """s of the point of a segment that is nearest to a box.

    The squared distance is convex, and its slope is straight between the six s at which the line passes the
    planes of the sides. The last of them with a falling and the first with a rising distance enclose the
    nearest point.
    """
    low, high = neg(length), length
    at_low, at_high = _slope(c, u, half, low), _slope(c, u, half, high)
    for a, b, h in zip(c, u, half, strict=True):
        per = reciprocal(select(abs(b), STEEP, STEEP, b))
        for side in (neg(h), h):
            s = clamp(mul(sub(side, a), per), length)
            slope = _slope(c, u, half, s)
            above = select_le(slope, 0, s, low)
            low, at_low = maximum(low, above), select(low, above, slope, at_low)
            below = select_le(0, slope, s, high)
            high, at_high = minimum(high, below), select(below, high, slope, at_high)
    step = mul(sub(high, low), reciprocal(maximum(sub(at_high, at_low), TINY)))
    return minimum(maximum(sub(low, mul(at_low, step)), low), high)
