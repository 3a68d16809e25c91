"""Count and choose: trace a function in several forms and frames, keep the cheapest.

Forms are the rows of the catalogue. The cheap ones are traced in the frames found by the search, with the
equations of parallel-axis chains in one frame or in several, and with one length or another as the unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rbdgen.algorithms.catalogue import Function, Variant
from rbdgen.errors import OptionError
from rbdgen.graph.cost import cost
from rbdgen.graph.node import Graph
from rbdgen.graph.passes import cheapest
from rbdgen.model.angles import ZERO_ANGLE
from rbdgen.model.joints import JointKind
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.selection.frames import Frames
from rbdgen.tracing import Subject, trace_graph

CONTENDERS = 3
"""How many of the cheapest traces go through the passes: the passes seldom turn an order round."""

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
    alternatives: dict[str, int] = field(default_factory=dict)


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
    reduced: list[tuple[str, ReducedModel]],
    *,
    engine: str,
    forced: str | None = None,
    sums: bool = True,
) -> Choice:
    """The cheapest graph after the passes. Raises OptionError for an unknown form."""
    tried = [
        (cost(trace_graph(c.subject, function, c.variant, "graph", sums=sums)).total, k, c)
        for k, c in enumerate(candidates(function, model, reduced, forced))
    ]
    if not tried:
        raise OptionError(f"function '{function.name}' has no form to trace")
    alternatives: dict[str, int] = {}
    for total, _, candidate in tried:
        name = candidate.variant.name
        alternatives[name] = min(total, alternatives.get(name, total))
    best: tuple[int, Graph, Candidate] | None = None
    for _, _, candidate in sorted(tried)[:CONTENDERS]:
        graph = cheapest(trace_graph(candidate.subject, function, candidate.variant, engine, sums=sums))
        total = cost(graph).total
        if best is None or total < best[0]:
            best = total, graph, candidate
    assert best is not None
    total, graph, candidate = best
    return Choice(graph, candidate.variant.name, candidate.frames, alternatives)
