"""Shapes of links: what a robot looks like, and what touches other things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from rbdgen.description.schema import Vector3
from rbdgen.spatial.ops import Transform

Role: TypeAlias = Literal["visual", "collision"]

Kind: TypeAlias = Literal["box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "mesh"]

Color: TypeAlias = tuple[float, float, float, float]


class Triangles(NamedTuple):
    """The surface of a mesh."""

    vertices: npt.NDArray[np.float64]  # (n, 3)
    faces: npt.NDArray[np.int64]  # (m, 3), indices of vertices, counterclockwise as seen from outside


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape that a link carries. Its own frame has its origin in the middle of the shape."""

    link: str
    role: Role
    kind: Kind
    placement: Transform
    """The frame of the shape in the frame of the link."""
    size: tuple[float, ...] = ()
    """In m: the edges of a box along x, y and z; the radius of a sphere; the radius of a cylinder and its
    length along z; the same of a capsule, without the half spheres at its ends; the three radii of an
    ellipsoid; half the edges of a plane along x and y, whose normal is z and which is infinite along an edge
    of 0; nothing for a mesh.
    """
    mesh: str | None = None
    """The file of a mesh as the description names it, or the name of a mesh among `Shapes.meshes`."""
    scale: Vector3 = (1.0, 1.0, 1.0)
    """The factors of the coordinates in the file of a mesh, which give m."""
    color: Color | None = None
    """Red, green, blue and opacity, from 0 to 1."""
    name: str | None = None
    friction: float | None = None
    """The coefficient of sliding friction of a shape that collides; None if the description has none."""
    line: int = 1
    """The line of the file."""


@dataclass(frozen=True)
class Shapes:
    """All shapes of a robot that could be read."""

    shapes: tuple[Shape, ...] = ()
    meshes: Mapping[str, Triangles] = field(default_factory=dict)
    """The meshes by name that the description itself contains, in m; all others are files."""
    missing: tuple[str, ...] = ()
    """One line for everything that could not be read: `FILE:LINE: what is wrong; what to do`."""
    incomplete: frozenset[str] = frozenset()
    """The links of which a shape for collision could not be read."""


def clipped(color: Any) -> Color:
    """Four numbers as a colour, each limited to 0 to 1."""
    red, green, blue, opacity = (min(max(float(x), 0.0), 1.0) for x in color)
    return red, green, blue, opacity
