"""Values that were held for differentiation are values as any other, once everything is differentiated."""

from __future__ import annotations

from rbdgen.graph.edges import SELECTS
from rbdgen.graph.node import Graph, Node
from rbdgen.graph.passes.dead import dead
from rbdgen.graph.passes.rewrite import Rewriting, rewrite


def released(graph: Graph) -> Graph:
    """Remove the operation `held`, and choices between a value and itself that are left; no bit changes."""
    if all(node.op != "held" for node in graph.nodes):
        return graph
    return dead(rewrite(graph, _rule))


def _rule(out: Rewriting, _: int, node: Node) -> int:
    op, args, value = node
    if op == "held" or (op in SELECTS and args[2] == args[3]):
        return args[-1]
    return out.put(op, *args, value=value)
