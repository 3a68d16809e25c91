"""The boxes that shapes occupy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rbdgen.description.shapes.shape import Shape
from rbdgen.show.meshes import Part
from rbdgen.spatial.ops import Transform

Array: TypeAlias = npt.NDArray[np.float64]


def bounds(shape: Shape, parts: Sequence[Part], placement: Transform) -> tuple[Array, Array]:
    """The least and the greatest coordinates (3,) of a shape in m, along the axes of a frame.

    Args:
        shape: the shape, which is no plane.
        parts: the parts of its mesh, if it is one.
        placement: the frame of the shape in that frame.
    """
    R, p = arrays(placement)
    if shape.kind == "mesh":
        points = np.concatenate([x.surface.vertices[np.unique(x.surface.faces)] for x in parts])
        placed = (points * shape.scale) @ R.T + p
        return placed.min(axis=0), placed.max(axis=0)
    half = _half(shape, R)
    return p - half, p + half


def _half(shape: Shape, R: Array) -> Array:
    """The greatest coordinates of points of a primitive about its middle, along the axes of R's frame."""
    size, along = shape.size, np.abs(R[:, 2])
    if shape.kind == "box":
        return np.asarray(np.abs(R) @ np.array(size) / 2)
    if shape.kind == "sphere":
        return np.full(3, size[0])
    if shape.kind == "ellipsoid":
        return np.asarray(np.sqrt(R**2 @ np.square(size)))
    radius, length = size
    round_end = np.ones(3) if shape.kind == "capsule" else np.sqrt(np.maximum(1 - along**2, 0.0))
    return np.asarray(along * length / 2 + radius * round_end)


def arrays(placement: Transform) -> tuple[Array, Array]:
    """A placement as a rotation (3, 3) and a translation (3,)."""
    R, p = placement
    return np.array([[float(x) for x in row] for row in R]), np.array([float(x) for x in p])
