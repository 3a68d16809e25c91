"""Alike limbs as lanes: a function is traced on a smaller robot, on which one limb stands for several.

Numbers in which the limbs differ become entries of a table with one row per lane. Equal numbers stay numbers,
including zeros that all limbs share. Values that limbs pass on to the trunk are summed over the lanes. The
program has one straight line, whose inputs and outputs for limbs have a place in every lane.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from math import inf
from typing import Any, Final

from rbdgen.access import Access
from rbdgen.description.schema import Limit
from rbdgen.functions.form import Form
from rbdgen.functions.function import Function
from rbdgen.graph.engine import GraphEngine, Results
from rbdgen.graph.node import Input
from rbdgen.graph.programs.lanes import LIMB_CONSTANTS, counted, known, limb_by_limb, line_of_limbs, work
from rbdgen.graph.programs.passes import ORDER, SIMPLIFY, apply
from rbdgen.graph.programs.program import Loop, Program, Result
from rbdgen.model.alike_limbs import Limbs, limbs_in_lanes
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.selection.axes import part_of
from rbdgen.selection.parameter_table import Entry, mapped
from rbdgen.signature import Kind, SizedArgument
from rbdgen.spatial.ops import Matrix, Vector
from rbdgen.spatial.scalar import Scalar, is_number, neg
from rbdgen.sweeps.inputs import Lanes, State, state_of

Places = Sequence[tuple[int, ...]]
"""For each element of an array of the smaller robot, its index in the whole robot's array, or one per
lane.
"""


def trace_in_limbs(
    reduced: ReducedModel,
    limbs: Limbs,
    function: Function,
    form: Form,
    *,
    sums: bool = True,
    zeros_in_lanes: bool = False,
) -> Program:
    """Trace the form with alike limbs as lanes. For `sums`, see `sweeps.inputs.coordinates`.

    `zeros_in_lanes` says whether zeros of matrices between different limbs are written lane by lane.
    """
    traced = _Tracing(reduced, limbs, zeros_in_lanes)
    model, small = reduced.model, traced.robots[0].model
    own, whole = function.sized(small), function.sized(model)
    vectors = [
        (x, traced.read(x.name, x.size, traced.places(x.kind)))
        for x in own.inputs  # all of them, even if they are not read
    ]
    state = traced.state(vectors, sums=sums)
    results = function.trace(form, traced.filled(), state)
    outputs: list[tuple[str, tuple[int, ...], Sequence[Scalar]]] = []
    writes: dict[str, Access] = {}
    for x, values in zip(own.outputs, results, strict=True):
        for name, (access, elements) in traced.written(x, values).items():
            outputs.append((name, (len(elements),), elements))
            writes[name] = access
    return traced.program(function.name, whole.inputs, whole.outputs, outputs, writes)


LONGEST: Final = 5000
"""The most operations of a line. It is printed in one piece, for which compilers take about a second."""


def trace_loop_in_limbs(
    program: Program,
    reduced: ReducedModel,
    limbs: Limbs,
    function: Function,
    form: Form,
    *,
    sums: bool = True,
) -> Program:
    """A traced form in loops, with alike limbs as lanes in the loop that reads the function's inputs."""
    traced = _Tracing(reduced, limbs)
    own = function.sized(traced.robots[0].model)
    vectors = [(x, traced.read(x.name, x.size, traced.places(x.kind))) for x in own.inputs]
    state = traced.state(vectors, sums=sums)
    assert form.loops is not None
    (loop,) = (loop for loop in form.loops(traced.filled()).loops if loop.inputs)
    outputs: list[tuple[str, tuple[int, ...], Sequence[Scalar]]] = []
    writes: dict[str, Access] = {}
    for name, values in loop.trace(state).items():
        access = loop.writes[name]
        kind: Kind = "velocity" if program.scratch[access.array] == reduced.nv else "matrix"
        places = traced.places(kind)
        parts = _accesses(access.array, [places[at] for at in access.elements])
        for part, (where, elements) in parts.items():
            outputs.append((part, (len(elements),), [values[k] for k in elements]))
            writes[part] = where
    line = Loop(loop.name, traced.tracer.graph(outputs), traced.reads, writes)
    loops = (line if before.name == loop.name else before for before in program.loops)
    return replace(program, loops=tuple(loops), tables={**program.tables, LIMB_CONSTANTS: traced.rows})


