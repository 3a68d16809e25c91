"""Capsules of the shapes for collision of links that are spheres and capsules already.

A cylinder with a sphere of its radius at each end is one capsule, as URDF has none of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from rbdgen.description.capsules import Capsule, Vector3
from rbdgen.description.schema import Description
from rbdgen.description.shapes.read import shapes_of
from rbdgen.description.shapes.shape import Shape
from rbdgen.spatial.ops import Vector

SAME: Final = 1e-6
"""The largest distance in m, and difference of radii, of spheres that are the same one."""


def capsules_of(description: Description) -> tuple[Capsule, ...]:
    """The capsules of all links, in the order of the file. Other shapes are left out."""
    found: list[Capsule] = []
    shapes = [shape for shape in shapes_of(description).shapes if shape.role == "collision"]
    for link in description.links:
        own = [shape for shape in shapes if shape.link == link.name]
        found += (_capsule(shape, k) for k, shape in enumerate(_whole(own)))
    return tuple(found)


def pairs_of(description: Description, capsules: tuple[Capsule, ...]) -> tuple[tuple[str, str], ...]:
    """All pairs of capsules except those of one body and of neighbours."""
    parent = {joint.child: (joint.parent, joint.type == "fixed") for joint in description.joints}

    def body(link: str) -> str:
        while link in parent and parent[link][1]:
            link = parent[link][0]
        return link

    def above(link: str) -> str | None:
        return body(parent[link][0]) if link in parent else None

    pairs = []
    for one, other in combinations(capsules, 2):
        a, b = body(one.link), body(other.link)
        if a != b and above(a) != b and above(b) != a:
            pairs.append((one.name, other.name))
    return tuple(pairs)


def _whole(shapes: list[Shape]) -> Iterator[Shape]:
    """The spheres, the capsules, and the cylinders with spheres at both ends, without these spheres."""
    spheres = [shape for shape in shapes if shape.kind == "sphere"]
    ends: dict[int, list[Shape]] = {}
    for k, shape in enumerate(shapes):
        if shape.kind == "cylinder":
            found = [sphere for sphere in spheres if any(_same(sphere, end, shape) for end in _ends(shape))]
            if len(found) == 2:
                ends[k] = found
    used = {id(sphere) for some in ends.values() for sphere in some}
    for k, shape in enumerate(shapes):
        if k in ends or shape.kind == "capsule" or (shape.kind == "sphere" and id(shape) not in used):
            yield shape


def _ends(shape: Shape) -> list[Vector3]:
    R, p = shape.placement
    half = shape.size[1] / 2
    ends = []
    for end in (-half, half):
        x, y, z = map(float, R.apply(Vector(0.0, 0.0, end)) + p)
        ends.append((x, y, z))
    return ends


def _same(sphere: Shape, end: Vector3, shape: Shape) -> bool:
    at = tuple(map(float, sphere.placement.translation))
    return math.dist(at, end) <= SAME and abs(sphere.size[0] - shape.size[0]) <= SAME


def _capsule(shape: Shape, number: int) -> Capsule:
    R, p = shape.placement
    x, y, z = map(float, p)
    a, b, c = (float(row.z) for row in R)
    half = shape.size[1] / 2 if len(shape.size) > 1 else 0.0
    return Capsule(f"{shape.link}/{number}", shape.link, (x, y, z), (a, b, c), half, shape.size[0], 0.0)
