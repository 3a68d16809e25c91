"""Loops for entries of matrices, in which each lane has a degree of freedom or a pair of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rbdgen.access import TOP_LEFT, Access, MatrixView, Place, element, in_rows
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.freedoms import WIDE, WIDEST, FreedomLanes, Row, ancestor_pairs, cover
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop, cleared, copied
from rbdgen.sweeps.numbers import Numbers
from rbdgen.sweeps.records import Kind, of
from rbdgen.sweeps.sweep import BASE, Given, Pairs

Parts = Mapping[str, tuple[int, ...]]
"""Nodes of a graph in named groups."""


@dataclass(frozen=True)
class EntryLoops:
    """The loops for the entries of a sweep over pairs."""

    sweep: Pairs
    lanes: FreedomLanes
    numbers: Numbers
    parts: Parts
    """The nodes of the entries of a degree of freedom, and those of its records."""
    read: Mapping[str, set[int]]
    """The numbers of each record on which entries of pairs depend."""
    kinds: Mapping[str, Kind]
    """The kinds of these records."""

    def clear(self) -> list[FormLoop]:
        """The loops that write zeros to the rows of all joints."""
        lanes, nv = self.lanes, self.lanes.reduced.nv
        places = range(nv * lanes.first, nv * nv)
        return [cleared(element(name, places)) for name in self.sweep.gives]

    def diagonal(self) -> FormLoop:
        """The entries of degrees of freedom with themselves."""
        lanes = self.lanes
        nv, entries = lanes.reduced.nv, {}
        for name in self.sweep.gives:
            at = MatrixView(name, nv).entries(TOP_LEFT, ((k, k) for k in range(lanes.first, nv)))
            entries[name] = at, self.parts[f"own {name}"]
        return self._loop("put", entries)

    def beside_base(self) -> list[FormLoop]:
        """The entries in the rows and in the columns of a floating base. Those that are 0 in a column were
        cleared before.
        """
        nv, joints = self.lanes.reduced.nv, range(self.lanes.first, self.lanes.reduced.nv)
        rows, columns = {}, {}
        for name in self.sweep.gives:
            row, column = self.parts[f"row {name}"], self.parts[f"column {name}"]
            rows[name] = MatrixView(name, nv).down(BASE, ((0, k) for k in joints)), row
            kept = [k for k in range(BASE) if not self.numbers.is_zero(column[k])]
            if kept:
                at = MatrixView(name, nv).block((0,), kept, ((k, 0) for k in joints))
                columns[name] = at, tuple(column[k] for k in kept)
        return [self._loop("base_rows", rows), self._loop("base_columns", columns)]

    def _loop(self, name: str, entries: Mapping[str, tuple[Access, tuple[int, ...]]]) -> FormLoop:
        """A loop that writes nodes to places of matrices."""
        reading = self.numbers.read([node for _, nodes in entries.values() for node in nodes])

        def trace(x: State) -> Arrays:
            values = reading.values(x.arrays)
            return {f"new_{matrix}": [values[k] for k in nodes] for matrix, (_, nodes) in entries.items()}

        writes = {f"new_{matrix}": place for matrix, (place, _) in entries.items()}
        return FormLoop(name, trace, writes, reading.accesses, count=self.lanes.count if writes else 0)

    # ---- pairs of degrees of freedom of joints

    def of_pairs(self) -> list[FormLoop]:
        """The loops for the entries between a degree of freedom and each one above it.

        If limbs are long, a vector right of the diagonal has neighbouring descendants of one degree of
        freedom, and a vector left of it has neighbouring ancestors. Otherwise pairs from several limbs share
        a vector, and the results are copied to their places. For each pair, such a copy takes about an eighth
        of the time of a vector.
        """
        lanes, sweep = self.lanes, self.sweep
        pairs = ancestor_pairs(lanes.parents)
        right, left = sorted(map(_mirrored, pairs)), sorted(pairs)
        wide = WIDEST if lanes.count >= WIDEST else min(WIDE, lanes.count)
        packs = cover(lanes.parents, wide)
        vectors = sum(len(in_rows((), [self._at(places)], WIDE)) for places in (right, left))
        if vectors > 2 * len(packs) * wide / WIDE + len(pairs) / 8:
            return self._packed(packs, wide, pairs)
        below = [f"{name}_below" for name in sweep.gives if name not in sweep.symmetric]
        return [
            self._steps(
                sweep.name, list(map(_mirrored, right)), {name: self._at(right, name) for name in sweep.gives}
            ),
            self._steps(f"{sweep.name}_below", left, {name: self._at(left, name) for name in below}),
            *(
                copied(f"{sweep.name}_mirrored", self._at(map(_mirrored, pairs), name), self._at(pairs, name))
                for name in sweep.symmetric
            ),
        ]

    def _packed(self, rows: Sequence[Row], wide: int, pairs: Sequence[Place]) -> list[FormLoop]:
        """The loops that compute entries on both sides of the diagonal in rows of lanes, and the loop that
        copies the entries of `pairs` to their places.
        """
        sweep, entries = self.sweep, [pair for row in rows for pair in row.pairs(wide)]
        mirrored = {f"{x}_below": x if x in sweep.symmetric else f"{x}_below" for x in sweep.gives}
        arrays = {name: f"{sweep.name}_{name}" for name in dict.fromkeys((*sweep.gives, *mirrored.values()))}
        self.lanes.sizes |= dict.fromkeys(arrays.values(), len(entries))
        loops = []
        for along in (False, True):
            runs = [
                wide * k + lane for k, row in enumerate(rows) if row.along == along for lane in range(wide)
            ]
            places = {name: element(array, runs) for name, array in arrays.items()}
            loops.append(self._steps(sweep.name, [entries[k] for k in runs], places))
        where = {pair: k for k, pair in enumerate(entries)}
        taken = {**dict(zip(sweep.gives, sweep.gives, strict=True)), **mirrored}
        put = FormLoop(
            f"{sweep.name}_put",
            lambda x: {f"new_{name}": list(x.arrays[given]) for name, given in taken.items()},
            {
                f"new_{name}": self._at(pairs if name in mirrored else map(_mirrored, pairs), name)
                for name in taken
            },
            {name: element(array, (where[pair] for pair in pairs)) for name, array in arrays.items()},
            count=len(pairs),
        )
        return [*loops, put]

    def _steps(self, name: str, pairs: Sequence[Place], writes: Mapping[str, Access]) -> FormLoop:
        """A loop that runs the step for pairs of a degree of freedom and one above it, and writes the entries
        that `writes` names.
        """
        sweep = self.sweep
        below, above = ([pair[end] for pair in pairs] for end in range(2))
        own = self.numbers.read(self._nodes(sweep.reads), below)
        others = self.numbers.read(self._nodes(sweep.other_reads), above, "other_")

        def trace(x: State) -> Arrays:
            given = self._given(sweep.reads, own.values(x.arrays))
            given.other = self._given(sweep.other_reads, others.values(x.arrays))
            values = sweep.step(given)
            return {f"new_{name}": [values[name]] for name in writes}

        places = {f"new_{name}": place for name, place in writes.items()}
        return FormLoop(name, trace, places, {**own.accesses, **others.accesses}, count=len(pairs))

    def _given(self, names: Sequence[str], values: Mapping[int, Scalar]) -> Given:
        """The records of these names. Numbers on which no entry depends are 0."""
        numbers = {
            name: [values[node] if e in self.read[name] else 0 for e, node in enumerate(self._record(name))]
            for name in names
        }
        return Given(**{name: of(self.kinds[name], own) for name, own in numbers.items()})

    def _nodes(self, names: Sequence[str]) -> list[int]:
        return [self._record(name)[e] for name in names for e in sorted(self.read[name])]

    def _record(self, name: str) -> tuple[int, ...]:
        return self.parts[f"read {name}"]

    def _at(self, places: Iterable[Place], name: str = "") -> Access:
        """The entries at these places, one entry per run."""
        nv, first = self.lanes.reduced.nv, self.lanes.first
        matrix = MatrixView(name.removesuffix("_below"), nv)
        return matrix.entries(TOP_LEFT, ((first + i, first + j) for i, j in places))


def _mirrored(place: Place) -> Place:
    row, column = place
    return column, row