@dataclass(frozen=True)
class InLimbs:
    """A program with lanes, the same program limb by limb, and its axes in words."""

    lanes: Program
    by_limb: Program
    axes: str


def cheapest_in_limbs(
    function: Function,
    model: Model,
    subjects: Iterable[tuple[str, ReducedModel]],
    registers: float,
    most: float = inf,
    *,
    sums: bool,
) -> InLimbs | None:
    """The form in limbs with the least work; None if it is more than `most` or there are no alike limbs.

    `registers` is the number of registers that a value takes per lane.
    """
    form = function.in_limbs
    if form is None or not form.does(model):
        return None
    traced = [
        (known(trace_in_limbs(reduced, limbs, function, form, sums=sums)), words, limbs.lanes * registers)
        for words, reduced in subjects
        for limbs in limbs_in_lanes(model)
    ]
    return _cheapest(traced, most)


def cheapest_loop_in_limbs(
    program: Program,
    function: Function,
    form: Form,
    model: Model,
    subjects: Iterable[tuple[str, ReducedModel]],
    registers: float,
    most: float = inf,
    *,
    sums: bool,
) -> InLimbs | None:
    """The cheapest program with alike limbs as lanes in one loop of a form in loops.

    Arguments and result are those of `cheapest_in_limbs`, but `most` limits the work of that loop alone.
    """
    traced = [
        (
            known(trace_loop_in_limbs(program, reduced, limbs, function, form, sums=sums)),
            words,
            limbs.lanes * registers,
        )
        for words, reduced in subjects
        for limbs in limbs_in_lanes(model)
    ]
    return _cheapest(traced, most)


def _cheapest(traced: Iterable[tuple[Program, str, float]], most: float) -> InLimbs | None:
    """The cheapest of some programs, each given with its axes in words and the registers of a value."""
    short = [row for row in traced if len(line_of_limbs(row[0]).kernel) <= LONGEST]
    if not short:
        return None
    plain, words, width = min(short, key=lambda row: work(line_of_limbs(row[0]), row[2]))
    best = known(apply(plain, SIMPLIFY))
    if work(line_of_limbs(best), width) > most:
        return None
    return InLimbs(apply(best, ORDER), apply(limb_by_limb(best), ORDER), f"{words}; {counted(best)}")


class LimbTable:
    """The table of numbers in which limbs differ, while it grows: each entry has one number per lane."""

    def __init__(self) -> None:
        self.entries: list[tuple[float, ...]] = []
        self._places: dict[tuple[float, ...], int] = {}

    def merged(self, values: Sequence[Any]) -> Any:
        """Merge the values of all lanes into one: equal numbers are kept, different ones become an entry.

        All else must be equal, except for names and limits, which nothing reads here.
        """
        first = values[0]
        if all(value is first for value in values) or isinstance(first, str):
            return first
        if any(isinstance(value, Limit) for value in values):
            return None
        if is_number(first):
            return first if all(x == first for x in values) else self._entry(tuple(map(float, values)))
        assert all(type(value) is type(first) for value in values), f"limbs differ in kind: {values}"
        if isinstance(first, (Vector, Matrix)):
            return type(first)(*map(self.merged, zip(*values, strict=True)))
        if isinstance(first, tuple):
            each = map(self.merged, zip(*values, strict=True))
            return type(first)(*each) if hasattr(first, "_fields") else type(first)(each)
        if is_dataclass(first) and not isinstance(first, type):
            parts = {x.name: self.merged([getattr(v, x.name) for v in values]) for x in fields(first)}
            return replace(first, **parts)
        assert all(value == first for value in values), f"limbs differ in what is no number: {values}"
        return first

    def _entry(self, row: tuple[float, ...]) -> Entry:
        opposite = tuple(-x for x in row)
        if opposite in self._places:
            return Entry(self._places[opposite], True)
        if row not in self._places:
            self._places[row] = len(self.entries)
            self.entries.append(row)
        return Entry(self._places[row], False)


