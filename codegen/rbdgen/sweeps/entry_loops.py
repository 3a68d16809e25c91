"""Loops for entries of matrices with a degree of freedom in a lane: on the diagonal and beside a base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rbdgen.access import TOP_LEFT, Access, MatrixView
from rbdgen.sweeps.freedoms import FreedomLanes
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop
from rbdgen.sweeps.numbers import Numbers
from rbdgen.sweeps.records import Kind, of
from rbdgen.sweeps.sweep import BASE, Given, Pairs

Parts = Mapping[str, tuple[int, ...]]
"""Nodes of a graph in named groups."""


@dataclass(frozen=True)
class EntryLoops:
    """The loops for the entries of a sweep over pairs, and the records that loops over pairs read."""

    sweep: Pairs
    lanes: FreedomLanes
    numbers: Numbers
    parts: Parts
    """The nodes of the entries of a degree of freedom, and those of its records."""
    read: Mapping[str, set[int]]
    """The numbers of each record on which entries of pairs depend."""
    kinds: Mapping[str, Kind]
    """The kinds of these records."""

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

    # ---- the records that loops over pairs read

    def reads(
        self, names: Sequence[str], runs: Sequence[int] | None = None, prefix: str = ""
    ) -> Mapping[str, Access]:
        """As in `Records`."""
        return self.numbers.read(self._nodes(names), runs, prefix).accesses

    def given(self, x: State, names: Sequence[str], prefix: str = "") -> Given:
        """As in `Records`. Numbers on which no entry depends are 0."""
        values = self.numbers.read(self._nodes(names), None, prefix).values(x.arrays)
        numbers = {
            name: [values[node] if e in self.read[name] else 0 for e, node in enumerate(self._record(name))]
            for name in names
        }
        return Given(**{name: of(self.kinds[name], own) for name, own in numbers.items()})

    def _nodes(self, names: Sequence[str]) -> list[int]:
        return [self._record(name)[e] for name in names for e in sorted(self.read[name])]

    def _record(self, name: str) -> tuple[int, ...]:
        return self.parts[f"read {name}"]
