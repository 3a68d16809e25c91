"""Strength reduction: the same value by cheaper operations."""

from __future__ import annotations

import math
from collections import Counter

from rbdgen.graph.node import Graph, Node
from rbdgen.graph.passes.rewrite import Rewriting, rewrite


def strength(graph: Graph) -> Graph:
    """x x becomes sq(x), 2 x becomes x + x, x / c becomes (1 / c) x, quotients by one divisor share 1 / d.

    A shared reciprocal makes k divisions into one and k products: one operation more, k - 1 divisions
    fewer, and less work by `Cost.work`. Run `cse` before, so that equal divisors are one node, and
    `dead` after.
    """
    divisors = Counter(args[1] for op, args, _ in graph.nodes if op == "div")
    shared = {divisor for divisor, count in divisors.items() if count > 1}
    reciprocals: dict[int, int] = {}

    def rule(out: Rewriting, index: int, node: Node) -> int:
        op, args, value = node
        if op == "const":
            return out.constant(value)
        if op == "mul":
            return _product(out, *args)
        if op == "div":
            numerator, divisor = args
            known = out.constant_value(divisor)
            if known is not None and known != 0 and math.isfinite(1 / known):
                return _product(out, out.constant(1 / known), numerator)
            if graph.nodes[index].args[1] in shared:
                if divisor not in reciprocals:
                    reciprocals[divisor] = out.put("div", out.constant(1.0), divisor)
                one = out.constant_value(numerator) == 1
                return reciprocals[divisor] if one else _product(out, numerator, reciprocals[divisor])
        return out.put(op, *args, value=value)

    return rewrite(graph, rule)


def _product(out: Rewriting, a: int, b: int) -> int:
    if a == b:
        return out.put("sq", a)
    if out.constant_value(a) == 2:
        return out.put("add", b, b)
    if out.constant_value(b) == 2:
        return out.put("add", a, a)
    return out.put("mul", a, b)
