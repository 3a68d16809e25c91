"""Building a graph again in a `Builder`, operation by operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
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


class Replay:
    """A replay in parts, in which inputs may be given after outputs that do not depend on them were read."""

    def __init__(self, builder: Builder, graph: Graph, given: Mapping[str, Sequence[Expr | Number]]) -> None:
        self._builder, self._graph = builder, graph
        self._edges: dict[int, int] = {}
        starts = accumulate((array.size for array in graph.inputs), initial=0)
        self._starts = {array.name: start for array, start in zip(graph.inputs, starts, strict=False)}
        self._inputs: dict[int, int] = {}
        for name, elements in given.items():
            self.give(name, elements)

    def give(self, name: str, elements: Sequence[Expr | Number]) -> None:
        """Give the expressions that stand for an input array."""
        for k, edge in enumerate(self._builder.edges_of(elements)):
            self._inputs[self._starts[name] + k] = edge

    def output(self, name: str) -> list[Expr]:
        """The elements of an output. All inputs on which they depend must have been given."""
        (output,) = (x for x in self._graph.outputs if x.name == name)
        for index in self._missing(output.elements):
            self._edges[index] = self._build(index)
        return [Expr(self._builder, self._edges[k]) for k in output.elements]

    def _missing(self, wanted: Sequence[int]) -> list[int]:
        """The nodes on which these depend and that were not built, in the order of evaluation."""
        found, left = set[int](), [k for k in wanted if k not in self._edges]
        while left:
            index = left.pop()
            if index not in found:
                found.add(index)
                left += [k for k in self._graph.nodes[index].args if k not in self._edges]
        return sorted(found)

    def _build(self, index: int) -> int:
        op, args, value = self._graph.nodes[index]
        if op == "const":
            return self._builder.number(value)
        if op == "input":
            return self._inputs[int(value)]
        edge = self._builder.apply(op, *(self._edges[k] for k in args))
        if index in self._graph.labels:
            self._builder.label_edge(edge, self._graph.labels[index])
        return edge
