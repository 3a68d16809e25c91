"""The driver for SIMD vectors: sweeps as loops in which the degrees of freedom of one state are the lanes.

A body waits for the record of its parent, so bodies cannot be lanes as they stand. But in a common frame most
numbers of a record are sums: the velocity of a body is that of its parent plus that of the joint, and the
force on a subtree is a sum over its bodies. The operations between such sums are the same for every degree of
freedom and need no result of another one. The driver therefore traces every step once, on symbols
(`one_freedom.py`), cuts the graph at the sums (`stages.py`), and makes these loops:

    placing    one straight line: serial numbers, which are no sums, such as poses; and a floating base
    a stage    all operations on sums that are known by then, with the degrees of freedom as lanes
    outward    running sums from the root to the leaves, a run for each number (`running_sums.py`)
    inward     running sums from the leaves to the root, a run for each number
    ...        further stages, and the sums of what they computed
    entries    of matrices: for degrees of freedom, and for pairs of them (`entry_loops.py`)

A number that two stages need is stored in a row of an array, with an element for every degree of freedom
(`numbers.py`). Numbers are stored one by one. Fields of a record that nothing reads are therefore not
computed, sums of constants are rows of a table, and of two fields that are multiples of each other one is
stored. A floating base is computed in straight lines (`base_line.py`).

The driver serves robots whose joints have one degree of freedom, beside a floating base. It runs sweeps of
the kinds `Outward`, `Freedoms`, `Pairs`, and `Inward` if sums are handed on unchanged. `Between` puts other
loops between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias

from rbdgen.access import Access, MatrixView, element, whole
from rbdgen.errors import GraphError
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import Scalar, is_number, mul
from rbdgen.sweeps.base_line import TOTAL, FloatingBase, Number, Totals
from rbdgen.sweeps.entry_loops import EntryLoops
from rbdgen.sweeps.freedoms import FreedomLanes
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped_bodies import screw
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm
from rbdgen.sweeps.numbers import CONSTANTS, Home, Numbers, Rows
from rbdgen.sweeps.one_freedom import (
    BASE_NUMBERS,
    KINDS,
    MOMENTS,
    OneFreedom,
    Sum,
    entries_read,
    with_opposite,
)
from rbdgen.sweeps.records import flat, of, width
from rbdgen.sweeps.running_sums import inward_loop, inward_sums, outward_loop, outward_sums
from rbdgen.sweeps.stages import Schedule, Wait, inputs_of, schedule
from rbdgen.sweeps.straight import of_world, straight
from rbdgen.sweeps.sweep import BASE, INPUTS, Climb, Freedoms, Given, Inward, Outward, Pairs, Sweep

PLACED = "placed"
"""The array of serial numbers, which are no sums."""


@dataclass(frozen=True)
class Between:
    """Loops that stand between sweeps: they read what earlier sweeps gave and make inputs of later ones."""

    name: str
    reads: Sequence[str]
    """The records that these loops read. All numbers of a record are stored, in order, in an array of its
    name.
    """
    gives: Sequence[str]
    """The inputs that they write, such as `a`, each to an array with a number per degree of freedom."""
    loops: Callable[[Totals], Sequence[FormLoop]]
    """Makes the loops. It is given the places of the sums over all joints."""
    totals: Sequence[str] = ()
    """The sums over all joints that the loops read at a floating base."""


Step: TypeAlias = Sweep | Between


def by_freedoms(reduced: ReducedModel, outputs: Sequence[str], *sweeps: Sweep) -> LoopedForm:
    """The loops of these sweeps. `outputs` names the matrices, of nv x nv, that the function returns."""
    lanes = FreedomLanes(reduced)
    Distributed(lanes, sweeps).run()
    return lanes.form(dict.fromkeys(outputs, reduced.nv**2))


class Distributed:
    """The loops of some sweeps, which `run` adds to `lanes`."""

    def __init__(self, lanes: FreedomLanes, sweeps: Sequence[Step], *, block: bool = True) -> None:
        """`block` says whether the entries between the degrees of freedom of a floating base are computed."""
        self.lanes, self.steps, self.block = lanes, sweeps, block
        self.sweeps = [sweep for sweep in sweeps if not isinstance(sweep, Between)]
        for sweep in self.sweeps:
            if isinstance(sweep, Climb):
                raise GraphError(
                    f"sweep '{sweep.name}': lanes over degrees of freedom cannot climb; use Pairs"
                )
        self.between = [sweep for sweep in sweeps if isinstance(sweep, Between)]
        reduced, joints = lanes.reduced, slice(1 if lanes.first else 0, None)
        rows: Rows = {
            KINDS: [screw(body) for body in reduced.bodies[joints]],
            MOMENTS: [flat(MassMoments, own) for own in reduced.moments[joints]],
        }
        late = {name for loops in self.between for name in loops.gives}
        self.base = FloatingBase(reduced, self.sweeps, late) if lanes.first else None
        self.read: dict[str, set[int]] = {}
        self.one = OneFreedom(rows, of_world(reduced))
        self._trace()
        graph, self.parts, sums, serial = self.one.graph()
        self.serial = [number for number in serial if graph.nodes[number[2]].op != "const"]
        self.numbers = Numbers(graph, lanes, rows)
        self._place_known()
        self.totals = Totals(self.one.kinds)
        self.sums = self._running(sums)
        self.waiting: list[Sum | Between] = [*self.sums, *self.between]
        self.waits = self._waits()
        self.schedule = self._scheduled()

    def run(self) -> None:
        """Add all loops."""
        lanes = self.lanes
        ends = list(zip(self.waiting, map(self.schedule.after, self.waits), strict=True))
        pairs = [(k, sweep) for k, sweep in enumerate(self.sweeps) if isinstance(sweep, Pairs)]
        lanes.sizes |= {name: lanes.reduced.nv**2 for _, sweep in pairs for name in sweep.gives}
        self.roots = {x: self._root(x) for x, end in ends if isinstance(x, Sum) and end is not None}
        lanes.loops.append(self._placing())
        for stage in range(self.schedule.count):
            self._stage(stage, [x for x, end in ends if end == stage])
        for k, sweep in pairs:
            entries = EntryLoops(sweep, lanes, self.numbers, self.parts, self.read, self.one.kinds)
            lanes.loops += entries.clear()
            if self.base:
                lanes.loops += entries.beside_base()
                lanes.loops += [self.base.block(self.sweeps[:k], sweep, self.totals)] if self.block else []
            lanes.loops += [entries.diagonal(), *entries.of_pairs()]
        lanes.sizes[TOTAL] = len(self.totals.places)
        lanes.tables[CONSTANTS] = self.numbers.table

    # ---- what is computed

    def _trace(self) -> None:
        """Trace all sweeps at one degree of freedom."""
        one = self.one
        for sweep in self.steps:
            if isinstance(sweep, Outward):
                one.outward(sweep)
            elif isinstance(sweep, Inward):
                one.inward(sweep)
            elif isinstance(sweep, Freedoms):
                one.freedoms(sweep)
            elif isinstance(sweep, Between):
                one.parts |= {f"{sweep.name} {name}": one.numbers(name) for name in sweep.reads}
            elif isinstance(sweep, Pairs):
                self.read |= entries_read(sweep, one.kinds)
                one.pairs(sweep)
                if self.base:
                    one.beside(sweep, self._base_freedoms(sweep, self.base))

    def _base_freedoms(self, sweep: Pairs, base: FloatingBase) -> list[Given]:
        """The records that entries read at each degree of freedom of a floating base, made of symbols."""
        symbols = self.one.engine.symbols(BASE_NUMBERS, base.size)
        kinds = {name: self.one.kinds[name] for name in sweep.other_reads}

        def number(name: str, k: int, e: int) -> Scalar:
            found = base.number(Number(name, k, e)) if e in self.read[name] else 0
            return mul(found.factor, symbols[found.row]) if isinstance(found, Home) else found

        return [
            Given(**{n: of(kind, [number(n, k, e) for e in range(width(kind))]) for n, kind in kinds.items()})
            for k in range(BASE)
        ]

    def _place_known(self) -> None:
        """Record where serial numbers, inputs and the numbers of a floating base are stored."""
        numbers = self.numbers
        for row, (_, _, node) in enumerate(self.serial):
            for other, sign in with_opposite(numbers.graph, node).items():
                numbers.places[other] = Home(PLACED, row, sign)
        for k in range(len(numbers.graph.nodes)):
            array, row = numbers.source(k)
            if array in (*INPUTS, BASE_NUMBERS):
                numbers.places[k] = Home(array, row, shared=array == BASE_NUMBERS)
        numbers.spread()

    def _running(self, sums: Sequence[Sum]) -> list[Sum]:
        """The sums that loops compute. The others have constant terms: they are computed here, and are added
        to the constants.
        """
        constants, parents, left = self.numbers.constants, self.lanes.parents, list(sums)
        while known := [own for own in left if own.term in constants and is_number(self._root(own))]:
            for own in known:
                left.remove(own)
                terms = constants[own.term]
                if own.outward:
                    constants[own.own], constants[own.above] = outward_sums(terms, parents, self._root(own))
                else:
                    constants[own.own], total = inward_sums(terms, parents)
                    self.totals.known[own.record, own.element] = total
            self.numbers.spread()
        return left

    def _root(self, own: Sum) -> Scalar | Home:
        """The start of a sum at the root: a constant, or the place of a number of a floating base."""
        if not own.outward:
            return 0
        if self.base:
            return self.base.root(own.record, own.element)
        sweep = next(x for x in self.sweeps if isinstance(x, Outward) and x.carries == own.record)
        return flat(sweep.gives[own.record], sweep.world(self.one.world))[own.element]

    def _waits(self) -> list[Wait]:
        """The waits for all bodies: first those of sums, then those of loops between sweeps."""
        numbers = self.numbers
        waits = [Wait((own.term,), (own.own, own.above) if own.outward else (own.own,)) for own in self.sums]
        for loops in self.between:
            terms = [node for name in loops.reads for node in self.parts[f"{loops.name} {name}"]]
            terms += [own.own for own in self.sums if own.record in loops.totals]
            inputs = [k for k in range(len(numbers.graph.nodes)) if numbers.source(k)[0] in loops.gives]
            waits.append(Wait(tuple(terms), tuple(inputs)))
        return waits

    def _scheduled(self) -> Schedule:
        """The stages of all numbers that are needed: by entries, by other loops and by a floating base."""
        # Entries in the rows and columns of a floating base take few operations, on numbers that the loops
        # over pairs read anyway, so they may be computed after the stages.
        beside = ("row ", "column ")
        entries = [node for name, nodes in self.parts.items() if name.startswith(beside) for node in nodes]
        needed = [node for name, nodes in self.parts.items() if name.startswith("own ") for node in nodes]
        needed += [self.parts[f"read {name}"][e] for name, read in self.read.items() for e in read]
        needed += [node for wait in self.waits[len(self.sums) :] for node in wait.terms]
        if self.base and self.block:
            needed += [own.own for own in self.sums if not own.outward]
        rows = {node for node, place in self.numbers.places.items() if place.array == PLACED}
        return schedule(self.numbers.graph, self.numbers.given, self.waits, needed, entries, rows)

    # ---- the loops

    def _placing(self) -> FormLoop:
        """The straight line that computes serial numbers, and the array `base` of a floating base."""
        lanes, base, kinds = self.lanes, self.base, self.one.kinds
        n, nv, first = lanes.count, lanes.reduced.nv, 1 if lanes.first else 0
        of_base = base.stored if base else {}
        records = {name for name, *_ in self.serial} | {number.record for number, _ in of_base.values()}
        outward = [sweep for sweep in self.sweeps if isinstance(sweep, Outward)]
        while outward and records.isdisjoint(outward[-1].gives):
            outward.pop()
        read = inputs_of(self.numbers.graph, {node for *_, node in self.serial})
        read |= base.inputs if base else set()
        inputs = ("q", *(name for name in INPUTS if name in read))
        writes = {}
        if self.serial and n:
            lanes.sizes[PLACED] = lanes.stride * len(self.serial)
            writes[PLACED] = MatrixView(PLACED, lanes.stride).block(range(len(self.serial)), range(n))
        if of_base:
            lanes.sizes[BASE_NUMBERS] = len(of_base)
            writes[BASE_NUMBERS] = whole(BASE_NUMBERS, len(of_base))

        def trace(x: State) -> Arrays:
            v, a, tau = (getattr(x, name) if name in inputs else [0] * nv for name in INPUTS)
            line = straight(lanes.reduced, replace(x, v=v, a=a, tau=tau)).run(*outward)
            rows = {name: [flat(kinds[name], own) for own in line[name][first:]] for name, *_ in self.serial}
            found = {PLACED: [row[e] for name, e, _ in self.serial for row in rows[name]]}
            found[BASE_NUMBERS] = base.numbers(line, kinds) if base else []
            return {name: found[name] for name in writes}

        return FormLoop("placing", trace, writes, inputs=inputs, count=1 if writes else 0)

    def _stage(self, stage: int, ready: Sequence[Sum | Between]) -> None:
        """Add the loop of a stage, and the loops that can run after it: sums, and loops between sweeps."""
        lanes, numbers = self.lanes, self.numbers
        sums = [x for x in ready if isinstance(x, Sum)]
        between = [x for x in ready if isinstance(x, Between)]
        groups = {record: list(group) for record, group in groupby(sums, lambda own: own.record)}
        arrays = {lanes.new(record, len(group)): group for record, group in groups.items()}
        terms = {array: dict(enumerate(own.term for own in group)) for array, group in arrays.items()}
        kept = self._kept(stage)
        follows = [*groups, *(loops.name for loops in between)]
        self._add(f"{follows[0]}_terms" if follows else "columns", {**terms, **kept})
        for array, nodes in kept.items():
            numbers.places |= {x: Home(array, k) for k, x in nodes.items() if x not in numbers.given}
        for array, group in arrays.items():
            self._sum(array, group)
        lanes.loops += [loop for loops in between for loop in loops.loops(self.totals)]

    def _kept(self, stage: int) -> dict[str, dict[int, int]]:
        """The numbers that a stage stores for others: for each array, the nodes by their rows."""
        found: dict[str, dict[int, int]] = {}
        named: set[int] = set()
        for loops in self.between:
            for name in loops.reads:
                nodes = self.parts[f"{loops.name} {name}"]
                self.lanes.sizes[name] = self.lanes.stride * len(nodes)
                named.update(nodes)
                now = {k: node for k, node in enumerate(nodes) if self._known_in(node) == stage}
                found |= {name: now} if now else {}
        others: dict[str, list[int]] = {}
        for node in self.schedule.stored_by(stage):
            if node not in named:
                label = next((name for name in self.read if node in self.parts[f"read {name}"]), "kept")
                others.setdefault(label, []).append(node)
        return found | {
            self.lanes.new(label, len(nodes)): dict(enumerate(nodes)) for label, nodes in others.items()
        }

    def _known_in(self, node: int) -> int:
        """The first stage in which a node is known."""
        if node in self.numbers.given:
            return 0
        after = next((self.schedule.after(wait) for wait in self.waits if node in wait.results), None)
        return self.schedule.stage[node] if after is None else after + 1

    def _add(self, name: str, writes: Mapping[str, Mapping[int, int]]) -> None:
        """Add a loop that computes nodes for all degrees of freedom, into rows of arrays."""
        lanes = self.lanes
        reading = self.numbers.read([node for nodes in writes.values() for node in nodes.values()])

        def trace(x: State) -> Arrays:
            values = reading.values(x.arrays)
            return {f"new_{name}": [values[x] for x in nodes.values()] for name, nodes in writes.items()}

        runs = range(lanes.count)
        places = {f"new_{name}": lanes.rows(name, nodes, runs) for name, nodes in writes.items()}
        lanes.loops.append(
            FormLoop(name, trace, places, reading.accesses, count=lanes.count if writes else 0)
        )

    def _sum(self, array: str, sums: Sequence[Sum]) -> None:
        """Add the loops for the sums of a record whose terms lie in an array."""
        lanes, places = self.lanes, self.numbers.places
        places |= {own.own: Home(array, k) for k, own in enumerate(sums)}
        if not sums[0].outward:
            own = lanes.along(array, range(len(sums)))
            lanes.loops.append(inward_loop(lanes, own, self._total(sums)))
            return
        read = [own for own in sums if own.above in self.schedule.stage]
        above = lanes.new(f"{sums[0].record}_above", len(read)) if read else ""
        places |= {own.above: Home(above, k) for k, own in enumerate(read)}

        def start(own: Sum) -> tuple[bool, str]:
            root = self.roots[own]
            return own in read, root.array if isinstance(root, Home) else ""

        for (handed_on, _), group in groupby(sorted(sums, key=start), start):
            alike = list(group)
            own = lanes.along(array, map(sums.index, alike))
            handed = lanes.along(above, map(read.index, alike)) if handed_on else None
            lanes.loops.append(outward_loop(lanes, own, [self.roots[x] for x in alike], handed))

    def _total(self, sums: Sequence[Sum]) -> Access | None:
        """The place of the sums of a record over all joints, if they are read at a floating base."""
        read = {name for loops in self.between for name in loops.totals}
        if not self.base or not (self.block or sums[0].record in read):
            return None
        return element(TOTAL, (self.totals.place(own.record, own.element) for own in sums))
