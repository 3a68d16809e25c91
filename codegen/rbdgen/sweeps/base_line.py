"""Straight lines for a floating base, in forms whose SIMD lanes are the degrees of freedom of the joints.

The six degrees of freedom of the base are not among the lanes. All joints need the results of outward sweeps
at the base early: sums over ancestors start with them, and the matrix entries between the base and a joint
read them. In the base's own frame, most of these numbers are constants, or equal to others up to sign. The
array `base` therefore stores few of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rbdgen.access import Access, MatrixView, whole
from rbdgen.errors import GraphError
from rbdgen.graph.engine import GraphEngine
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import Scalar, mul, neg
from rbdgen.sweeps.inputs import State, coordinates
from rbdgen.sweeps.loops import Arrays, FormLoop
from rbdgen.sweeps.numbers import Home
from rbdgen.sweeps.one_freedom import BASE_NUMBERS
from rbdgen.sweeps.records import Kind, flat, of, width
from rbdgen.sweeps.stages import inputs_of, multiple
from rbdgen.sweeps.straight import Straight, of_world
from rbdgen.sweeps.sweep import BASE, INPUTS, Inward, Outward, Pairs, Sweep

TOTAL = "total"
"""The array of sums over all joints."""


class Number(NamedTuple):
    """A number that a floating base gives."""

    record: str
    freedom: int
    """The degree of freedom, if the record has a value for each of them; otherwise 0."""
    element: int


def at_base(
    reduced: ReducedModel, x: State, sweeps: Sequence[Sweep], totals: Mapping[str, object]
) -> Straight:
    """Run sweeps at a floating base alone, and return the driver with their results.

    Of an inward sweep, only the sums at the base are made: its own parts plus the sums over all joints, which
    `totals` gives.
    """
    inputs = {name: getattr(x, name)[:BASE] for name in INPUTS}
    line = Straight(reduced.at(x.q)[:1], inputs, of_world(reduced), naming=x.naming)
    for sweep in sweeps:
        if isinstance(sweep, Inward):
            for name in sweep.sums:
                line.values[name][0] = line.values[name][0] + totals[name]
        else:
            line.run(sweep)
    return line


@dataclass
class Totals:
    """Sums over all joints that a floating base reads: constants, or elements of the array `total`."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    known: dict[tuple[str, int], Scalar] = field(default_factory=dict)
    """The sums that are constants of the robot."""
    places: dict[tuple[str, int], int] = field(default_factory=dict)
    """The places of the other sums in the array. It grows while loops are made."""

    def place(self, record: str, element: int) -> int:
        """The place of a sum in the array, which is extended if the sum has no place yet."""
        return self.places.setdefault((record, element), len(self.places))

    @property
    def reads(self) -> dict[str, Access]:
        """The access of a straight line to the whole array; empty if the array has no elements."""
        return {TOTAL: whole(TOTAL, len(self.places))} if self.places else {}

    def of(self, x: State, record: str) -> object:
        """The sum of a record over all joints, from the array that was read."""
        numbers = [
            self.known[record, e] if (record, e) in self.known else x.arrays[TOTAL][self.places[record, e]]
            for e in range(width(self.kinds[record]))
        ]
        return of(self.kinds[record], numbers)


class FloatingBase:
    """The numbers that a floating base gives outward, traced on symbols to see which of them are needed."""

    def __init__(self, reduced: ReducedModel, sweeps: Sequence[Sweep], late: Collection[str]) -> None:
        self.reduced = reduced
        self.late = late
        self.outward = [sweep for sweep in sweeps if isinstance(sweep, Outward)]
        engine = GraphEngine()
        q = engine.symbols("q", reduced.model.nq)
        v, a, tau = (engine.symbols(name, BASE) for name in INPUTS)
        x = State(coordinates(reduced.model, q, engine.cos, engine.sin), v, a, tau)
        line = at_base(reduced, x, self.outward, {})
        found = {
            Number(record, k, e): number
            for record, values in line.values.items()
            for k, value in enumerate(values)
            for e, number in enumerate(flat(line.kinds[record], value))
        }
        self.graph = engine.graph([("numbers", (len(found),), list(found.values()))])
        self.nodes = dict(zip(found, self.graph.outputs[0].elements, strict=True))
        self.size = len(found)
        self.stored: dict[int, tuple[Number, int]] = {}
        """The nodes in the array `base`, in order. Each comes with a number of the base that is a multiple of
        it, and with the factor.
        """

    def root(self, record: str, element: int) -> Scalar | Home:
        """The start of the sum of a number.

        It is a constant, the place of an element of the array `base`, or, for an input that becomes known
        only after this array is computed, the place of an element of this input.
        """
        node = self.nodes[Number(record, 0, element)]
        op, _, value = self.graph.nodes[node]
        if op == "const":
            return value
        array, row = self.graph.input_element(int(value)) if op == "input" else ("", 0)
        if array in self.late:
            return Home(array, row, shared=True)
        return self._place(Number(record, 0, element), node, 1)

    def number(self, number: Number) -> Scalar | Home:
        """A number that entries read: a constant, or a multiple of an element of `base`."""
        if number not in self.nodes:
            raise GraphError(
                f"lanes over degrees of freedom: entries beside a floating base read '{number.record}', "
                "which no outward sweep gives"
            )
        node, factor = self.nodes[number], 1
        while scaled := multiple(self.graph, node):
            node, factor = scaled[0], factor * scaled[1]
        op, _, value = self.graph.nodes[node]
        return factor * value if op == "const" else self._place(number, node, factor)

    def _place(self, number: Number, node: int, factor: int) -> Home:
        late = inputs_of(self.graph, {node}) & {*self.late}
        if late:
            raise GraphError(
                f"lanes over degrees of freedom: '{number.record}' of the floating base reads "
                f"'{min(late)}' before it is known"
            )
        self.stored.setdefault(node, (number, factor))
        return Home(BASE_NUMBERS, list(self.stored).index(node), factor, shared=True)

    @property
    def inputs(self) -> set[str]:
        """The inputs on which the array `base` depends."""
        return inputs_of(self.graph, self.stored)

    def numbers(self, values: Mapping[str, Sequence[object]], kinds: Mapping[str, Kind]) -> list[Scalar]:
        """The elements of the array `base`, from the results of sweeps at all bodies."""
        found = []
        for (record, k, e), factor in self.stored.values():
            number = flat(kinds[record], values[record][k])[e]
            found.append(number if factor == 1 else neg(number) if factor == -1 else mul(1 / factor, number))
        return found

    def block(self, sweeps: Sequence[Sweep], pairs: Pairs, totals: Totals) -> FormLoop:
        """The straight line for the entries between the degrees of freedom of the base."""
        nv, six = self.reduced.nv, range(BASE)

        def trace(x: State) -> Arrays:
            inward = [name for sweep in sweeps if isinstance(sweep, Inward) for name in sweep.sums]
            sums = {name: totals.of(x, name) for name in inward}
            found = at_base(self.reduced, x, [*sweeps, pairs], sums).values
            return {f"block_{name}": [value for row in found[name] for value in row] for name in pairs.gives}

        writes = {f"block_{name}": MatrixView(name, nv).block(six, six) for name in pairs.gives}
        read = {name for sweep in self.outward for name in sweep.reads if name in INPUTS}
        return FormLoop("base_block", trace, writes, totals.reads, ("q", *sorted(read)))
