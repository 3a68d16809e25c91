"""Count and choose: trace a function in several forms and frames, keep the cheapest.

Forms are the rows of the catalogue. The cheap ones are traced in the frames found by the search, with the
equations of parallel-axis chains in one frame or in several, and with one length or another as the unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rbdgen.algorithms.catalogue import Function, Variant
from rbdgen.graph.cost import Cost, cost
from rbdgen.graph.engine import GraphEngine
from rbdgen.graph.node import Graph
from rbdgen.graph.passes import cheapest
from rbdgen.model.angles import ZERO_ANGLE
from rbdgen.model.joints import JointKind
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.selection.frames import Frames, search
from rbdgen.tracing import Subject, trace_graph, trace_on

CONTENDERS = 2
"""How many of the cheapest traces go through the passes: the passes seldom turn an order round."""

LARGE = 4000
"""From this many operations on only the cheapest trace goes through the passes."""

REFINEMENT = 1_000_000
"""Operations that the frame search on a function itself may trace: about two seconds."""

UNITS = 4
"""How many lengths are tried as the unit, the most frequent first."""


@dataclass(frozen=True)
class Candidate:
    """One way to trace a function. `frames` says in words what the model's frames are."""

    variant: Variant
    subject: Subject
    frames: str


@dataclass(frozen=True)
class Choice:
    """The cheapest graph of a function, how it was made, and what the other forms cost."""

    graph: Graph
    variant: str
    frames: str
    alternatives: dict[str, Cost] = field(default_factory=dict)


def subjects(model: Model, frames: Frames | None, *, sums: bool) -> list[tuple[str, ReducedModel]]:
    """The reduced models that cheap forms are tried on; the first is the plain choice.

    `sums`: whether cosines of sums of angles may be asked for, which parallel-axis frames need.
    """
    plain = reduce(model) if frames is None else reduce(model, frames.turns, frames.slides)
    found = [("searched" if frames else "as given", plain)]
    turns, slides = plain.turns, plain.slides
    if frames is not None:
        found += [
            (f"searched, {length:.6g} m as unit", plain.reframed(turns, slides, unit_length=length))
            for length in _unit_lengths(plain)
        ]
    parallel = _parallel_bodies(plain)
    if sums and parallel:
        found.append(("searched, parallel axes", plain.reframed(turns, slides, parallel)))
    return found


def _unit_lengths(plain: ReducedModel) -> list[float]:
    """Lengths that occur in translations, the most frequent first; only where a unit may be chosen."""
    if any(body.joint.kind is not JointKind.REVOLUTE for body in plain.bodies):
        return []
    counts: dict[float, int] = {}
    for body in plain.bodies:
        for value in body.translation:
            if value != 0:
                length = round(abs(float(value)), 12)
                counts[length] = counts.get(length, 0) + 1
    return sorted(counts, key=lambda length: (-counts[length], length))[:UNITS]


def _parallel_bodies(plain: ReducedModel) -> list[int]:
    """Revolute bodies whose axis is parallel to their revolute parent's or child's, where frames may stay."""
    return [
        i
        for i, body in enumerate(plain.bodies)
        if body.joint.kind is JointKind.REVOLUTE and _continues(plain, i)
    ]


def _continues(plain: ReducedModel, i: int) -> bool:
    body = plain.bodies[i]
    if body.parent == WORLD or body.alpha != ZERO_ANGLE:
        return False
    return plain.bodies[body.parent].joint.kind is JointKind.REVOLUTE


def candidates(
    function: Function, model: Model, reduced: list[tuple[str, ReducedModel]], forced: str | None
) -> Iterator[Candidate]:
    """All ways to trace the function, or those of one forced form."""
    for variant in function.variants:
        if forced is not None and variant.name != function.variant(forced).name:
            continue
        if not variant.reduced:
            yield Candidate(variant, model, "as given")
            continue
        for frames, subject in reduced:
            yield Candidate(variant, subject, frames)


def choose(
    function: Function,
    model: Model,
    frames: Frames | None,
    *,
    engine: str,
    forced: str | None = None,
    sums: bool = True,
) -> Choice:
    """The cheapest graph after the passes. Raises OptionError for an unknown form.

    `frames`: those found by the search, None to leave the model's own.
    """
    tried = _counted(function, model, subjects(model, frames, sums=sums), forced, sums)
    if frames is not None and tried[0].candidate.variant.reduced:
        form = tried[0].candidate.variant
        refined = search(model, function, form, frames, REFINEMENT)
        if refined != frames:
            tried += _counted(function, model, subjects(model, refined, sums=sums), form.name, sums)
    tried.sort(key=lambda count: count.operations)
    alternatives: dict[str, Cost] = {}
    for count in tried:
        alternatives.setdefault(count.candidate.variant.name, count.cost)
    results = []
    contenders = CONTENDERS if tried[0].operations < LARGE else 1
    for count in tried[:contenders]:
        candidate = count.candidate
        traced = trace_graph(candidate.subject, function, candidate.variant, engine, sums=sums)
        results.append((cheapest(traced), candidate))
    graph, candidate = min(results, key=lambda result: cost(result[0]).total)
    return Choice(graph, candidate.variant.name, candidate.frames, alternatives)


@dataclass(frozen=True)
class _Count:
    cost: Cost
    candidate: Candidate

    @property
    def operations(self) -> int:
        return self.cost.total


def _counted(
    function: Function,
    model: Model,
    reduced: list[tuple[str, ReducedModel]],
    forced: str | None,
    sums: bool,
) -> list[_Count]:
    """The candidates with the operations of their plain traces, the cheapest first."""
    counts = []
    for candidate in candidates(function, model, reduced, forced):
        tracer = GraphEngine()
        outputs = trace_on(tracer, candidate.subject, function, candidate.variant, sums=sums)
        counts.append(_Count(tracer.cost(outputs), candidate))
    return sorted(counts, key=lambda count: count.operations)
