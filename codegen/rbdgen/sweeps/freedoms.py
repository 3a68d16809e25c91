"""Loops in which degrees of freedom are the lanes: their arrays, and matrix entries of pairs.

They serve one state of robots whose joints all have one degree of freedom, beside a floating base. An array
has a row for each number, with an element for every degree of freedom. Neighbouring degrees of freedom
therefore fill a vector, both in a loop that runs for each of them and in entries of pairs of them.
`distributed.py` is the driver that makes such loops of sweeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any, Protocol

from rbdgen.access import Access, MatrixView, in_rows
from rbdgen.errors import ModelError
from rbdgen.machine import REALS, lanes
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm
from rbdgen.sweeps.sweep import BASE, INPUTS, Given, Pairs
from rbdgen.sweeps.tables import not_in_loops

WIDE, WIDEST = (lanes(real) for real in REALS)
"""The numbers of lanes of a row of matrix entries. A row has the lanes of a vector of doubles, or, for robots
with at least `WIDEST` degrees of freedom, the lanes of a vector of floats, `WIDEST`.
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
        return [(self.below + k, self.above + k * self.along) for k in range(count)]


def freedoms_fill(model: Model) -> bool:
    """Whether the robot has enough joints to fill a vector, each with one degree of freedom."""
    return len(model.bodies) - model.is_floating >= WIDE and not_in_loops(model) is None


