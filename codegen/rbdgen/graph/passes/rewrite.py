"""The framework of passes that work node by node: a rule replaces each node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rbdgen.graph.node import Graph, Node, Output

Rule: TypeAlias = "Callable[[Rewriting, int, Node], int]"
"""Takes the rewriting, the old index of a node, and the node with its new arguments; gives its new index."""


class Rewriting:
    """Collects the nodes that rules write."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._constants: dict[float, int] = {}

    def put(self, op: str, *args: int, value: float = 0.0) -> int:
        """Write a node and return its index."""
        self.nodes.append(Node(op, args, value))
        return len(self.nodes) - 1

    def constant(self, value: float) -> int:
        """The index of a constant, which is written once."""
        if value not in self._constants:
            self._constants[value] = self.put("const", value=value)
        return self._constants[value]

    def constant_value(self, index: int) -> float | None:
        """The value of a constant node, None for other nodes."""
        node = self.nodes[index]
        return node.value if node.op == "const" else None


def rewrite(graph: Graph, rule: Rule) -> Graph:
    """The graph with every node replaced by the rule, in order; the same object if nothing changes."""
    rewriting = Rewriting()
    place: list[int] = []
    for index, (op, args, value) in enumerate(graph.nodes):
        place.append(rule(rewriting, index, Node(op, tuple([place[argument] for argument in args]), value)))
    return relabelled(graph, rewriting.nodes, place)


def relabelled(graph: Graph, nodes: Sequence[Node], place: Sequence[int]) -> Graph:
    """The graph with other nodes. `place` gives the new index of each old node, -1 if it was removed."""
    after = Graph(
        graph.inputs,
        tuple(nodes),
        tuple(
            Output(output.name, output.shape, tuple(place[element] for element in output.elements))
            for output in graph.outputs
        ),
        {place[index]: text for index, text in graph.labels.items() if place[index] >= 0},
    )
    return graph if after == graph else after