@dataclass
class _Tracing:
    """A robot with alike limbs, and the trace of the smaller robot: symbols, and where they are read.

    `robots` has the smaller robot with the limb of each lane, and `chosen` the numbers of its bodies in the
    whole robot. For `zeros_in_lanes`, see `trace_in_limbs`.
    """

    reduced: ReducedModel
    limbs: Limbs
    zeros_in_lanes: bool = False
    tracer: GraphEngine = field(default_factory=GraphEngine)
    table: LimbTable = field(default_factory=LimbTable)
    reads: dict[str, Access] = field(default_factory=dict)

    def __post_init__(self) -> None:
        model, lanes = self.reduced.model, range(self.limbs.lanes)
        self.chosen = [self.limbs.bodies(model, lane) for lane in lanes]
        reduced = _without_frames(_alike_axes(self.reduced, self.limbs))
        self.robots = [part_of(reduced, bodies) for bodies in self.chosen]
        self.merged: ReducedModel = self.table.merged(self.robots)

    def places(self, kind: Kind) -> Places:
        """The places of the elements of an array of this kind."""
        model = self.reduced.model
        if kind == "matrix":
            n, rows = model.nv, self.places("velocity")
            return [_places(tuple(n * i + j for i, j in _paired(row, col))) for row in rows for col in rows]
        spans = _spans(model, kind)
        lanes = zip(*self.chosen, strict=True)
        return [
            _places(elements)
            for bodies in lanes
            for elements in zip(*(spans[i] for i in bodies), strict=True)
        ]

    def written(
        self, x: SizedArgument, values: Sequence[Scalar | None]
    ) -> dict[str, tuple[Access, Sequence[Scalar]]]:
        """The parts of an output by name, each with its access and its elements.

        For a matrix, more values may follow: entries between the limb in each lane and the limb some lanes
        ahead. Other entries between limbs are 0.
        """
        found = list(zip(self.places(x.kind), values, strict=False))
        if x.kind == "matrix":
            n, between = self.reduced.nv, self._between_limbs()
            for pairs, value in zip(between, values[len(found) :], strict=False):
                if value is not None:
                    upper, lower = tuple(n * i + j for i, j in pairs), tuple(n * j + i for i, j in pairs)
                    found += (
                        [(upper, value), (lower, value)] if set(upper) != set(lower) else [(upper, value)]
                    )
            done = {at for own, _ in found for at in own}
            if self.zeros_in_lanes:
                apart = (tuple(n * i + j for i, j in pairs) for pairs in between if len(pairs) > 1)
                zeros = [own for own in apart if done.isdisjoint(own)]
                found += [(own, 0) for own in zeros]
                done.update(*zeros)
            found += [((at,), 0) for at in range(n * n) if at not in done]
        parts = _accesses(x.name, [places for places, _ in found])
        return {name: (access, [found[k][1] for k in elements]) for name, (access, elements) in parts.items()}

    def _between_limbs(self) -> list[list[tuple[int, int]]]:
        """The places of matrix entries between the limb of each lane and the limb some lanes ahead.

        They are ordered by the number of lanes ahead, then by row and column.
        """
        rows = self.places("velocity")
        turned = [
            (row, (*col[distance:], *col[:distance]))
            for distance in range(1, self.limbs.lanes)
            for row in rows
            for col in rows
        ]
        return [list(zip(row, col, strict=True)) if len(row) == len(col) else [] for row, col in turned]

    def read(self, name: str, size: int, places: Places) -> list[Scalar]:
        """New symbols for the elements of an input."""
        elements: list[Scalar] = [0] * size
        for own, (access, where) in _accesses(name, places).items():
            self.reads[own] = access
            symbols = self.tracer.symbols(own, len(where), len(access.offsets))
            for k, symbol in zip(where, symbols, strict=True):
                elements[k] = symbol
        return elements

    def state(self, vectors: Sequence[tuple[SizedArgument, Sequence[Scalar]]], *, sums: bool) -> State:
        """The state with which the algorithms compute."""
        tracer, model = self.tracer, self.robots[0].model
        made = state_of(
            model,
            vectors,
            tracer.cos,
            tracer.sin,
            sums=sums,
            naming=tracer.named,
            sqrt=tracer.sqrt,
            sign=tracer.sign,
        )
        bodies = self.limbs.several(self.reduced.model)
        return replace(made, lanes=Lanes(bodies, self.limbs.lanes, tracer.join, tracer.turn))

    def filled(self) -> ReducedModel:
        """The smaller robot with symbols in place of table entries."""
        n, lanes = len(self.table.entries), self.limbs.lanes
        self.reads[LIMB_CONSTANTS] = Access(
            LIMB_CONSTANTS, tuple(range(n)), tuple(n * lane for lane in range(lanes))
        )
        table = self.tracer.symbols(LIMB_CONSTANTS, n, lanes)
        return mapped(self.merged, Entry, lambda x: neg(table[x.place]) if x.opposite else table[x.place])

    @property
    def rows(self) -> tuple[float, ...]:
        """The numbers of the table."""
        return tuple(entry[lane] for lane in range(self.limbs.lanes) for entry in self.table.entries)

    def program(
        self,
        name: str,
        inputs: Sequence[SizedArgument],
        outputs: Sequence[SizedArgument],
        results: Results,
        writes: Mapping[str, Access],
    ) -> Program:
        """The program on the whole robot's arrays."""
        return Program(
            tuple(Input(x.name, x.size) for x in inputs),
            tuple(Result(x.name, x.shape) for x in outputs),
            (Loop(name, self.tracer.graph(results), self.reads, writes),),
            tables={LIMB_CONSTANTS: self.rows},
        )


