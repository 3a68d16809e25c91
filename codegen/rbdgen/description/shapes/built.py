"""The shapes of a robot that is built in Python: the arguments `visual` and `collision` of its bodies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rbdgen.description.shapes.shape import Shape, Shapes, clipped
from rbdgen.description.solids import Box, Capsule, Cylinder, Ellipsoid, Mesh, OnLink, Solid, Sphere
from rbdgen.spatial.ops import Transform, Vector
from rbdgen.spatial.rpy import rotation_from_rpy


def built_shapes(solids: Iterable[OnLink]) -> Shapes:
    """The shapes of links; their numbers were checked when they were given."""
    return Shapes(tuple(map(_shape, solids)))


def _shape(given: OnLink) -> Shape:
    solid = given.solid
    return Shape(
        link=given.link,
        role=given.role,
        placement=Transform(rotation_from_rpy(*solid.rpy), Vector(*solid.xyz)),
        color=None if solid.color is None else clipped(solid.color),
        line=given.line,
        **_geometry(solid),
    )


def _geometry(solid: Solid) -> dict[str, Any]:
    """The kind of a shape with its size or its mesh."""
    match solid:
        case Box():
            return {"kind": "box", "size": solid.size}
        case Sphere():
            return {"kind": "sphere", "size": (solid.radius,)}
        case Cylinder() | Capsule():
            kind = "cylinder" if isinstance(solid, Cylinder) else "capsule"
            return {"kind": kind, "size": (solid.radius, solid.length)}
        case Ellipsoid():
            return {"kind": "ellipsoid", "size": solid.radii}
        case Mesh():
            return {"kind": "mesh", "mesh": solid.file, "scale": solid.scale}
