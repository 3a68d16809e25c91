"""The sign of a number is an operation of the graph, with equal bits by the interpreter and compiled C."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.graph.builder import Builder
from rbdgen.graph.engine import new_engine
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.passes.fold import fold

X = np.array([[3.0], [-0.5], [0.0], [-0.0], [5e-324], [np.nan]])


@pytest.mark.parametrize("engine", ["casadi", "sympy", "graph"])
def test_engines(engine: str) -> None:
    tracer = new_engine(engine)
    (x,) = tracer.symbols("x", 1)
    graph = tracer.graph([("y", (2,), [tracer.sign(x) * 2, tracer.sign(-x)])])
    assert [node.op for node in graph.nodes].count("sign") == 1, "sign(-x) is -sign(x)"
    y = evaluate(graph, {"x": X})["y"]
    assert np.array_equal(y, np.sign(X) * [2, -1], equal_nan=True)


def test_known_values_are_folded() -> None:
    builder = Builder()
    edges = [(-builder.constant(3)).sign(), builder.constant(0).sign()]
    assert [edge.constant for edge in edges] == [-1, 0]
    raw = Graph((Input("x", 1),), (Node("const", (), -2.0), Node("sign", (0,))), (Output("y", (), (1,)),))
    assert [node for node in fold(raw).nodes if node.op == "const"][-1].value == -1
