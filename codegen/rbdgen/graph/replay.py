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
    """The same, but the result is the edge of every node."""
    inputs: list[int] = []
    for array in graph.inputs:
        elements = (
            given[array.name] if array.name in given else builder.input(array.name, array.size, array.lanes)
        )
        inputs += builder.edges_of(elements)
    unary = {
        "sin": builder.sine,
        "cos": builder.cosine,
        "sqrt": builder.square_root,
        "sign": builder.signum,
        "join": builder.joined,
        "turn": builder.turned,
    }
    edges: list[int] = []
    for op, args, value in graph.nodes:
        if op == "mul":
            edge = builder.product(edges[args[0]], edges[args[1]])
        elif op == "add":
            edge = builder.sum(edges[args[0]], edges[args[1]])
        elif op == "sub":
            edge = builder.sum(edges[args[0]], edges[args[1]] ^ 1)
        elif op == "const":
            edge = builder.number(value)
        elif op == "input":
            edge = inputs[int(value)]
        elif op == "neg":
            edge = edges[args[0]] ^ 1
        elif op == "div":
            edge = builder.product(edges[args[0]], builder.reciprocal(edges[args[1]]))
        elif op == "sq":
            edge = builder.product(edges[args[0]], edges[args[0]])
        else:
            edge = unary[op](edges[args[0]])
        edges.append(edge)
    for index, text in graph.labels.items():
        builder.label_edge(edges[index], text)
    return edges
