"""Addresses of array elements in a loop: the positions that the loop body reads and writes in each run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

Place: TypeAlias = tuple[int, int]
"""A row and a column of a matrix."""

TOP_LEFT: tuple[Place, ...] = ((0, 0),)


@dataclass(frozen=True)
class Access:
    """The elements of an array that a loop body accesses.

    In run k, the e-th of them is `array[offsets[k] + elements[e]]`.

    A single offset holds for every run; the array is then shared by all runs.
    """

    array: str
    elements: tuple[int, ...]
    offsets: tuple[int, ...] = (0,)

    @property
    def shared(self) -> bool:
        return len(self.offsets) == 1

    @property
    def consecutive(self) -> bool:
        """Whether the elements of every run directly follow those of the run before, so that runs fill a
        vector."""
        return all(b == a + 1 for a, b in zip(self.offsets, self.offsets[1:], strict=False))

    @property
    def apart(self) -> bool:
        """Whether each run accesses neighbouring elements of one row of a matrix, and the rows are equally
        far apart.
        """
        step = self.offsets[1] - self.offsets[0] if len(self.offsets) > 1 else 0
        return (
            step >= len(self.elements) > 1
            and all(b == a + step for a, b in zip(self.offsets, self.offsets[1:], strict=False))
            and all(b == a + 1 for a, b in zip(self.elements, self.elements[1:], strict=False))
        )

    def steps(self, count: int) -> tuple[int, ...]:
        """The offset of each of `count` runs from that of the first run."""
        return (0,) * count if self.shared else tuple(offset - self.offsets[0] for offset in self.offsets)

    def addresses(self, run: int) -> list[int]:
        """The positions of the elements in the array in this run."""
        return [self.address(run, k) for k in range(len(self.elements))]

    def address(self, run: int, k: int) -> int:
        """The position of element k in the array in this run."""
        return self.offsets[0 if self.shared else run] + self.elements[k]


def whole(array: str, size: int) -> Access:
    """All elements of an array in order, the same in every run."""
    return Access(array, tuple(range(size)))


def column(array: str, rows: int, stride: int, columns: Sequence[int]) -> Access:
    """Column `columns[k]`, in run k, of a row-major matrix that has `stride` numbers in a row."""
    return Access(array, tuple(range(0, rows * stride, stride)), tuple(columns))


def element(array: str, places: Iterable[int]) -> Access:
    """The single element `places[k]` of an array, in run k."""
    return Access(array, (0,), tuple(places))


@dataclass(frozen=True)
class MatrixView:
    """A row-major matrix in an array, with methods for the access to its parts.

    In these methods, `starts[k]` is the place from which the rows and columns of a part are counted in run k;
    a single place holds for every run.
    """

    array: str
    width: int
    """The number of elements in a row, padding included."""
    first: int = 0
    """The index of its first element in the array."""

    def index(self, row: int, column: int) -> int:
        """The index in the array of an element."""
        return self.first + self.width * row + column

    def entries(self, places: Iterable[Place], starts: Iterable[Place] = TOP_LEFT) -> Access:
        """The elements at these places."""
        offsets = (self.width * row + column for row, column in starts)
        return Access(self.array, tuple(self.index(*place) for place in places), tuple(offsets))

    def block(
        self, rows: Iterable[int], columns: Sequence[int], starts: Iterable[Place] = TOP_LEFT
    ) -> Access:
        """The elements in these rows and columns, row by row."""
        return self.entries(((row, column) for row in rows for column in columns), starts)

    def row(self, rows: Iterable[int]) -> Access:
        """All elements of row `rows[k]`, in run k."""
        return self.block((0,), range(self.width), ((row, 0) for row in rows))

    def down(self, rows: int, starts: Iterable[Place]) -> Access:
        """A segment of a column: in run k, the `rows` elements from `starts[k]` downwards."""
        return self.block(range(rows), (0,), starts)


@dataclass(frozen=True)
class BlockViews:
    """Square row-major matrices of these sizes, one after the other in an array."""

    array: str
    sizes: tuple[int, ...]

    @property
    def total(self) -> int:
        """The number of elements of all blocks."""
        return sum(size**2 for size in self.sizes)

    def __getitem__(self, k: int) -> MatrixView:
        """Block k."""
        return MatrixView(self.array, self.sizes[k], [0, *accumulate(size**2 for size in self.sizes)][k])

    def entries(self, places: Iterable[Place], blocks: Sequence[int]) -> Access:
        """The elements at these places of block `blocks[k]` in run k. All these blocks have the same size."""
        first = MatrixView(self.array, self.sizes[blocks[0]]).entries(places)
        return Access(self.array, first.elements, tuple(self[k].first for k in blocks))


def lower(size: int) -> list[Place]:
    """The places of a square matrix on its diagonal and below it."""
    return [(i, j) for i in range(size) for j in range(i + 1)]


def square(size: int) -> list[Place]:
    """All places of a square matrix."""
    return [(i, j) for i in range(size) for j in range(size)]


@dataclass(frozen=True)
class Row:
    """Neighbouring runs of a loop that are lanes of one vector."""

    first: int
    """The first of these runs."""
    count: int
    """The number of these runs."""
    before: int
    """The number of idle lanes in front of them."""


def rows_share_places(access: Access, rows: Sequence[Row]) -> bool:
    """Whether the runs of every row share one place in the array."""
    return access.shared or all(
        len(set(access.offsets[row.first : row.first + row.count])) == 1 for row in rows
    )


def in_rows(reads: Collection[Access], writes: Collection[Access], lanes: int) -> list[Row]:
    """Arranges the runs of a loop in rows of at most `lanes` neighbouring runs.

    In a row, the runs write to neighbouring elements of every array. They read neighbouring elements of an
    array, or all read the same ones. Idle lanes read elements that other runs read. The result is empty if no
    such rows exist.
    """
    reads, writes = ([access for access in some if not access.shared] for some in (reads, writes))
    count = max((len(access.offsets) for access in writes), default=0)
    beside = [k for k in range(1, count) if all(_step(access, k) == 1 for access in writes)]
    along = [access for access in reads if 2 * sum(_step(access, k) == 1 for k in beside) > len(beside)]
    joined = {k for k in beside if all(_step(access, k) == (1 if access in along else 0) for access in reads)}
    ends = [(access.offsets, min(access.offsets), max(access.offsets)) for access in along]
    rows: list[Row] = []
    k = 0
    while k < count:
        end = k + 1
        while end in joined and end < k + lanes:
            end += 1
        before = max([0, *(offsets[k] + lanes - 1 - last for offsets, _, last in ends)])
        if any(offsets[k] - before < first for offsets, first, _ in ends):
            return []
        rows.append(Row(k, end - k, before))
        k = end
    return rows


def _step(access: Access, run: int) -> int:
    return access.offsets[run] - access.offsets[run - 1]
