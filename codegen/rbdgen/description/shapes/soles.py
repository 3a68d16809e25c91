"""The flat lower sides of links: of boxes and meshes for collision, as the corners of a sole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from rbdgen.description.schema import Vector3
from rbdgen.description.shapes.shape import Shape
from rbdgen.description.shapes.surfaces import Array, Surfaces
from rbdgen.spatial.ops import Vector

FLAT: Final = 1e-4
"""The largest distance in m of a corner of a sole from the plane of the lowest one."""

STRAIGHT: Final = 1e-6
"""Twice the least area of three neighbouring corners, relative to the square of the size of the sole."""


class Side(NamedTuple):
    """A side of a box: the axis of the box along which it lies, and on which end."""

    axis: int
    sign: float


def side_of(shape: Shape, direction: Vector) -> Side:
    """The side of a box that faces a direction of the link."""
    facing = [float(direction.dot(column)) for column in shape.placement.rotation.T]
    k = max(range(3), key=lambda k: abs(facing[k]))
    return Side(k, math.copysign(1.0, facing[k]))


def corners_of_box(shape: Shape) -> list[Vector]:
    """The eight corners of a box, in its own frame."""
    a, b, c = (x / 2 for x in shape.size)
    return [Vector(x, y, z) for z in (-c, c) for y in (-b, b) for x in (-a, a)]


def corners_of_sole(shapes: Sequence[Shape], direction: Vector, surfaces: Surfaces) -> list[Vector3]:
    """The corners of the flat side of a link that faces a direction, in the frame of the link.

    They are those of the convex hull of all points within `FLAT` of the farthest one along the normal,
    counterclockwise as seen against the normal. The normal is that of the side of the first box or, if there
    is none, the direction. There are less than three corners if the link does not have a flat side there.

    Raises DescriptionError, whose message is one line, for a mesh that cannot be read.

    Args:
        shapes: boxes and meshes of the link.
        direction: a unit vector in the frame of the link.
        surfaces: the meshes of the robot.
    """
    points = np.concatenate([_points(shape, surfaces) for shape in shapes])
    normal = np.array([float(x) for x in _normal(shapes, direction)])
    heights = points @ normal
    lowest = points[heights >= heights.max() - FLAT]
    first = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
    first /= np.linalg.norm(first)
    seen = np.stack([lowest @ first, lowest @ np.cross(normal, first)], axis=1)
    return [(float(x), float(y), float(z)) for x, y, z in lowest[_hull(seen)]]


def _points(shape: Shape, surfaces: Surfaces) -> Array:
    """The corners (n, 3) of a box or the vertices of a mesh, in the frame of the link."""
    if shape.kind == "box":
        own = np.array([list(corner) for corner in corners_of_box(shape)], float)
    else:
        own = surfaces.triangles(shape).reshape(-1, 3) * shape.scale
    R, p = shape.placement
    return np.asarray(own @ np.array([list(row) for row in R.T], float) + np.array(list(p), float))


def _normal(shapes: Sequence[Shape], direction: Vector) -> Vector:
    for shape in shapes:
        if shape.kind == "box":
            axis, sign = side_of(shape, direction)
            columns = list(shape.placement.rotation.T)
            return columns[axis] * sign
    return direction


def _hull(points: Array) -> list[int]:
    """The corners of the convex hull of points (n, 2), counterclockwise from the one with the least x and y.

    Corners that hardly stand out are left out (Andrew, Another efficient algorithm for convex hulls in two
    dimensions, 1979).
    """
    order = [int(k) for k in np.lexsort((points[:, 1], points[:, 0]))]
    least = STRAIGHT * float(np.ptp(points, axis=0).max()) ** 2

    def half(order: Sequence[int]) -> list[int]:
        found: list[int] = []
        for k in order:
            while len(found) > 1 and _turn(*points[[*found[-2:], k]]) <= least:
                found.pop()
            found.append(k)
        return found[:-1]

    return [*half(order), *half(order[::-1])]


def _turn(a: Array, b: Array, c: Array) -> float:
    """Twice the area of a triangle, positive if its corners are counterclockwise."""
    (x, y), (u, v) = b - a, c - a
    return float(x * v - y * u)
