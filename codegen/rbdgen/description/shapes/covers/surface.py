"""The surfaces of meshes and of capsules as points, and the distances between them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rbdgen.description.shapes.covers.swept import Array, Swept, beyond

CELLS = 40
"""The number of cells of a grid along the longest edge of a mesh's box."""

FINE = 50
"""The number of points of a mesh along the longest edge of its box, about."""

COARSE, DENSE = 256, 1600
"""The numbers of points on the ends of a capsule, with which its excess is compared and told."""

CHUNK = 200_000
"""The largest number of distances that are computed at once."""


def divided(triangles: Array, longest: float) -> Array:
    """Triangles (m, 3, 3) that make up those (n, 3, 3) of a mesh, without an edge above `longest`."""
    done: list[Array] = []
    left = triangles
    while len(left):
        edges = np.linalg.norm(np.roll(left, -1, axis=1) - left, axis=2)
        small = edges.max(axis=1) <= longest
        done.append(left[small])
        left = left[~small]
        k = edges[~small].argmax(axis=1)
        rows = np.arange(len(left))
        a, b, c = (left[rows, (k + shift) % 3] for shift in range(3))
        middle = (a + b) / 2
        left = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
    return np.concatenate(done) if done else triangles


def points_of(triangles: Array) -> Array:
    """Points (n, 3) of a mesh that lie close together everywhere on it, at most one in a cell of a fine grid.

    All of them are points of the mesh, so a distance to the nearest one is at least that to the mesh.
    """
    low, size = triangles.min(axis=(0, 1)), float(np.ptp(triangles, axis=(0, 1)).max())
    if size == 0.0:
        return triangles[0, :1]
    points = divided(triangles, size / FINE).reshape(-1, 3)
    cells = np.floor((points - low) * (FINE / size)).astype(np.int64)
    _, kept = np.unique(cells @ [1, 1024, 1024**2], return_index=True)
    return points[np.sort(kept)]


def nearest(points: Array, others: Array) -> Array:
    """The distance (n,) from every point (n, 3) to the nearest one of others (m, 3)."""
    middle = others.mean(axis=0)
    a, b = points - middle, others - middle
    squares = np.einsum("ij,ij->i", b, b)
    rows = max(1, CHUNK // len(b))
    parts = [a[k : k + rows] for k in range(0, len(a), rows)]
    found = [(squares - 2 * part @ b.T).min(axis=1) + np.einsum("ij,ij->i", part, part) for part in parts]
    return np.sqrt(np.maximum(np.concatenate(found), 0.0)) if found else np.zeros(0)


class Field:
    """The distance to the points of a mesh, see `points_of`, from a grid around it: within two cells."""

    def __init__(self, points: Array) -> None:
        low, high = points.min(axis=0), points.max(axis=0)
        size = float((high - low).max())
        self.step = size / CELLS
        self.low = low - 0.5 * size
        self.count = np.ceil((high + 0.5 * size - self.low) / self.step).astype(int) + 1
        squares = np.full(self.count, float((2 * CELLS) ** 2 * 12))
        squares[tuple(self._cells(points).T)] = 0.0
        for axis in range(3):  # the lower envelope of parabolas, by axis (Felzenszwalb, Huttenlocher, 2012)
            n = self.count[axis]
            apart = np.square(np.arange(n)[:, None] - np.arange(n)).astype(float)
            rows = np.moveaxis(squares, axis, -1)
            best = np.stack([(rows + apart[i]).min(axis=-1) for i in range(n)], axis=-1)
            squares = np.moveaxis(best, -1, axis)
        self.distances = self.step * np.sqrt(squares)

    def __call__(self, points: Array) -> Array:
        """The distances (...,) of points (..., 3). Those beyond the grid have their distance to it added."""
        cells = self._cells(points)
        outside = np.linalg.norm((points - self.low) / self.step - cells, axis=-1)
        read = self.distances[tuple(np.moveaxis(cells, -1, 0))]
        return np.asarray(read + self.step * np.maximum(outside - 1.0, 0.0))

    def _cells(self, points: Array) -> npt.NDArray[np.int64]:
        cells = np.rint((points - self.low) / self.step).astype(np.int64)
        return np.asarray(np.clip(cells, 0, self.count - 1))


def directions(count: int) -> Array:
    """Unit vectors (count, 3) that are spread over the sphere along a spiral."""
    i = np.arange(count) + 0.5
    z, angle = 1 - 2 * i / count, math.pi * (1 + math.sqrt(5)) * i
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)


def excesses(capsules: Sequence[Swept], points: Array, field: Field, count: int = DENSE) -> list[float]:
    """The excess of every capsule of a cover, measured at its surface outside of the other capsules.

    Distances are those to points of the mesh, see `points_of`, and so not less than those to the mesh.
    `field` is that of the points; it is within two cells, so that distances far below its largest one need
    not be computed. `count` is the number of points on the ends of a capsule.
    """
    found = []
    for k, capsule in enumerate(capsules):
        surface = _surface(capsule, count)
        for other in (*capsules[:k], *capsules[k + 1 :]):
            surface = surface[beyond(surface, other) > 0]
        coarse = field(surface)
        far = surface[coarse >= coarse.max(initial=0.0) - 4 * field.step]
        found.append(float(nearest(far, points).max(initial=0.0)))
    return found


def _surface(capsule: Swept, count: int) -> Array:
    """Points (n, 3) of the surface of a capsule, `count` of them on its ends."""
    normals = directions(count)
    a, b = capsule.ends
    ends = np.where((normals @ capsule.axis > 0)[:, None], b, a) + capsule.radius * normals
    first = np.cross(capsule.axis, np.eye(3)[np.argmin(np.abs(capsule.axis))])
    first /= np.linalg.norm(first)
    second = np.cross(capsule.axis, first)
    rings = math.isqrt(count) // 2
    turn = np.linspace(0, 2 * math.pi, 2 * rings, endpoint=False)[:, None]
    ring = capsule.radius * (np.cos(turn) * first + np.sin(turn) * second)
    steps = np.linspace(-capsule.half_length, capsule.half_length, rings)[:, None, None]
    side = (capsule.center + steps * capsule.axis + ring).reshape(-1, 3)
    return np.concatenate([ends, side])
