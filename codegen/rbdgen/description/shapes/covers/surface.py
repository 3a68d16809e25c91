"""The surfaces of meshes and of capsules as points, and the distances between them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rbdgen.description.shapes.covers.swept import Array, Swept, beyond

NODES = 20_000
"""The number of points of a grid around a mesh, about."""

FINE = 50
"""The number of points of a mesh along the longest edge of its box, about."""

COARSE, DENSE = 256, 1600
"""The numbers of points on the ends of a capsule, with which its excess is compared and told."""

CHUNK = 100_000
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
    """The distance (n,) from every point (n, 3) to the nearest one of others (m, 3).

    Written without matrix products, which NumPy may compute on several threads, in an order of its own.
    """
    middle = others.mean(axis=0)
    a, (x, y, z) = points - middle, (others - middle).T.copy()
    squares = x * x + y * y + z * z
    rows = max(1, CHUNK // len(x))
    found = [np.zeros(0)]
    for k in range(0, len(a), rows):
        u, v, w = (-2 * a[k : k + rows]).T[:, :, None]
        least = u * x
        least += v * y
        least += w * z
        least += squares
        found.append(least.min(axis=1) + np.square(a[k : k + rows]).sum(axis=1))
    return np.asarray(np.sqrt(np.maximum(np.concatenate(found), 0.0)))


class Field:
    """The distance to the points of a mesh, see `points_of`, from its values on a grid: within a `step`."""

    def __init__(self, points: Array) -> None:
        low, high = points.min(axis=0), points.max(axis=0)
        around = 0.25 * float(np.sum(high - low) - (high - low).max()) + 0.05 * float((high - low).max())
        self.low, self.high = low - around, high + around
        self.step = float(np.prod(self.high - self.low) / NODES) ** (1 / 3)
        self.cells = np.maximum(np.ceil((self.high - self.low) / self.step).astype(np.int64), 1)
        axes = (
            np.linspace(*span) for span in zip(self.low, self.high, (self.cells + 1).tolist(), strict=True)
        )
        nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        self.distances = nearest(nodes, points)

    def __call__(self, points: Array) -> Array:
        """The distances (...,) of points (..., 3), between which those of the grid are interpolated.

        Points beyond the grid have their distance to it added, so theirs may be too large.
        """
        inside = np.clip(points, self.low, self.high)
        at = (inside - self.low) * (self.cells / (self.high - self.low))
        cell = np.minimum(at.astype(np.int64), self.cells - 1)
        x, y, z = np.moveaxis(at - cell, -1, 0)
        rows, layers = (self.cells[1] + 1) * (self.cells[2] + 1), self.cells[2] + 1
        first = cell @ np.array([rows, layers, 1])
        read = self.distances
        along_z = [
            (1 - z) * read[first + k] + z * read[first + k + 1] for k in (0, layers, rows, rows + layers)
        ]
        along_y = [(1 - y) * along_z[k] + y * along_z[k + 1] for k in (0, 2)]
        found = (1 - x) * along_y[0] + x * along_y[1]
        return np.asarray(found + np.linalg.norm(points - inside, axis=-1))


def directions(count: int) -> Array:
    """Unit vectors (count, 3) that are spread over the sphere along a spiral."""
    i = np.arange(count) + 0.5
    z, angle = 1 - 2 * i / count, math.pi * (1 + math.sqrt(5)) * i
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)


def excesses(capsules: Sequence[Swept], points: Array, field: Field, count: int = DENSE) -> list[float]:
    """The excess of every capsule of a cover, measured at its surface outside of the other capsules.

    Distances are those to points of the mesh, see `points_of`, and so not less than those to the mesh.
    `field` is that of the points; it is within a step, so distances far below its largest one need not be
    computed. `count` is the number of points on the ends of a capsule.
    """
    found = []
    for k, capsule in enumerate(capsules):
        surface = _surface(capsule, count)
        for other in (*capsules[:k], *capsules[k + 1 :]):
            surface = surface[beyond(surface, other) > 0]
        coarse = field(surface)
        far = surface[coarse >= coarse.max(initial=0.0) - 2 * field.step]
        found.append(float(nearest(far, points).max(initial=0.0)))
    return found


def _surface(capsule: Swept, count: int) -> Array:
    """Points (n, 3) of the surface of a capsule, `count` of them on its ends."""
    rings = math.isqrt(count) // 2
    a, b = (end[None] for end in capsule.ends)
    points = surfaces(a, b, np.array([capsule.radius]), directions(count), rings)
    return np.asarray(points[0])


def surfaces(a: Array, b: Array, radii: Array, normals: Array, rings: int) -> Array:
    """Points (m, n, 3) of the surfaces of capsules between ends a and b (m, 3): on the ends where these
    normals (k, 3) point, and on the side in `rings` rings of twice as many points.
    """
    d = b - a
    upper = (d @ normals.T > 0)[..., None]
    ends = np.where(upper, b[:, None], a[:, None]) + radii[:, None, None] * normals
    lengths = np.linalg.norm(d, axis=1)[:, None]
    axes = np.where(lengths > 0, d / np.maximum(lengths, 1e-300), [0.0, 0.0, 1.0])  # any one for a sphere
    first = np.cross(axes, np.eye(3)[np.argmin(np.abs(axes), axis=1)])
    first /= np.linalg.norm(first, axis=1)[:, None]
    second = np.cross(axes, first)
    turn = np.linspace(0, 2 * math.pi, 2 * rings, endpoint=False)[:, None]
    ring = np.cos(turn) * first[:, None] + np.sin(turn) * second[:, None]
    steps = np.linspace(0, 1, rings)[:, None, None]
    side = a[:, None, None] + steps * d[:, None, None] + radii[:, None, None, None] * ring[:, None]
    return np.concatenate([ends, side.reshape(len(a), -1, 3)], axis=1)
