"""Fits capsules to a mesh so that they hold all of it and stand out of it as little as possible.

A capsule is convex, so it holds a triangle if it holds its corners. Triangles are assigned to capsules, and
every capsule is fitted to its own; then each triangle goes to the capsule that holds it best, a few times, as
in k-means. Long triangles are divided before, since each part lies whole in one capsule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from rbdgen.description.shapes.covers.surface import (
    COARSE,
    Field,
    directions,
    divided,
    excesses,
    points_of,
    surfaces,
)
from rbdgen.description.shapes.covers.swept import Array, Swept, between, beyond

ROUNDS: Final = 3
"""The number of times that triangles are assigned again."""

PARTS: Final = 6
"""Edges of triangles longer than the size of the mesh over this are divided."""

STEPS: Final = 40
"""The steps of the search for one capsule."""

TRIED: Final = 32
"""The capsules that are tried in every step."""

_NORMALS: Final = directions(96)

_EXTREME: Final = directions(192)

RINGS: Final = 6
"""The rings of points around a capsule that is tried."""


def fitted(triangles: Array, count: int) -> list[Swept]:
    """At most `count` capsules that hold all of a mesh, in its frame, with their measured excess.

    The same mesh gives the same numbers. They are rounded to about 1e-5 of its size, the radius upwards.

    Args:
        triangles: the corners of its triangles, (n, 3, 3), in m, at least one.
        count: the largest number of capsules.
    """
    size = float(np.ptp(triangles, axis=(0, 1)).max())
    if size == 0.0:
        return [between(triangles[0, 0], triangles[0, 0], 0.0, 0.0)]
    points = points_of(triangles)
    field = Field(points)
    covers = _covers(triangles, count, field, size)
    best = min(covers, key=lambda cover: max(excesses(cover, points, field, COARSE)))
    measured = excesses(best, points, field)
    return [x._replace(excess=excess) for x, excess in zip(best, measured, strict=True)]


def _covers(triangles: Array, count: int, field: Field, size: float) -> Iterator[list[Swept]]:
    """Covers of a mesh: that of one capsule, and then those after every round."""
    unit = 10.0 ** math.floor(math.log10(size * 1e-4))
    every = np.unique(triangles.reshape(-1, 3), axis=0)
    yield [_neat(_searched(every, field, [], size), every, unit)]
    if count == 1:
        return
    parts = divided(triangles, size / PARTS)
    for start in _starts(parts.mean(axis=1), count):
        labels = start
        for _ in range(ROUNDS):
            found: list[Swept] = []
            for label in np.unique(labels):
                group = np.unique(parts[labels == label].reshape(-1, 3), axis=0)
                found.append(_neat(_searched(group, field, found, size), group, unit))
            yield found
            reach = [beyond(parts.reshape(-1, 3), x).reshape(-1, 3).max(axis=1) for x in found]
            again = np.argmin(reach, axis=0)
            if (again == labels).all():
                break
            labels = again


def _starts(middles: Array, count: int) -> Iterator[npt.NDArray[np.int64]]:
    """Assignments of triangles with these centres (n, 3) to begin with: slices along the principal axis, and
    the nearest one of centres that are far from each other."""
    away = middles - middles.mean(axis=0)
    along = away @ np.linalg.eigh(away.T @ away)[1][:, -1]
    slices = count * (along - along.min()) / (np.ptp(along) or 1.0)
    yield np.minimum(slices.astype(np.int64), count - 1)
    centers = [int(np.argmax(along))]
    distances = np.linalg.norm(middles - middles[centers[0]], axis=1)
    while len(centers) < count:
        centers.append(int(np.argmax(distances)))
        distances = np.minimum(distances, np.linalg.norm(middles - middles[centers[-1]], axis=1))
    apart = [np.linalg.norm(middles - middles[k], axis=1) for k in centers]
    yield np.argmin(apart, axis=0)


def _searched(points: Array, field: Field, others: list[Swept], size: float) -> Swept:
    """A capsule that holds points (n, 3) and stands out little of the mesh and of the other capsules.

    The search varies both ends, all six coordinates, at random with a step that adapts. It begins with the
    best of the capsules along the principal axes of the points.
    """
    extreme = _extreme(points)
    chosen = np.array(list(_first(extreme)))
    costs = _costs(chosen, extreme, field, others)
    best, cost = chosen[np.argmin(costs)], float(costs.min())
    random, step = np.random.default_rng(0), 0.1 * size
    for _ in range(STEPS):
        tried = best + step * random.standard_normal((TRIED, 2, 3)) * random.choice([0.1, 1.0], (TRIED, 1, 1))
        costs = _costs(tried, extreme, field, others)
        k = int(np.argmin(costs))
        if costs[k] < cost:
            best, cost = tried[k], float(costs[k])
        else:
            step *= 0.7
    return between(best[0], best[1], 0.0, None)


def _extreme(points: Array) -> Array:
    """The points that are the farthest ones in some of many directions."""
    if len(points) <= len(_EXTREME):
        return points
    return np.asarray(points[np.unique([np.argmax(points @ direction) for direction in _EXTREME])])


def _first(points: Array) -> Iterator[Array]:
    """Ends (2, 3) of segments along the principal axes of points, as long as leaves capsules round."""
    away = points - points.mean(axis=0)
    axes = np.linalg.eigh(away.T @ away)[1].T
    spans = [(float((points @ x).min()), float((points @ x).max())) for x in axes]
    center = np.sum([(low + high) / 2 * x for (low, high), x in zip(spans, axes, strict=True)], axis=0)
    for k, axis in enumerate(axes):
        radius = max((high - low) / 2 for j, (low, high) in enumerate(spans) if j != k)
        low, high = spans[k]
        reach = max((high - low) / 2 - radius, 0.0) * axis
        yield np.stack([center - reach, center + reach])


def _costs(segments: Array, points: Array, field: Field, others: list[Swept]) -> Array:
    """The largest plus the mean excess (m,) of the capsules around segments (m, 2, 3) that hold points."""
    a, b = segments[:, 0], segments[:, 1]
    radii = _radii(a, b, points)
    surface = surfaces(a, b, radii, _NORMALS, RINGS)
    excess = field(surface)
    for other in others:
        inside = beyond(surface.reshape(-1, 3), other).reshape(excess.shape) < 0.0
        excess[inside] = 0.0
    return np.asarray(excess.max(axis=1) + excess.mean(axis=1))


def _radii(a: Array, b: Array, points: Array) -> Array:
    """The largest distance (m,) from points (n, 3) to segments between a and b (m, 3)."""
    d = b - a
    squares = np.maximum(np.einsum("ij,ij->i", d, d), 1e-300)
    r = points[None] - a[:, None]
    t = np.clip(np.einsum("mnk,mk->mn", r, d) / squares[:, None], 0.0, 1.0)
    away = r - t[..., None] * d[:, None]
    return np.asarray(np.sqrt(np.einsum("mnk,mnk->mn", away, away).max(axis=1)))


def _neat(capsule: Swept, points: Array, unit: float) -> Swept:
    """The capsule with rounded ends and the least radius, rounded upwards, that holds points."""
    a, b = (unit * np.rint(end / unit) for end in capsule.ends)
    thin = between(a, b, 0.0, None)
    least = float(beyond(points, thin).max())
    radius = unit * math.ceil(least / unit)
    return thin._replace(radius=radius if radius >= least else radius + unit)
