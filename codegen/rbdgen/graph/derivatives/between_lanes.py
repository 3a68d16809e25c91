"""The derivatives of operations between lanes, which are linear: see `graph/node.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from rbdgen.graph.edge_builder import EdgeBuilder
from rbdgen.graph.expression import Expr
from rbdgen.graph.ops import OPS

Scalar = Any

BETWEEN_LANES: Final = frozenset(row.name for row in OPS.values() if row.of_lanes)
"""The operations whose lanes depend on each other."""


def rate_between_lanes(builder: EdgeBuilder, node: int, rate: Callable[[int], Scalar]) -> Scalar:
    """The rate of a node from the rates of the edges that it reads."""
    op, *edges = builder.nodes[node]
    index = [Expr(builder, edges.pop())] if op == "lane" else []
    rates = [rate(edge) for edge in edges]
    known = next((x for x in rates if isinstance(x, Expr)), None)
    return 0 if known is None else known.applied(op, *rates, *index)


def parts_between_lanes(builder: EdgeBuilder, node: int, bar: Expr) -> Iterator[tuple[int, Expr]]:
    """The edges that a node reads, each with what the adjoint of the node adds to that of the edge."""
    op, *edges = builder.nodes[node]
    lanes = range(builder.lanes)
    if op == "join":  # the adjoint of the sum is that of its terms in all lanes
        yield edges[0], bar
    elif op == "turn":
        for _ in lanes[1:]:
            bar = bar.applied("turn", bar)
        yield edges[0], bar
    elif op == "lane":
        index = int(builder.constants[edges[1] >> 1])
        yield edges[0], bar.applied("beside", *(bar if k == index else 0 for k in lanes))
    else:
        for k, edge in enumerate(edges):
            yield edge, bar.applied("lane", bar, k)
