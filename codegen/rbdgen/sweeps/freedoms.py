"""The driver for SIMD vectors: the degrees of freedom of one state are the lanes.

It serves robots whose joints all have one degree of freedom, beside a floating base. A record is stored
number by number: first the first number of every degree of freedom, then the second number of every one, and
so on. Neighbouring degrees of freedom therefore fill a vector, both in a step that runs for each of them and
in entries of pairs of them. Sums along the tree are straight lines, which run once for every number of a
record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rbdgen.access import Access, in_rows
from rbdgen.errors import ModelError
from rbdgen.machine import REALS, lanes
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import Scalar, add
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm
from rbdgen.sweeps.records import Kind, flat, of, width
from rbdgen.sweeps.sweep import BASE, INPUTS, Freedoms, Given, Pairs
from rbdgen.sweeps.tables import not_in_loops

WIDE, WIDEST = (lanes(real) for real in REALS)
"""The numbers of lanes of a row of matrix entries. A row has the lanes of a vector of doubles, or, for robots
with at least `WIDEST` degrees of freedom, the lanes of a vector of floats, `WIDEST`.
"""

Step = Callable[[Given], Mapping[str, Any]]


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


@dataclass
class FreedomLanes:
    """Loops over the degrees of freedom of joints, counted from 0 after those of a floating base."""

    reduced: ReducedModel
    sizes: dict[str, int] = field(default_factory=dict)
    """The number of elements of each scratch array and output."""
    kinds: dict[str, Kind] = field(default_factory=dict)
    """The kind of each record that was given."""
    tables: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """The arrays of constants that are stored."""
    constants: dict[str, list[Sequence[Scalar]]] = field(default_factory=dict)
    """The constants of every body, by name."""
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

    def place(self, name: str, runs: Sequence[int] | None = None) -> Access:
        """Where a record of these degrees of freedom lies (of all, if `runs` is None)."""
        runs = range(self.count) if runs is None else runs
        if name in INPUTS:
            return Access(name, (0,), tuple(self.first + k for k in runs))
        size = width(self.kinds[name]) if name in self.kinds else len(self.constants[name][0])
        return Access(name, tuple(self.stride * c for c in range(size)), tuple(runs))

    def new(self, name: str, kind: Kind) -> None:
        self.kinds[name] = kind
        self.sizes[name] = self.stride * width(kind)

    def table(self, name: str, rows: Sequence[Sequence[Scalar]]) -> None:
        """Add constants of the bodies. Only columns in which bodies differ are stored in a table; the others
        are written into the straight lines.
        """
        self.constants[name] = list(rows)
        columns = [column for column in zip(*rows, strict=True) if self._varies(column)]
        room = [0] * (self.stride - self.count)
        self.tables[name] = tuple(x for column in columns for x in (*column, *room))

    @staticmethod
    def _varies(column: Sequence[Scalar]) -> bool:
        return any(x != column[0] for x in column)

    def reads(
        self, names: Sequence[str], runs: Sequence[int] | None = None, prefix: str = ""
    ) -> dict[str, Access]:
        found = {}
        for name in names:
            if name in self.constants:
                width = sum(map(self._varies, zip(*self.constants[name], strict=True)))
                if width:
                    found[name] = Access(
                        name, tuple(self.stride * c for c in range(width)), tuple(range(self.count))
                    )
            else:
                found[prefix + name] = self.place(name, runs)
        return found

    def given(self, x: State, names: Sequence[str], prefix: str = "") -> Given:
        given = Given(naming=x.naming)
        for name in names:
            if name in self.constants:
                read = iter(x.arrays.get(name, ()))
                columns = zip(*self.constants[name], strict=True)
                value: Any = [next(read) if self._varies(column) else column[0] for column in columns]
            elif name in INPUTS:
                value = x.arrays[name][0]
            else:
                value = of(self.kinds[name], x.arrays[prefix + name])
            setattr(given, name, value)
        return given

    # ---- loops

    def freedoms(self, sweep: Freedoms, shared: Mapping[str, Access] | None = None, **places: Access) -> None:
        """Add a loop that runs a step for every degree of freedom.

        `shared` are arrays that all runs read in the same way. `places` says where an output of the step lies
        if it has no array of its own.
        """
        for name, kind in sweep.gives.items():
            if name not in places:
                self.new(name, kind)
        shared = shared or {}

        def trace(x: State) -> Arrays:
            given = self.given(x, sweep.reads)
            vars(given).update({name: x.arrays[name] for name in shared})
            gives = sweep.step(given)
            return {f"new_{name}": flat(kind, gives[name]) for name, kind in sweep.gives.items()}

        self.loops.append(
            FormLoop(
                sweep.name,
                trace,
                {f"new_{name}": places.get(name) or self.place(name) for name in sweep.gives},
                {**self.reads(sweep.reads), **shared},
                count=self.count,
            )
        )

    def outward(self, name: str, root: str | None) -> None:
        """Add a loop that sums every number of a record from the root to the leaves. `root` is the array that
        the sum starts with at the root.
        """

        def trace(x: State) -> Arrays:
            sums: list[Scalar] = []
            for k, above in enumerate(self.parents):
                start = x.arrays["root"][0] if root else 0
                sums.append(add(start if above < 0 else sums[above], x.arrays["own"][k]))
            return {"sum": sums}

        size = width(self.kinds[name])
        own = Access(name, tuple(range(self.count)), tuple(self.stride * c for c in range(size)))
        reads = {"own": own} | ({"root": Access(root, (0,), tuple(range(size)))} if root else {})
        self.loops.append(FormLoop("outward", trace, {"sum": own}, reads, count=size if self.count else 0))

    def inward(self, name: str, root: str | None) -> None:
        """Add a loop that sums every number of a record from the leaves to the root. `root` is the array that
        takes the sum over all.
        """
        inner = sorted({above for above in self.parents if above >= 0})

        def trace(x: State) -> Arrays:
            sums, total = list(x.arrays.get("own", ())), [0]
            for k in reversed(range(self.count)):
                above = self.parents[k]
                if above < 0:
                    total[0] = add(total[0], sums[k])
                else:
                    sums[above] = add(sums[above], sums[k])
            made = {"sum": [sums[k] for k in inner], "total": total}
            return {name: made[name] for name in writes}

        size = width(self.kinds[name])
        offsets = tuple(self.stride * c for c in range(size))
        own = Access(name, tuple(range(self.count)), offsets)
        writes = {"sum": Access(name, tuple(inner), offsets)} if inner else {}
        if root:
            self.sizes[root] = size
            writes["total"] = Access(root, (0,), tuple(range(size)))
        if writes:
            reads = {"own": own} if self.count else {}
            self.loops.append(FormLoop("inward", trace, writes, reads, count=size))

    def pairs(self, sweep: Pairs) -> None:
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
            self._packed(sweep, packs, wide)
            return
        both = [f"{name}_below" for name in sweep.gives if name not in sweep.symmetric]
        self._entries(sweep, sweep.name, sweep.gives, right)
        self._entries(sweep, f"{sweep.name}_below", both, left)
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
        self, sweep: Pairs, name: str, gives: Sequence[str], places: Sequence[tuple[int, int]]
    ) -> None:
        """Add a loop for entries of some matrices at these places (row, column), row by row."""
        below, above = [max(place) for place in places], [min(place) for place in places]

        def trace(x: State) -> Arrays:
            given = self.given(x, sweep.reads)
            given.other = self.given(x, sweep.other_reads, "other_")
            values = sweep.step(given)
            return {f"new_{name}": [values[name]] for name in gives}

        self.loops.append(
            FormLoop(
                name,
                trace,
                {f"new_{name}": self._at(places, name.removesuffix("_below")) for name in gives},
                self.reads(sweep.reads, below) | self.reads(sweep.other_reads, above, "other_"),
                count=len(places),
            )
        )

    def _at(self, places: Sequence[tuple[int, int]], matrix: str = "") -> Access:
        """Where the entries at these places lie, one entry per run."""
        nv, first = self.reduced.nv, self.first
        return Access(matrix, (0,), tuple(nv * (first + i) + first + j for i, j in places))

    def _packed(self, sweep: Pairs, rows: Sequence[Row], wide: int) -> None:
        """Add loops that compute entries on both sides of the diagonal in rows of lanes, then copy them to
        their places.
        """
        entries = [pair for row in rows for pair in row.pairs(wide)]
        names = [*sweep.gives, *(f"{name}_below" for name in sweep.gives if name not in sweep.symmetric)]
        arrays = {name: f"{sweep.name}_{name}" for name in names}
        self.sizes |= dict.fromkeys(arrays.values(), len(entries))

        def trace(x: State) -> Arrays:
            given = self.given(x, sweep.reads)
            given.other = self.given(x, sweep.other_reads, "other_")
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
                    self.reads(sweep.reads, below) | self.reads(sweep.other_reads, above, "other_"),
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
