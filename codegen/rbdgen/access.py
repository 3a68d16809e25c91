"""Where the arrays of a straight line lie when it runs several times: the addressing of a program's loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Access:
    """Element e of the array, in run k, is `array[offsets[k] + elements[e]]`.

    One offset alone holds for every run: the array is shared by all.
    """

    array: str
    elements: tuple[int, ...]
    offsets: tuple[int, ...] = (0,)

    @property
    def shared(self) -> bool:
        return len(self.offsets) == 1

    @property
    def consecutive(self) -> bool:
        """Whether each run's elements lie right behind those of the run before: they fill a vector."""
        return all(b == a + 1 for a, b in zip(self.offsets, self.offsets[1:], strict=False))

    def rows(self, lanes: int) -> list[tuple[int, ...]]:
        """The offsets of so many neighbouring runs each."""
        return [self.offsets[k : k + lanes] for k in range(0, len(self.offsets), lanes)]

    def shared_in_rows(self, lanes: int) -> bool:
        """Whether so many neighbouring runs each share the array."""
        return self.shared or all(len(set(row)) == 1 for row in self.rows(lanes))

    def consecutive_in_rows(self, lanes: int) -> bool:
        """Whether it is consecutive in so many neighbouring runs each."""
        return all(row == tuple(range(row[0], row[0] + len(row))) for row in self.rows(lanes))

    def addresses(self, run: int) -> list[int]:
        """The elements' positions in the array in this run."""
        return [self.address(run, k) for k in range(len(self.elements))]

    def address(self, run: int, k: int) -> int:
        """Position of element k in the array in this run."""
        return self.offsets[0 if self.shared else run] + self.elements[k]


def whole(array: str, size: int) -> Access:
    """All elements of an array in order, the same in every run."""
    return Access(array, tuple(range(size)))


def column(array: str, rows: int, stride: int, columns: Sequence[int]) -> Access:
    """Column `columns[k]` of a row-major matrix with `stride` numbers a row, in run k."""
    return Access(array, tuple(range(0, rows * stride, stride)), tuple(columns))
