"""Matrices of any size as lists of rows. Exact zeros vanish as in `scalar.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from rbdgen.spatial.scalar import Scalar, dot

Rows: TypeAlias = list[list[Scalar]]


def transposed(A: Sequence[Sequence[Scalar]]) -> Rows:
    """A^T."""
    return [list(column) for column in zip(*A, strict=True)]


def times(A: Sequence[Sequence[Scalar]], x: Sequence[Scalar]) -> list[Scalar]:
    """A x."""
    return [dot(list(row), list(x)) for row in A]


def product(A: Sequence[Sequence[Scalar]], B: Sequence[Sequence[Scalar]]) -> Rows:
    """A B."""
    columns = transposed(B)
    return [times(columns, row) for row in A]


def block_diagonal(blocks: Sequence[Sequence[Sequence[Scalar]]]) -> Rows:
    """The matrix with these square blocks on its diagonal."""
    size, found = sum(map(len, blocks)), list[list[Scalar]]()
    for block in blocks:
        before = len(found)
        found += [[*[0] * before, *row, *[0] * (size - before - len(row))] for row in block]
    return found
