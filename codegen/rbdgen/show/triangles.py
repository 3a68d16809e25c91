"""Makes meshes small enough for a page: without tiny parts, with fewer triangles, and as 16-bit numbers.

The triangles of a robot share a budget. A mesh of n triangles gets a share in proportion to n^0.7, so that
large meshes lose more of theirs than small ones. They are removed by edge collapses of least quadric error
(Garland, Heckbert, SIGGRAPH 1997), in the package fast-simplification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rbdgen.description.shapes.shape import Color, Triangles
from rbdgen.show.meshes import Part

SHARE: Final = 0.7
"""The power of the number of triangles to which the share of a part is proportional."""

SMALL: Final = 0.01
"""The size of parts that are left out, such as screws, relative to that of the robot."""

FEWEST: Final = 20
"""The number of triangles that every part may keep."""

GRID: Final = 1 << 12
"""The number of steps along the longest edge of a mesh within which vertices count as equal. Borders of
triangles that almost touch would stay as they are."""

STEPS: Final = ((GRID, 1), (GRID >> 2, 2), *((GRID >> shift, 4) for shift in range(3, 8)))
"""The attempts to bring a part down to its share: a grid on which vertices are merged, and a factor on SMALL.
"""

AGGRESSION: Final = 5
"""The speed of the simplification, from 0 to 10, which costs quality."""


@dataclass(frozen=True)
class Packed:
    """The meshes of a page: for every mesh its parts by colour, whose numbers are in a blob."""

    meshes: list[list[dict[str, Any]]]
    blob: bytes
    triangles: tuple[int, int]
    """The numbers of triangles that were read, and that were kept."""


def packed(meshes: Sequence[Sequence[Part]], smallest: Sequence[float], budget: int) -> Packed:
    """The meshes with about `budget` triangles in all, in the order given.

    Args:
        meshes: the parts of each mesh.
        smallest: for each mesh the size of parts that are left out, in its own unit.
        budget: the number of triangles to keep.
    """
    merged_meshes = [[Part(x.color, merged(x.surface)) for x in mesh] for mesh in meshes]
    total = sum(len(part.surface.faces) for mesh in meshes for part in mesh)
    lean = {
        (i, k): without_small(part.surface, smallest[i])
        for i, mesh in enumerate(merged_meshes)
        for k, part in enumerate(mesh)
        if len(part.surface.faces)
    }
    left, weight = float(budget), sum(len(x.faces) ** SHARE for x in lean.values())
    kept: dict[tuple[int, int], Triangles] = {}
    # Small parts come first: what they leave of their shares, or take in excess, is made up by the others.
    for i, k in sorted(lean, key=lambda key: (len(lean[key].faces), key)):
        own = len(lean[i, k].faces) ** SHARE
        share = max(int(left * own / weight), FEWEST)
        kept[i, k] = compact(reduced(lean[i, k], share, smallest[i]))
        left, weight = max(left - len(kept[i, k].faces), 0.0), max(weight - own, 1.0)
    blob = bytearray()
    rows: list[list[dict[str, Any]]] = [[] for _ in meshes]
    for i, k in sorted(kept):
        rows[i].append(_written(kept[i, k], merged_meshes[i][k].color, blob)._asdict())
    return Packed(rows, bytes(blob), (total, sum(len(x.faces) for x in kept.values())))


def merged(surface: Triangles, grid: int = GRID) -> Triangles:
    """The surface with equal vertices merged, and without triangles that have no area then."""
    vertices, faces = surface
    low = vertices.min(axis=0)
    span = float((vertices.max(axis=0) - low).max()) or 1.0
    steps = np.round((vertices - low) / span * grid).astype(np.int64)
    keys = (steps[:, 0] << 42) | (steps[:, 1] << 21) | steps[:, 2]
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    faces = number[faces]
    flat = (faces[:, 0] == faces[:, 1]) | (faces[:, 1] == faces[:, 2]) | (faces[:, 2] == faces[:, 0])
    return Triangles(vertices[first], faces[~flat])


def without_small(surface: Triangles, size: float) -> Triangles:
    """The surface without connected pieces whose box has a diagonal below `size`; all of it if all are."""
    vertices, faces = surface
    labels = _connected(faces, len(vertices))
    low, high = np.full((len(vertices), 3), np.inf), np.full((len(vertices), 3), -np.inf)
    np.minimum.at(low, labels, vertices)
    np.maximum.at(high, labels, vertices)
    large = np.linalg.norm(high - low, axis=1) >= size
    kept = large[labels[faces[:, 0]]]
    return Triangles(vertices, faces[kept]) if kept.any() else surface


def _connected(faces: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """For every vertex the least number of those that triangles connect with it."""
    labels = np.arange(count)
    while True:
        found = labels[faces]
        least = found.min(axis=1)[:, None]
        if (found == least).all():
            return labels
        np.minimum.at(labels, found, least)  # the labels of a triangle become one
        while not np.array_equal(further := labels[labels], labels):
            labels = further


def reduced(surface: Triangles, most: int, smallest: float) -> Triangles:
    """The surface with about `most` triangles, or with all if there are no more.

    Borders and connected pieces each keep some triangles. If these are too many, vertices that are near each
    other are merged, and larger pieces are left out.
    """
    import fast_simplification  # noqa: PLC0415  (an extra)

    source = result = surface
    for grid, factor in STEPS:
        source = compact(without_small(merged(source, grid), factor * smallest))
        if len(source.faces) <= most:
            return source
        vertices, faces = fast_simplification.simplify(
            source.vertices.astype(np.float32),
            source.faces.astype(np.uint32),
            target_reduction=1 - most / len(source.faces),
            agg=AGGRESSION,
        )
        # An edge that collapses in a nearly flat place may leave its vertex outside of the whole part.
        low, high = source.vertices.min(axis=0), source.vertices.max(axis=0)
        result = Triangles(np.clip(vertices, low, high, dtype=float), np.asarray(faces, np.int64))
        if len(result.faces) <= most:
            break
    return result


def compact(surface: Triangles) -> Triangles:
    """The surface without vertices that no triangle has."""
    used, number = np.unique(surface.faces, return_inverse=True)
    return Triangles(surface.vertices[used], number.reshape(-1, 3))


class _Written(NamedTuple):
    """The places of the triangles of a part in the blob.

    Coordinate k of a vertex is lo[k] + size[k] n / 65535, where n has 16 bits.
    """

    v: list[int]
    """The first byte of the vertices, and their number."""
    f: list[int]
    """The first byte of the indices of the triangles' corners, their number, and the bytes of each."""
    lo: list[float]
    size: list[float]
    color: list[float] | None


def _written(surface: Triangles, color: Color | None, blob: bytearray) -> _Written:
    """Appends the numbers of a surface to the blob, and returns where they are."""
    vertices, faces = surface
    low = vertices.min(axis=0)
    size = vertices.max(axis=0) - low
    steps = np.round((vertices - low) / np.where(size > 0, size, 1.0) * 65535).astype("<u2")
    indices = faces.astype("<u2" if len(vertices) <= 1 << 16 else "<u4")
    return _Written(
        [_appended(blob, steps.tobytes()), len(vertices)],
        [_appended(blob, indices.tobytes()), indices.size, indices.itemsize],
        low.tolist(),
        size.tolist(),
        None if color is None else list(color),
    )


def _appended(blob: bytearray, data: bytes) -> int:
    """Appends data at the next multiple of 4 bytes, and returns this place."""
    blob += b"\0" * (-len(blob) % 4)
    place = len(blob)
    blob += data
    return place
