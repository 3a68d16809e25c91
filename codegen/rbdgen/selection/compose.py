"""Chooses the forms of the rows that a composition calls, by the operations of the composition as a whole.

Rows share subexpressions, so the cheapest form of a row alone may not be the best one here. All rows begin
with their usual forms. Then, from the largest row on, each row takes the form with which the whole takes the
fewest operations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rbdgen.functions.composed import Factors, called_rows, composed, straight_forms, usual_form
from rbdgen.functions.function import Function
from rbdgen.graph.engine import GraphEngine
from rbdgen.graph.node import Graph
from rbdgen.model.model import Model
from rbdgen.selection.collection import collection_paused
from rbdgen.selection.trace import Subject, trace_on


@dataclass(frozen=True)
class Composed:
    """A composition on a robot."""

    row: Function
    """The row in which all products are written out."""
    line: Function | None = None
    """The straight line around large products; None if there are none."""
    products: tuple[Factors, ...] = ()
    """The large products, in order."""


@collection_paused()
def with_forms(
    function: Function,
    model: Model,
    subject: Subject,
    derivative: Callable[[Function], Graph],
    *,
    counted: bool,
    sums: bool,
) -> Composed:
    """The row of a composition with the forms of the called rows chosen, and its large products.

    Args:
        function: the row of the composition.
        model: the robot.
        subject: the model on which the composition is counted.
        derivative: makes the graph of a called row that is a derivative of another one.
        counted: whether operations of other forms are counted; if not, each row has its usual form.
        sums: see `sweeps.inputs.coordinates`.
    """
    composition = function.composition
    assert composition is not None
    rows = called_rows(composition, model)
    graphs = {name: derivative(row) for name, row in rows.items() if row.of_a_graph}
    traced = sorted(
        (row for row in rows.values() if row.name not in graphs), key=lambda row: -row.estimate(model)
    )
    forms = {row.name: usual_form(row, model).name for row in traced}
    large: dict[str, Factors] = {}

    def operations(tried: dict[str, str]) -> int:
        noted = large if composition.products else None
        row, tracer = composed(composition, model, tried, graphs, noted), GraphEngine()
        return tracer.cost(trace_on(tracer, subject, row, row.forms[0], sums=sums, named=False)).total

    if counted:
        best = operations(forms) if any(len(straight_forms(row, model)) > 1 for row in traced) else 0
        for row in traced:
            for form in straight_forms(row, model)[1:]:
                tried = {**forms, row.name: form.name}
                if (count := operations(tried)) < best:
                    forms, best = tried, count
    row = composed(composition, model, forms, graphs)
    if composition.products:
        operations(forms)
    if not large:
        return Composed(row)
    line = composed(composition, model, forms, graphs, large, as_line=True)
    return Composed(row, line, tuple(large.values()))
