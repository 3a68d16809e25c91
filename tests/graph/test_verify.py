"""The verifier refuses every violation of the rules of graphs, and names its place and kind."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from support.graphs import ALL, graphs

from rbdgen.errors import GraphError
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.verify import verify

LEGAL = Graph(
    (Input("x", 2), Input("y", 1)),
    (
        Node("input", (), 0.0),
        Node("input", (), 2.0),
        Node("const", (), 0.5),
        Node("add", (0, 1)),
        Node("sin", (3,)),
    ),
    (Output("a", (2, 1), (3, 4)), Output("b", (), (2,)), Output("c", (0,), ())),
    {3: "sum"},
)


def with_node(index: int, node: Node) -> Graph:
    nodes = list(LEGAL.nodes)
    nodes[index] = node
    return replace(LEGAL, nodes=tuple(nodes))


BROKEN: list[tuple[Graph, str]] = [
    (with_node(3, Node("pow", (0, 1))), r"node 3 \(pow\): no such operation"),
    (with_node(3, Node("add", (0,))), r"node 3 \(add\): takes 2 arguments and has 1"),
    (with_node(4, Node("sin", (0, 1))), r"node 4 \(sin\): takes 1 arguments and has 2"),
    (with_node(2, Node("const", (0,), 1.0)), r"node 2 \(const\): takes 0 arguments"),
    (with_node(3, Node("add", (0, 3))), r"node 3 \(add\): argument 3 is not an earlier node"),
    (with_node(3, Node("add", (0, 4))), r"argument 4 is not an earlier node"),
    (with_node(3, Node("add", (-1, 0))), r"argument -1 is not an earlier node"),
    (with_node(2, Node("const", (), math.nan)), r"node 2 \(const\): value nan is not finite"),
    (with_node(2, Node("const", (), -math.inf)), r"value -inf is not finite"),
    (with_node(1, Node("input", (), 3.0)), r"node 1 \(input\): position 3 is outside the 3 input elements"),
    (with_node(1, Node("input", (), -1.0)), r"position -1 is outside"),
    (with_node(1, Node("input", (), 0.5)), r"position 0.5 is outside"),
    (with_node(1, Node("input", (), math.nan)), r"position nan is outside"),
    (with_node(3, Node("add", (0, 1), 2.0)), r"node 3 \(add\): value 2 belongs to const and input only"),
    (replace(LEGAL, inputs=(Input("x", 2), Input("x", 1))), r"input 'x': the name occurs twice"),
    (replace(LEGAL, inputs=(Input("x", 4), Input("y", -1))), r"input 'y': its size is -1"),
    (
        replace(LEGAL, outputs=(Output("a", (2,), (3,)),)),
        r"output 'a': shape \(2,\) needs 2 elements, 1 are given",
    ),
    (
        replace(LEGAL, outputs=(Output("a", (-1, -1), (3,)),)),
        r"output 'a': shape \(-1, -1\) has a negative length",
    ),
    (replace(LEGAL, outputs=(Output("a", (1,), (5,)),)), r"output 'a': element 5 is not a node"),
    (
        replace(LEGAL, outputs=(Output("a", (), (0,)), Output("a", (), (1,)))),
        r"output 'a': the name occurs twice",
    ),
    (replace(LEGAL, labels={9: "far"}), r"label 'far': 9 is not a node"),
]


@pytest.mark.parametrize(("graph", "message"), BROKEN)
def test_refuses(graph: Graph, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        verify(graph)


def test_accepts() -> None:
    verify(LEGAL)


@settings(derandomize=True, max_examples=50, deadline=None)
@given(graphs(ops=ALL))
def test_accepts_random_graphs(graph: Graph) -> None:
    verify(graph)