def _alike_axes(reduced: ReducedModel, limbs: Limbs) -> ReducedModel:
    """Keep equations in parents' axes only at bodies for which all lanes have them so."""
    unlike = {
        body
        for group in limbs.groups
        for bodies in zip(*group, strict=True)
        if not reduced.parallel.issuperset(bodies)
        for body in bodies
    }
    parallel = reduced.parallel - unlike
    if parallel == reduced.parallel:
        return reduced
    return reduced.with_axes(reduced.turns, reduced.slides, parallel, reduced.unit_length)


def _without_frames(reduced: ReducedModel) -> ReducedModel:
    """Remove frames and contacts, which differ between limbs and are not read."""
    model = replace(reduced.model, frames=(), contacts=())
    return replace(reduced, model=model, aligned=(), frames=(), contacts=())


def _spans(model: Model, kind: Kind) -> list[range]:
    """The elements of an array that belong to each body."""
    joints = [body.joint for body in model.bodies]
    if kind == "configuration":
        return [range(joint.idx_q, joint.idx_q + joint.nq) for joint in joints]
    if kind == "external_forces":
        rows = {i: row for row, i in enumerate(model.visible)}
        return [range(6 * rows[i], 6 * rows[i] + 6) if i in rows else range(0) for i in range(len(joints))]
    return [range(joint.idx_v, joint.idx_v + joint.nv) for joint in joints]


def _places(lanes: tuple[int, ...]) -> tuple[int, ...]:
    """The places of an element in all lanes; a single place if all are the same."""
    return lanes[:1] if len(set(lanes)) == 1 else lanes


def _paired(row: tuple[int, ...], column: tuple[int, ...]) -> list[tuple[int, int]]:
    lanes = range(max(len(row), len(column)))
    return [(row[k if len(row) > 1 else 0], column[k if len(column) > 1 else 0]) for k in lanes]


def _accesses(name: str, places: Places) -> dict[str, tuple[Access, list[int]]]:
    """An array in parts with equal steps from lane to lane, each with its access and its elements."""
    parts = defaultdict(list)
    for k, at in enumerate(places):
        parts[tuple(lane - min(at) for lane in at)].append(k)
    return {
        f"{name}_of_limbs{number}" if len(steps) > 1 else name: (
            Access(name, tuple(min(places[k]) for k in elements), steps),
            elements,
        )
        for number, (steps, elements) in enumerate(parts.items())
    }
