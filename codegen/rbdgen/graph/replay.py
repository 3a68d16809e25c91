"""Building a graph again in a `Builder`, operation by operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rbdgen.graph.builder import Builder
from rbdgen.graph.expression import Expr, Number
from rbdgen.graph.node import Graph

NONE: Mapping[str, Sequence[Expr | Number]] = MappingProxyType({})


def replay(
    builder: Builder, graph: Graph, given: Mapping[str, Sequence[Expr | Number]] = NONE
) -> dict[str, list[Expr]]:
    """The elements of a graph's outputs, after its operations and labels were built in the builder.

    `given` has the expressions that stand for input arrays; arrays that are not given are declared as inputs.
    """
    edges = replayed(builder, graph, given)
    return {
        output.name: [Expr(builder, edges[element]) for element in output.elements]
        for output in graph.outputs
    }


def replayed(
    builder: Builder, graph: Graph, given: Mapping[str, Sequence[Expr | Number]] = NONE
) -> list[int]:
    """Build the graph as `replay` does, and return the edge of every node."""
    inputs: list[int] = []
    for array in graph.inputs:
        elements = (
            given[array.name] if array.name in given else builder.input(array.name, array.size, array.lanes)
        )
        inputs += builder.edges_of(elements)
    edges: list[int] = []
    for op, args, value in graph.nodes:
        if op == "mul":  # products and sums are most of a graph, and two calls less halve their time
            edge = builder.product(edges[args[0]], edges[args[1]])
        elif op == "add":
            edge = builder.sum(edges[args[0]], edges[args[1]])
        elif op == "const":
            edge = builder.number(value)
        elif op == "input":
            edge = inputs[int(value)]
        else:
            edge = builder.apply(op, *[edges[k] for k in args])
        edges.append(edge)
    for index, text in graph.labels.items():
        builder.label_edge(edges[index], text)
    return edges
