"""The smaller robot on which one limb stands for several alike ones, while a function is traced on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rbdgen.access import Access
from rbdgen.functions.form import Outputs
from rbdgen.functions.function import Function
from rbdgen.graph.engine import GraphEngine
from rbdgen.graph.node import Input
from rbdgen.graph.programs.lanes import LIMB_CONSTANTS
from rbdgen.graph.programs.program import Loop, Program, Result
from rbdgen.model.alike_limbs import Limbs
from rbdgen.model.reduce import ReducedModel
from rbdgen.selection.limb_contacts import alike_contacts, parts_of
from rbdgen.selection.limb_places import Lanes as PerLane
from rbdgen.selection.limb_places import Places, accesses, somewhere
from rbdgen.selection.limb_table import LimbTable
from rbdgen.selection.parameter_table import Entry, mapped
from rbdgen.signature import Argument, SizedArgument
from rbdgen.spatial.scalar import Scalar, neg
from rbdgen.sweeps.inputs import Lanes, State, state_of


@dataclass
class OneLimb:
    """A robot with alike limbs, and the trace of the smaller robot: symbols, and where they are read.

    `robots` has the smaller robot with the limb of each lane. For `zeros_in_lanes`, see
    `limbs.trace_in_limbs`.
    """

    reduced: ReducedModel
    """The whole robot. Its contacts are those that the function reads; none of them is between two limbs."""
    limbs: Limbs
    zeros_in_lanes: bool = False
    tracer: GraphEngine = field(default_factory=GraphEngine)
    table: LimbTable = field(default_factory=LimbTable)
    reads: dict[str, Access] = field(default_factory=dict)

    def __post_init__(self) -> None:
        model, lanes = self.reduced.model, range(self.limbs.lanes)
        chosen = [self.limbs.bodies(model, lane) for lane in lanes]
        reduced = self.reduced.in_metres if model.contacts else self.reduced
        reduced = _without_frames(_alike_axes(reduced, self.limbs))
        contacts = alike_contacts(reduced, chosen)
        self.places = Places(model, chosen, contacts)
        self.robots = parts_of(reduced, chosen, contacts)
        self.merged: ReducedModel = self.table.merged(self.robots)

    def written(
        self, x: Argument, values: Sequence[Scalar | None]
    ) -> dict[str, tuple[Access, Sequence[Scalar]]]:
        """The parts of an output by name, each with its access and its elements.

        For a square matrix, more values may follow: entries between the limb in each lane and the limb some
        lanes ahead. Other entries between limbs are 0.
        """
        found = list(zip(self.places.of(x.shape), values, strict=False))
        if len(x.shape) > 1:
            square = x.shape[0] if x.shape[0] == x.shape[1] and isinstance(x.shape[0], str) else None
            between = self.places.between_limbs(square) if square else []
            found += _mirrored(between, values[len(found) :])
            done = {at for own, _ in found for at in own}
            if self.zeros_in_lanes:
                zeros = [somewhere(own) for own, *_ in filter(None, between) if done.isdisjoint(own)]
                found += [(own, 0) for own in zeros]
                done.update(*zeros)
            size = x.sized(self.reduced.model.sizes).size
            found += [((at,), 0) for at in range(size) if at not in done]
        held = [row for own, value in found for row in self._held(own, value)]
        parts = accesses(x.name, [own for own, _ in held])
        return {name: (access, [held[k][1] for k in elements]) for name, (access, elements) in parts.items()}

    def placed(
        self, shape: Sequence[str | int], elements: Sequence[int], values: Sequence[Scalar | None]
    ) -> list[tuple[tuple[int, ...], Scalar]]:
        """The places and values of some elements of an array over the degrees of freedom. For a symmetric
        matrix, more values may follow as in `written`.
        """
        places = self.places.of(shape)
        found = [(places[at], value) for at, value in zip(elements, values, strict=False)]
        if len(values) > len(found):
            axis, _ = shape
            assert isinstance(axis, str)
            found += _mirrored(self.places.between_limbs(axis), values[len(found) :])
        present = ((own, value) for own, value in found if value is not None)
        return [held for own, value in present for held in self._held(own, value)]

    def _held(self, own: PerLane, value: Scalar) -> list[tuple[tuple[int, ...], Scalar]]:
        """The places of a value, all lanes together, or lane by lane if some lanes have none."""
        at = tuple(place for place in own if place is not None)
        if len(at) in (0, len(own)):
            return [(at, value)] if at else []
        each = zip(own, self.tracer.apart(value), strict=True)
        return [((place,), number) for place, number in each if place is not None]

    def read(self, x: SizedArgument, places: Sequence[PerLane]) -> list[Scalar]:
        """New symbols for the elements of an input. In lanes that hold no such element it is 0."""
        elements: list[Scalar] = [0] * x.size
        for own, (access, where) in accesses(x.name, list(map(somewhere, places))).items():
            self.reads[own] = access
            symbols = self.tracer.symbols(own, len(where), len(access.offsets))
            for k, symbol in zip(where, symbols, strict=True):
                elements[k] = symbol if None not in places[k] else self._zeroed(symbol, places[k])
        return elements

    def _zeroed(self, value: Scalar, own: PerLane) -> Scalar:
        """The value in lanes that have a place, and 0 in the others."""
        each = zip(self.tracer.apart(value), own, strict=True)
        return self.tracer.together([0 if place is None else number for number, place in each])

    def symbols(
        self, inputs: Sequence[Argument], sized: Sequence[SizedArgument]
    ) -> list[tuple[SizedArgument, list[Scalar]]]:
        """The inputs with symbols for all of their elements, even if these are not read."""
        shapes = {x.name: x.shape for x in inputs}
        return [(x, self.read(x, self.places.of(shapes[x.name]))) for x in sized]

    def state(self, inputs: Sequence[tuple[SizedArgument, Sequence[Scalar]]], *, sums: bool) -> State:
        """The state with which the algorithms compute, from inputs with their elements."""
        tracer, model = self.tracer, self.robots[0].model
        made = state_of(
            model,
            inputs,
            tracer.cos,
            tracer.sin,
            sums=sums,
            naming=tracer.named,
            sqrt=tracer.sqrt,
            sign=tracer.sign,
        )
        lanes = Lanes(
            self.limbs.several(self.reduced.model),
            self.limbs.lanes,
            tracer.join,
            tracer.turn,
            tracer.apart,
            tracer.together,
            self.places.contacts,
        )
        return replace(made, lanes=lanes)

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

    def finished(self, function: Function, results: Outputs) -> Program:
        """The program of a function on the whole robot's arrays, from the outputs on the smaller robot."""
        whole = replace(function, contacts=None).sized(self.reduced.model)
        outputs: list[tuple[str, tuple[int, ...], Sequence[Scalar]]] = []
        writes: dict[str, Access] = {}
        for x, values in zip(function.signature.outputs, results, strict=True):
            for name, (access, elements) in self.written(x, values).items():
                outputs.append((name, (len(elements),), elements))
                writes[name] = access
        return Program(
            tuple(Input(x.name, x.size) for x in whole.inputs),
            tuple(Result(x.name, x.shape) for x in whole.outputs),
            (Loop(function.name, self.tracer.graph(outputs), self.reads, writes),),
            tables={LIMB_CONSTANTS: self.rows},
        )


def _mirrored(
    between: Sequence[Sequence[PerLane]], values: Sequence[Scalar | None]
) -> list[tuple[PerLane, Scalar]]:
    """The values of entries between limbs, each at both of its places in a symmetric matrix."""
    return [
        (own, value)
        for mirrored, value in zip(between, values, strict=False)
        if value is not None
        for own in {frozenset(own): own for own in mirrored}.values()
    ]


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
    """Remove frames, which differ between limbs and are not read."""
    return replace(reduced, model=replace(reduced.model, frames=()), aligned=(), frames=())
