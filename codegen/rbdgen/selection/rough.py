"""Lines without a search for axes and without passes, by which ways of differentiation are compared.

The search and the passes take seconds for a large robot, and save about as many operations in every way. So
only ways whose plain trace takes few operations are worth them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from rbdgen.functions.form import Form
from rbdgen.functions.function import Function
from rbdgen.graph.cost import cost
from rbdgen.graph.engine import GraphEngine
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.program import straight_line
from rbdgen.model.model import Model
from rbdgen.selection.axes import BodyAxes
from rbdgen.selection.choice import Choice
from rbdgen.selection.choose import subjects
from rbdgen.selection.limits import LIMITS
from rbdgen.selection.trace import Subject, trace_graph, trace_on

Key = TypeVar("Key")

ROUGHLY: Final = 1.01
"""The greatest number of operations of a plain trace that is worth a search, relative to the cheapest one.

The search and the passes save 1 to 2 per cent of the derivatives of a humanoid's forward dynamics.
"""


def is_large(function: Function, model: Model) -> bool:
    """Whether a search and the passes take so long for a row that not every way is worth them."""
    own = not function.of_a_graph and function.composition is None
    return own and function.estimate(model) > LIMITS.large


def rough(function: Function, model: Model, axes: BodyAxes | None, *, sums: bool) -> Choice:
    """The straight line whose plain trace in the given axes takes the fewest operations."""
    words, reduced = next(subjects(model, axes, sums=sums))
    counted: list[tuple[int, int, Form, Subject]] = []
    for form in function.forms_for(model):
        if form.loops is None and not form.for_size:
            on: Subject = reduced if form.reduced else model
            tracer = GraphEngine()
            traced = trace_on(tracer, on, function, form, sums=sums, named=False)
            counted.append((tracer.cost(traced).total, len(counted), form, on))
    _, _, form, on = min(counted, key=lambda found: found[:2])
    return Choice(straight_line(trace_graph(on, function, form, "graph", sums=sums)), form.name, words)


def near(graphs: Mapping[Key, Graph], most: float) -> list[Key]:
    """The keys of the graphs whose operations are at most `most` times the fewest of all."""
    counts = {key: cost(graph).total for key, graph in graphs.items()}
    return [key for key, count in counts.items() if count <= most * min(counts.values())]
