"""A description, for comments, of the elements of an output that may be other than 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import prod
from textwrap import wrap

from rbdgen.signature import SizedArgument, ranges_text

_WIDTH = 100


def pattern_lines(output: SizedArgument) -> tuple[str, ...]:
    """The lines that describe the pattern of an output; none if every element may be other than 0.

    In "may be other than 0, row by row: 0-5: 0-17; 6-8: 0-8", columns 0 to 17 of the rows 0 to 5 and columns
    0 to 8 of the rows 6 to 8 may be other than 0.
    """
    if output.nonzero is None:
        return ()
    shape = output.dense or output.shape
    rows = _rows(output.nonzero, shape)
    if output.dense is None:
        told = f"may be other than 0, row by row: {rows}"
    else:
        array = " x ".join(map(str, shape))
        told = f"holds these elements of an array {array}, row by row: {rows}; all others are 0"
        if output.symmetric is not None:
            first, second = output.symmetric
            told += f", or the same as one that is held, with indices {first} and {second} exchanged"
    return tuple(wrap(told, _WIDTH, break_on_hyphens=False))


def _rows(positions: Sequence[int], shape: Sequence[int]) -> str:
    """The positions along the last axis row by row; neighbouring rows that are alike share an entry."""
    if len(shape) < 2:
        return ranges_text(positions)
    rows = [
        (_indices(row, shape[:-1]), ranges_text([position % shape[-1] for position in own]))
        for row, own in groupby(positions, lambda position: position // shape[-1])
    ]
    return "; ".join(f"{where}: {columns}" for where, columns in _together(rows))


def _indices(row: int, shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(row // prod(shape[axis + 1 :]) % n for axis, n in enumerate(shape))


def _together(rows: Sequence[tuple[tuple[int, ...], str]]) -> Iterator[tuple[str, str]]:
    """The rows, where neighbours that differ only in their last index are joined."""
    for (before, columns), alike in groupby(rows, lambda row: (row[0][:-1], row[1])):
        numbers = ranges_text([indices[-1] for indices, _ in alike])
        yield " ".join([*map(str, before), f"[{numbers}]" if " " in numbers else numbers]), columns
