"""Dead-code elimination."""

from __future__ import annotations

from rbdgen.graph.node import Graph, Node
from rbdgen.graph.passes.rewrite import relabelled


def dead(graph: Graph) -> Graph:
    """Remove the nodes on which no output depends."""
    needed = graph.needed()
    place: list[int] = []
    nodes: list[Node] = []
    for (op, args, value), wanted in zip(graph.nodes, needed, strict=True):
        place.append(len(nodes) if wanted else -1)
        if wanted:
            nodes.append(Node(op, tuple([place[argument] for argument in args]), value))
    return relabelled(graph, nodes, place)
