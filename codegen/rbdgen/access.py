"""Where the arrays of a straight line lie when it runs several times: the addressing of a program's loops."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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

    @property
    def apart(self) -> bool:
        """Whether runs have rows of a matrix: neighbouring elements, as far from those of the next run."""
        step = self.offsets[1] - self.offsets[0] if len(self.offsets) > 1 else 0
        return (
            step >= len(self.elements) > 1
            and all(b == a + step for a, b in zip(self.offsets, self.offsets[1:], strict=False))
            and all(b == a + 1 for a, b in zip(self.elements, self.elements[1:], strict=False))
        )

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


@dataclass(frozen=True)
class Row:
    """Neighbouring runs that are lanes of one vector: the first, how many, and idle lanes before them."""

    first: int
    count: int
    before: int


def held(access: Access, rows: Sequence[Row]) -> bool:
    """Whether the runs of every row share the array."""
    return access.shared or all(
        len(set(access.offsets[row.first : row.first + row.count])) == 1 for row in rows
    )


def in_rows(reads: Collection[Access], writes: Collection[Access], lanes: int) -> list[Row]:
    """The runs in rows of at most so many lanes: what they write lies side by side, and so does what they
    read, or they share it. Idle lanes read what other runs read. Empty where there are no such rows.
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
