"""Capsules that hold the shapes that are no meshes, with their exact excess.

Both a shape and its capsule are convex, so that the largest distance from the capsule's surface to the shape
is the largest difference of their support functions (Schneider, Convex Bodies, 2014, 1.8). With n a unit
vector, the support function of a capsule is h |n . axis| + r, that of a box the sum of |n_k| times half of
its edges, and that of an ellipsoid the norm of n times its radii.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rbdgen.description.shapes.covers.swept import Swept, along, unit
from rbdgen.description.shapes.covers.wanted import Wanted
from rbdgen.description.shapes.shape import Shape


def solid_cover(shape: Shape, wanted: Wanted) -> list[Swept]:
    """The capsules that hold a sphere, a capsule, a cylinder, a box or an ellipsoid, in its frame."""
    if shape.kind == "sphere":
        return [along(unit(2), 0.0, shape.size[0], 0.0)]
    if shape.kind == "capsule":
        radius, length = shape.size
        return [along(unit(2), length / 2, radius, 0.0)]
    if shape.kind == "cylinder":
        radius, length = shape.size
        return [_cylinder(radius, length, wanted.short)]
    if shape.kind == "ellipsoid":
        return [_ellipsoid(*shape.size)]
    assert shape.kind == "box"
    return _box(shape.size, wanted.box)


def _cylinder(radius: float, length: float, short: bool) -> Swept:
    """A capsule along a cylinder. Its segment ends at the ends of the cylinder, or by `inset` before them.

    The excess is r - min(inset, radius). With inset = radius it is the least possible one, 0.41 radius.
    """
    inset = min(radius, length / 2) if short else 0.0
    r = math.hypot(radius, inset)
    return along(unit(2), length / 2 - inset, r, r - min(inset, radius))


def _box(edges: Sequence[float], count: int) -> list[Swept]:
    """Capsules side by side, each along the longest edges of its part of a box.

    The second longest edges are divided into `count` parts. The segment of a capsule ends before the end of
    its part by half of the part's shortest edge, which gives the least excess, r - half of that edge.
    """
    half = np.array(edges) / 2
    short, middle, long = (int(k) for k in np.argsort(half, kind="stable"))
    width = float(half[middle]) / count
    inset = min(width, float(half[short]))
    r = math.hypot(inset, width, float(half[short]))
    strip = along(unit(long), float(half[long]) - inset, r, r - inset)
    places = [(2 * k + 1 - count) * width for k in range(count)]
    return [strip._replace(center=place * unit(middle)) for place in places]


def _ellipsoid(x: float, y: float, z: float) -> Swept:
    """The capsule along the longest axis a of an ellipsoid whose radius is the second longest one, b.

    It touches the ends of the longest axis, where the ellipsoid is nowhere flatter. With the shortest radius
    c and n at the angle acos(s) from the axis, the excess is the largest h s + b - sqrt(c^2 + (a^2 - c^2)
    s^2), which is concave in s.
    """
    radii = np.array([x, y, z])
    short, middle, long = (int(k) for k in np.argsort(radii, kind="stable"))
    a, b, c = (float(radii[k]) for k in (long, middle, short))
    h, k = a - b, a * a - c * c
    s = min(1.0, h * c / math.sqrt(k * (k - h * h))) if k > h * h else 1.0
    return along(unit(long), h, b, max(0.0, h * s + b - math.sqrt(c * c + k * s * s)))
