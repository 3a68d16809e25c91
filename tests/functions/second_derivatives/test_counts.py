"""Operations of second derivatives and entries of their tensors, pinned."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.few import few
from support.functions import SECOND
from support.robots import robot

from rbdgen.graph.engine import GraphEngine
from rbdgen.graph.programs.program import straight_line
from rbdgen.graph.programs.sparsity import sparse
from rbdgen.model.build import Base
from rbdgen.model.reduce import reduce
from rbdgen.pipeline.design import count
from rbdgen.selection.axes import search
from rbdgen.selection.trace import trace_on

ROBOTS: dict[str, Base] = {
    "double_pendulum": "fixed",
    "arm7": "fixed",
    "puma560": "fixed",
    "quadruped12": "floating",
}


def test_as_traced(golden: Callable[[str, str], None]) -> None:
    """The cheap forms as traced, in the axes that are cheapest for RNEA; no pass has run."""
    lines = [f"{'robot':15}  {'function':11}  {'entries':>7}  {'operations':>10}"]
    for name, base in ROBOTS.items():
        model = robot(name, base).model
        axes = search(model)
        reduced = reduce(model, axes.turns, axes.slides)
        for function in SECOND.values():
            tracer = GraphEngine()
            graph = tracer.graph(trace_on(tracer, reduced, function, function.form("local")))
            signature = function.signature.sized(model.sizes)
            told, program = sparse(signature, straight_line(graph), [x.name for x in signature.outputs])
            entries = sum(output.size for output in told.outputs)
            lines.append(f"{name:15}  {function.name:11}  {entries:7}  {program.cost.total:10}")
    golden("operation_counts/second_derivatives.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize(("name", "most"), few([("puma560", 4303)], [("arm7", 7327), ("puma560", 4303)]))
def test_as_chosen(name: str, most: int, golden: Callable[[str, str], None]) -> None:
    """The counts with searched axes, after the passes; `most` is within 3 per cent of the smallest known."""
    ((form, cost),) = count(robot(name, ROBOTS[name]), ["rnea_second"]).values()
    assert cost.total <= most
    golden(f"chosen_counts/second_derivatives_{name}.txt", f"rnea_second: {form}: {cost}\n")
