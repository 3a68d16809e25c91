"""Common subexpressions: every quantity is computed once."""

from __future__ import annotations

from rbdgen.graph.node import Graph, Node
from rbdgen.graph.passes.rewrite import Rewriting, rewrite


def cse(graph: Graph) -> Graph:
    """Make nodes of equal operation and arguments one; a + b equals b + a, a b equals b a."""
    seen: dict[Node, int] = {}

    def rule(out: Rewriting, _: int, node: Node) -> int:
        op, args, value = node
        key = node
        if op in ("add", "mul") and args[0] > args[1]:
            key = Node(op, (args[1], args[0]), value)
        if key not in seen:
            seen[key] = out.put(op, *args, value=value)
        return seen[key]

    return rewrite(graph, rule)