class Records(Protocol):
    """The records of degrees of freedom, for loops over pairs of them."""

    def reads(self, names: Sequence[str], runs: Sequence[int], prefix: str = "") -> Mapping[str, Access]:
        """What a loop reads for these records: run k reads those of degree of freedom `runs[k]`. `prefix` is
        put before the names of arrays.
        """

    def given(self, x: State, names: Sequence[str], prefix: str = "") -> Given:
        """The records, from the arrays that a run has read."""


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
        return self.reduced.nv - self.first

    @property
    def stride(self) -> int:
        return -(-self.count // WIDE) * WIDE

    @property
    def parents(self) -> list[int]:
        """For every degree of freedom, the one directly above it, or -1 if there is none."""
        skipped = 1 if self.first else 0
        bodies = self.reduced.bodies[skipped:]
        return [-1 if body.parent == WORLD else body.parent - skipped for body in bodies]

    # ---- arrays

    def rows(self, array: str, rows: Iterable[int], runs: Iterable[int]) -> Access:
        """In run k, the elements of degree of freedom `runs[k]` in these rows."""
        return MatrixView(array, self.stride).entries(((row, 0) for row in rows), ((0, k) for k in runs))

    def along(self, array: str, rows: Iterable[int]) -> Access:
        """In run k, row `rows[k]`: a number of every degree of freedom."""
        return MatrixView(array, self.stride).block((0,), range(self.count), ((row, 0) for row in rows))

    def new(self, name: str, rows: int) -> str:
        """Make an array of so many rows. The result is its name, which gets a number if it is taken."""
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

    # ---- loops

    def pairs(self, sweep: Pairs, records: Records) -> None:
        """Add the loops for matrix entries between degrees of freedom of joints.

        Where limbs are long, entries right of the diagonal are computed in rows of descendants, and those
        left of it in rows of ancestors. Otherwise neighbours on several limbs share a vector, and the results
        are copied to their places; such a copy takes about an eighth of a vector's time for each pair.
        """
        pairs = ancestor_pairs(self.parents)
        right, left = sorted((i, j) for j, i in pairs), sorted(pairs)
        wide = WIDEST if self.count >= WIDEST else min(WIDE, self.count)
        packs = cover(self.parents, wide)
        vectors = sum(len(in_rows((), [self._at(places)], WIDE)) for places in (right, left))
        if vectors > 2 * len(packs) * wide / WIDE + len(pairs) / 8:
            self._packed(sweep, records, packs, wide)
            return
        both = [f"{name}_below" for name in sweep.gives if name not in sweep.symmetric]
        self._entries(sweep, records, sweep.name, sweep.gives, right)
        self._entries(sweep, records, f"{sweep.name}_below", both, left)
        for name in sweep.symmetric:
            self.loops.append(
                FormLoop(
                    f"{sweep.name}_mirrored",
                    lambda x: {"mirrored": x.arrays["entry"]},
                    {"mirrored": self._at(pairs, name)},
                    {"entry": self._at([(i, j) for j, i in pairs], name)},
                    count=len(pairs),
                )
            )

    def _entries(
        self,
        sweep: Pairs,
        records: Records,
        name: str,
        gives: Sequence[str],
        places: Sequence[tuple[int, int]],
    ) -> None:
        """Add a loop for entries of some matrices at these places (row, column), row by row."""
        below, above = [max(place) for place in places], [min(place) for place in places]

        def trace(x: State) -> Arrays:
            given = records.given(x, sweep.reads)
            given.other = records.given(x, sweep.other_reads, "other_")
            values = sweep.step(given)
            return {f"new_{name}": [values[name]] for name in gives}

        self.loops.append(
            FormLoop(
                name,
                trace,
                {f"new_{name}": self._at(places, name.removesuffix("_below")) for name in gives},
                {**records.reads(sweep.reads, below), **records.reads(sweep.other_reads, above, "other_")},
                count=len(places),
            )
        )

    def _at(self, places: Sequence[tuple[int, int]], matrix: str = "") -> Access:
        """Where the entries at these places lie, one entry per run."""
        nv, first = self.reduced.nv, self.first
        return Access(matrix, (0,), tuple(nv * (first + i) + first + j for i, j in places))

    def _packed(self, sweep: Pairs, records: Records, rows: Sequence[Row], wide: int) -> None:
        """Add loops that compute entries on both sides of the diagonal in rows of lanes, then copy them to
        their places.
        """
        entries = [pair for row in rows for pair in row.pairs(wide)]
        names = [*sweep.gives, *(f"{name}_below" for name in sweep.gives if name not in sweep.symmetric)]
        arrays = {name: f"{sweep.name}_{name}" for name in names}
        self.sizes |= dict.fromkeys(arrays.values(), len(entries))

        def trace(x: State) -> Arrays:
            given = records.given(x, sweep.reads)
            given.other = records.given(x, sweep.other_reads, "other_")
            values = sweep.step(given)
            return {f"new_{name}": [values[name]] for name in names}

        for along in (False, True):
            runs = [
                wide * k + lane for k, row in enumerate(rows) if row.along == along for lane in range(wide)
            ]
            below, above = ([entries[k][end] for k in runs] for end in range(2))
            self.loops.append(
                FormLoop(
                    sweep.name,
                    trace,
                    {f"new_{name}": Access(arrays[name], (0,), tuple(runs)) for name in names},
                    {
                        **records.reads(sweep.reads, below),
                        **records.reads(sweep.other_reads, above, "other_"),
                    },
                    count=len(runs),
                )
            )
        self._put(sweep, arrays, entries)

    def _put(self, sweep: Pairs, arrays: Mapping[str, str], entries: Sequence[tuple[int, int]]) -> None:
        """Add the loop that copies to the matrices those entries that are in the rows of lanes and belong to
        a pair.
        """
        nv, first = self.reduced.nv, self.first
        where = {pair: k for k, pair in enumerate(entries)}
        pairs = ancestor_pairs(self.parents)
        source = tuple(where[pair] for pair in pairs)
        above = tuple(nv * (first + i) + first + j for j, i in pairs)
        below = tuple(nv * (first + j) + first + i for j, i in pairs)
        both = {f"{name}_below": name if name in sweep.symmetric else f"{name}_below" for name in sweep.gives}
        taken = {**{name: name for name in sweep.gives}, **both}
        self.loops.append(
            FormLoop(
                f"{sweep.name}_put",
                lambda x: {f"new_{name}": list(x.arrays[given]) for name, given in taken.items()},
                {
                    f"new_{name}": Access(name.removesuffix("_below"), (0,), below if name in both else above)
                    for name in taken
                },
                {name: Access(array, (0,), source) for name, array in arrays.items()},
                count=len(pairs),
            )
        )

    def clear(self, matrices: Sequence[str]) -> None:
        """Add loops that write zeros into the rows of all joints."""
        nv = self.reduced.nv
        places = tuple(range(nv * self.first, nv * nv))
        for matrix in matrices:
            zero = {"zero": Access(matrix, (0,), places)}
            self.loops.append(FormLoop("clear", lambda _: {"zero": [0]}, zero, count=len(places)))

    def form(self, outputs: Mapping[str, int]) -> LoopedForm:
        scratch = {name: size for name, size in self.sizes.items() if size and name not in outputs}
        tables = {name: values for name, values in self.tables.items() if values}
        return LoopedForm(tuple(loop for loop in self.loops if loop.count), outputs, scratch, tables, True)


def ancestor_pairs(parents: Sequence[int]) -> list[tuple[int, int]]:
    """All pairs of a degree of freedom and one of its ancestors."""
    found = []
    for j in range(len(parents)):
        i = parents[j]
        while i >= 0:
            found.append((j, i))
            i = parents[i]
    return found


def cover(parents: Sequence[int], wide: int) -> list[Row]:
    """Rows of `wide` lanes that together contain all ancestor pairs.

    This is a greedy cover: each row is the one that contains the most pairs that are left.
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
