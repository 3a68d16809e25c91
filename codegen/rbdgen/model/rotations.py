"""Fixed rotations, cleared of entries that are almost zero, which would cost operations."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

from rbdgen.spatial.ops import Matrix, Vector


@dataclass(frozen=True)
class Snapped:
    """A joint whose placement was snapped, and the largest change of an entry of its rotation."""

    joint: str
    change: float


def snap_rotation(rotation: Matrix, tolerance: float) -> tuple[Matrix, float]:
    """The rotation with entries up to `tolerance` set to 0, and the largest change that was made.

    If a row and a column then have only one entry, it becomes +-1, and a remaining 2 x 2 block is divided by
    hypot(c, s). Other entries stay as written, because a general orthonormalisation would refill zeros.
    """
    if tolerance <= 0:
        return rotation, 0.0
    entries = [[0.0 if abs(x) <= tolerance else float(x) for x in row] for row in rotation]
    lone = [
        (i, j)
        for i in range(3)
        for j in range(3)
        if entries[i][j] != 0
        and sum(x != 0 for x in entries[i]) == 1
        and sum(row[j] != 0 for row in entries) == 1
    ]
    for i, j in lone:
        entries[i][j] = 1.0 if entries[i][j] > 0 else -1.0
    if len(lone) == 1:
        i, j = lone[0]
        rows, columns = [k for k in range(3) if k != i], [k for k in range(3) if k != j]
        c, s = entries[rows[0]][columns[0]], entries[rows[1]][columns[0]]
        length = hypot(c, s)
        for r in rows:
            for k in columns:
                entries[r][k] /= length
    change = max(abs(entries[i][j] - rotation[i][j]) for i in range(3) for j in range(3))
    return Matrix(*(Vector(*row) for row in entries)), change


def snap_axis(axis: Vector, tolerance: float) -> Vector:
    """A unit axis with entries up to `tolerance` set to 0, and normalised again."""
    entries = [0.0 if abs(x) <= tolerance else float(x) for x in axis]
    if entries == list(axis):
        return axis
    length = hypot(*entries)
    return Vector(*(x / length for x in entries))
