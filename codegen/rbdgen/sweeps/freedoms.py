"""Loops in which degrees of freedom are the lanes: their arrays, and rows of pairs.

They serve a single state of a robot whose joints, except for a floating base, all have one degree of freedom.
An array has a row for each number, with an element for every degree of freedom. Neighbouring degrees of
freedom therefore fill a vector, both in loops over degrees of freedom and in loops over pairs of them.
`distributed.py` is the driver that makes such loops from sweeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from rbdgen.access import Access, MatrixView
from rbdgen.errors import ModelError
from rbdgen.machine import REALS, lanes
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.looped_bodies import not_in_loops
from rbdgen.sweeps.loops import FormLoop, LoopedForm
from rbdgen.sweeps.sweep import BASE, INPUTS

WIDE, WIDEST = (lanes(real) for real in REALS)
"""The numbers of lanes of a vector of doubles and of a vector of floats. For robots with at least `WIDEST`
degrees of freedom, a row of matrix entries has `WIDEST` lanes; for others it has at most `WIDE`.
"""


@dataclass(frozen=True)
class Row:
    """Pairs of degrees of freedom that may be the lanes of one vector.

    Lane k pairs degree of freedom `below + k` with `above + k` if `along` is set, and else with `above`
    itself.
    """

    below: int
    above: int
    along: bool

    def pairs(self, count: int) -> list[tuple[int, int]]:
        """The pairs of the first `count` lanes."""
        return [(self.below + k, self.above + k * self.along) for k in range(count)]


def freedoms_fill(model: Model) -> bool:
    """Whether the robot has enough joints to fill a vector, each with one degree of freedom."""
    return len(model.bodies) - model.is_floating >= WIDE and not_in_loops(model) is None


@dataclass
class FreedomLanes:
    """Loops over the degrees of freedom of joints, counted from 0 after those of a floating base."""

    reduced: ReducedModel
    sizes: dict[str, int] = field(default_factory=dict)
    """The number of elements of each scratch array and output."""
    tables: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """The arrays of constants that are stored."""
    loops: list[FormLoop] = field(default_factory=list)

    def __post_init__(self) -> None:
        refused = not_in_loops(self.reduced.model)
        if refused is not None:
            raise ModelError(f"model '{self.reduced.model.name}': {refused}; choose another form")

    @property
    def first(self) -> int:
        """The first degree of freedom that belongs to a joint."""
        return BASE if self.reduced.model.is_floating else 0

    @property
    def count(self) -> int:
        """The number of degrees of freedom of joints."""
        return self.reduced.nv - self.first

    @property
    def stride(self) -> int:
        """The number of elements of a row: `count`, rounded up to whole vectors of doubles."""
        return -(-self.count // WIDE) * WIDE

    @property
    def parents(self) -> list[int]:
        """For every degree of freedom, the one directly above it, or -1 if there is none."""
        skipped = 1 if self.first else 0
        bodies = self.reduced.bodies[skipped:]
        return [-1 if body.parent == WORLD else body.parent - skipped for body in bodies]

    # ---- arrays

    def rows(self, array: str, rows: Iterable[int], runs: Iterable[int]) -> Access:
        """The access that reads, in run k, the elements of degree of freedom `runs[k]` in these rows."""
        return MatrixView(array, self.stride).entries(((row, 0) for row in rows), ((0, k) for k in runs))

    def along(self, array: str, rows: Iterable[int]) -> Access:
        """The access that reads, in run k, row `rows[k]`: one number of every degree of freedom."""
        return MatrixView(array, self.stride).block((0,), range(self.count), ((row, 0) for row in rows))

    def new(self, name: str, rows: int) -> str:
        """Make an array of `rows` rows. The result is its name: a number is appended if `name` is taken."""
        return self._named(name, self.sizes, self.stride * rows)

    def new_table(self, name: str, values: Sequence[Scalar]) -> str:
        """Make a table of constants. The result is its name."""
        return self._named(name, self.tables, tuple(values))

    @staticmethod
    def _named(name: str, taken: dict[str, Any], value: Any) -> str:
        names = chain([name], (f"{name}{k}" for k in count(2)))
        found = next(x for x in names if x not in taken and x not in INPUTS)
        taken[found] = value
        return found

    def form(self, outputs: Mapping[str, int]) -> LoopedForm:
        """The form with these loops. `outputs` gives the sizes of the function's outputs."""
        scratch = {name: size for name, size in self.sizes.items() if size and name not in outputs}
        tables = {name: values for name, values in self.tables.items() if values}
        return LoopedForm(tuple(loop for loop in self.loops if loop.count), outputs, scratch, tables, True)


def ancestor_pairs(parents: Sequence[int]) -> list[tuple[int, int]]:
    """All pairs (j, i) of a degree of freedom j and one of its ancestors i."""
    found = []
    for j in range(len(parents)):
        i = parents[j]
        while i >= 0:
            found.append((j, i))
            i = parents[i]
    return found


def cover(parents: Sequence[int], wide: int) -> list[Row]:
    """Rows of `wide` lanes that together contain all ancestor pairs.

    The cover is greedy: each row that is added contains as many of the pairs that are left as possible.
    """
    left = set(ancestor_pairs(parents))
    starts = range(len(parents) - wide + 1)
    every = [Row(j, i, False) for j in starts for i in range(len(parents))]
    every += [Row(j, i, True) for j in starts for i in starts if i < j]
    rows: list[Row] = []
    while left:
        best = max(every, key=lambda row: (len(left.intersection(row.pairs(wide))), row.below % wide == 0))
        left.difference_update(best.pairs(wide))
        rows.append(best)
    return sorted(rows, key=lambda row: (row.along, row.below, row.above))
