"""Programs in the middle of a straight line: the function's own loops and programs of other functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from rbdgen.functions.function import Called
from rbdgen.functions.inner import Inner
from rbdgen.graph.cost import Cost
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.around import around
from rbdgen.graph.programs.passes import TO_C, apply
from rbdgen.graph.programs.program import Program, Result, renamed
from rbdgen.model.model import Model
from rbdgen.selection.choice import Choice
from rbdgen.selection.trace import trace_inner

KEPT: Final = 8
"""The number of programs of loops that are kept."""


@lru_cache(maxsize=KEPT)
def looped(model: Model, inner: Inner, engine: str) -> Choice:
    """The program of a function's own loops.

    It is kept, because a step with contacts and its derivatives contain the same solver, whose design takes
    much of the time of theirs.
    """
    return Choice(apply(trace_inner(model, inner, engine), TO_C), "loops", "")


def placed(choice: Choice, called: Called) -> Choice:
    """The choice for another function, with the names that the line uses and the function's name in words."""
    lanes = None if choice.lanes is None else _named(choice.lanes, called)
    words = f"{called.row.name} by {choice.form} ({choice.axes})"
    return Choice(_named(choice.program, called), choice.form, words, lanes=lanes)


def _named(program: Program, called: Called) -> Program:
    """The program with the names that the line uses, in which a straight line has the function's name."""
    program = renamed(program, dict(called.names))
    loops = tuple(loop if loop.name else replace(loop, name=called.row.name) for loop in program.loops)
    return replace(program, loops=loops)


def is_straight(choice: Choice) -> bool:
    """Whether the program is one straight line without lanes."""
    return choice.lanes is None and choice.program.straight is not None


def around_inner(
    line: Choice, graph: Graph, inner: Sequence[Choice], outputs: Sequence[Result], form: str
) -> Choice:
    """The straight line around these programs; with limbs as lanes where one of them has them."""

    def made(programs: Sequence[Program]) -> Program:
        return around(graph, programs, outputs)

    inside = sum((choice.program.cost for choice in inner), Cost())
    words = dict.fromkeys(choice.axes for choice in inner if choice.axes)
    in_lanes = any(choice.lanes is not None for choice in inner)
    return Choice(
        made([choice.program for choice in inner]),
        form,
        "; ".join([line.axes, *words]) if words else line.axes,
        {name: count + inside for name, count in line.alternatives.items()}
        if form in line.alternatives
        else {form: line.program.cost + inside},
        made([choice.lanes or choice.program for choice in inner]) if in_lanes else None,
    )
