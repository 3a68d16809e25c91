"""The parts of a product of matrices that its loops compute, from the places of zeros in the factors.

The inner index of a sum of products runs over the pairs (term, k). A region is a block of rows and a range of
columns of the result, with the inner indices at which its rows and its columns have elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Marks = npt.NDArray[np.bool_]
"""The places of a matrix at which it may differ from 0."""

ROWS: Final = 4
"""The number of rows that a run computes from one column of the right factor."""

COLUMNS: Final = 8
"""Ranges of at least this number of columns fill vectors."""

ZEROS: Final = 1.5
"""Rows or columns are taken together if this computes at most this multiple of their scalar products."""


@dataclass(frozen=True)
class Region:
    """A part of the result."""

    rows: tuple[int, ...]
    columns: range
    inner: tuple[tuple[int, int], ...]
    """The inner indices, each a term and the index in it, in order."""

    @property
    def size(self) -> int:
        """The number of elements."""
        return len(self.rows) * len(self.columns)

    @property
    def work(self) -> int:
        """The number of scalar products that are computed."""
        return self.size * len(self.inner)


def count(left: Sequence[Marks], right: Sequence[Marks], wanted: Marks) -> npt.NDArray[np.int_]:
    """The number of scalar products of each wanted element, (rows, columns)."""
    numbers = np.hstack(left).astype(int) @ np.vstack(right).astype(int)
    return np.where(wanted, numbers, 0)


def regions(left: Sequence[Marks], right: Sequence[Marks], wanted: Marks) -> list[Region]:
    """Regions that hold all wanted elements that may differ from 0.

    Args:
        left: the left factor of every term, (rows, inner).
        right: the right factor of every term, (inner, columns).
        wanted: the wanted elements, (rows, columns).
    """
    places = [(term, k) for term, each in enumerate(left) for k in range(each.shape[1])]
    rows, columns = np.hstack(left), np.vstack(right).T
    wanted = count(left, right, wanted).astype(bool)
    rows = rows & columns.any(axis=0) & wanted.any(axis=1, keepdims=True)
    columns = columns & rows.any(axis=0) & wanted.T.any(axis=1, keepdims=True)
    found = []
    for block in _groups(rows, lambda length, fits: length < ROWS and fits):
        for segment in _groups(columns, lambda length, fits: length < COLUMNS or fits):
            own = np.flatnonzero(wanted[block.start : block.stop, segment.start : segment.stop].any(axis=0))
            if len(own):
                inner = rows[block.start : block.stop].any(axis=0)
                inner = inner & columns[segment.start : segment.stop].any(axis=0)
                range_of = range(segment.start + int(own[0]), segment.start + int(own[-1]) + 1)
                found.append(Region(tuple(block), range_of, tuple(places[k] for k in np.flatnonzero(inner))))
    return found


def _groups(marks: Marks, joins: Callable[[int, bool], bool]) -> Iterator[range]:
    """Ranges of neighbouring rows of a matrix that have elements. `joins` says whether a row joins the range
    before it, from the length of that range and whether the joint range has few further zeros.
    """
    start, total, union = 0, 0, np.zeros(marks.shape[1], bool)
    for k, row in enumerate(marks):
        own = int(np.count_nonzero(row))
        fits = int(np.count_nonzero(union | row)) * (k + 1 - start) <= ZEROS * (total + own)
        if own and k > start and joins(k - start, fits):
            union, total = union | row, total + own
            continue
        if k > start:
            yield range(start, k)
        start, total, union = (k, own, row) if own else (k + 1, 0, np.zeros_like(row))
    if start < len(marks):
        yield range(start, len(marks))
