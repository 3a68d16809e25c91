"""Common-subexpression elimination that preserves every bit of the results."""

from __future__ import annotations

from rbdgen.graph.node import Graph, Node
from rbdgen.graph.passes.rewrite import Rewriting, rewrite


def once(graph: Graph) -> Graph:
    """The graph without operations that are equal to an earlier one.

    Minus signs are moved from factors to products and from terms into sums, and operands of commutative
    operations are sorted. This reveals more equal operations and changes no bit.
    """
    return rewrite(graph, _Once().rule)


class _Once:
    """Writes each operation once."""

    def __init__(self) -> None:
        self._known: dict[Node, int] = {}

    def rule(self, out: Rewriting, _: int, node: Node) -> int:
        op, args, value = node
        plain = [self._without_minus(out, k) for k in args]
        if op == "sq":
            return self._put(out, op, plain[0][0])
        if op in ("mul", "div"):
            (a, a_minus), (b, b_minus) = plain
            found = self._put(out, op, a, b)
            return found if a_minus == b_minus else self._opposite(out, found)
        if op == "neg":
            return self._opposite(out, args[0])
        if op in ("add", "sub"):
            (a, a_minus), (b, b_minus) = plain
            b_minus ^= op == "sub"
            if a_minus and b_minus:
                return self._opposite(out, self._put(out, "add", a, b))
            if a_minus or b_minus:
                return self._put(out, "sub", *((b, a) if a_minus else (a, b)))
            return self._put(out, "add", a, b)
        return self._put(out, op, *args, value=value)

    def _put(self, out: Rewriting, op: str, *args: int, value: float = 0.0) -> int:
        node = Node(op, tuple(sorted(args)) if op in ("add", "mul") else args, value)
        if node not in self._known:
            self._known[node] = out.put(op, *node.args, value=value)
        return self._known[node]

    def _opposite(self, out: Rewriting, k: int) -> int:
        plain, minus = self._without_minus(out, k)
        return plain if minus else self._put(out, "neg", k)

    @staticmethod
    def _without_minus(out: Rewriting, k: int) -> tuple[int, bool]:
        node = out.nodes[k]
        return (node.args[0], True) if node.op == "neg" else (k, False)
