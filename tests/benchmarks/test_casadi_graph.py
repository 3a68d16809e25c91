"""CasADi's generator gets exactly the graph that rbdgen prints."""

from __future__ import annotations

import numpy as np

from benchmarks.casadi_c import graph_function
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph, Input, Node, Output

GRAPH = Graph(
    (Input("x", 2), Input("y", 1)),
    (
        Node("input", (), 0.0),
        Node("input", (), 1.0),
        Node("input", (), 2.0),
        Node("const", (), 0.0),
        Node("sin", (0,)),
        Node("cos", (0,)),
        Node("mul", (4, 2)),
        Node("sub", (6, 1)),
        Node("div", (7, 5)),
        Node("sq", (8,)),
        Node("sqrt", (9,)),
        Node("neg", (10,)),
        Node("add", (11, 0)),
    ),
    (Output("M", (2, 2), (12, 3, 8, 9)), Output("z", (1,), (3,))),
)


def test_every_operation_and_zeros_of_the_structure() -> None:
    function = graph_function("toy", GRAPH)
    x, y = np.array([0.3, -1.2]), np.array([2.5])
    expected = evaluate(GRAPH, {"x": x, "y": y})
    M, z = function.call([x, y])
    assert (M.nnz(), z.nnz()) == (4, 1)  # a zero is stored like any other value
    np.testing.assert_allclose(np.ravel(M.full()), np.ravel(expected["M"]), rtol=1e-15)
    np.testing.assert_array_equal(np.ravel(z.full()), expected["z"])
