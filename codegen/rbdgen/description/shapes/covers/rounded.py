"""Cylinders with a sphere of their radius at each end: URDF has no other way to describe a capsule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from rbdgen.description.shapes.covers.swept import Array, Swept, along, between, unit
from rbdgen.description.shapes.shape import Shape

EXACT: Final = 1e-9
"""The largest distance in m of a sphere from the end of a cylinder that is the rounding of a rotation."""

CLOSE: Final = 1e-3
"""The largest such distance relative to the sum of half of the cylinder's length and its radius. Angles in
files are often written with three digits."""


def rounded(shapes: Sequence[Shape]) -> tuple[list[Swept], list[Shape]]:
    """The capsules among the shapes of a link, in its frame, and all other shapes.

    A sphere may be at the ends of several cylinders. Where the spheres are not exactly at the ends, the
    capsule is that between the spheres, with a radius that is larger by the distance.
    """
    spheres = [(x, _center(x)) for x in shapes if x.kind == "sphere"]
    used: set[int] = set()
    capsules: list[Swept] = []
    for shape in shapes:
        if shape.kind != "cylinder":
            continue
        radius, length = shape.size
        alike = [(x, center) for x, center in spheres if abs(x.size[0] - radius) <= EXACT]
        thin = along(unit(2), length / 2, 0.0, 0.0).placed(shape.placement)
        reach = CLOSE * (length / 2 + radius)
        near = [[x for x in alike if _apart(x[1], end) <= reach] for end in thin.ends]
        if not (near[0] and near[1]):
            continue
        ends = [min(x, key=lambda x: _apart(x[1], end)) for x, end in zip(near, thin.ends, strict=True)]
        off = max(_apart(x[1], end) for x, end in zip(ends, thin.ends, strict=True))
        if off <= EXACT:
            capsules.append(thin._replace(radius=radius))
        else:
            capsules.append(between(ends[0][1], ends[1][1], radius + off, off))
        used |= {id(shape), *(id(x) for x, _ in ends)}
    return capsules, [x for x in shapes if id(x) not in used]


def _center(sphere: Shape) -> Array:
    return np.array([float(x) for x in sphere.placement.translation])


def _apart(a: Array, b: Array) -> float:
    return float(np.linalg.norm(a - b))
