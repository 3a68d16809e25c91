"""Derivatives of traced values by reverse differentiation: a row of a Jacobian at once.

Griewank and Walther, Evaluating Derivatives, 2008, ch. 3. Only what depends on the wanted inputs is visited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rbdgen.graph.builder import Builder, Expr

Scalar = Any


def pullback(values: Sequence[Scalar], weights: Sequence[Scalar], inputs: Sequence[Expr]) -> list[Scalar]:
    """The derivatives of sum_k weights[k] values[k] by every input, the weights held; 0 where there is none.

    The inputs are elements of arrays, not sums or products.
    """
    builder = inputs[0].builder
    active = _dependent(builder, {x.edge >> 1 for x in inputs})
    adjoint: dict[int, Expr] = {}

    def gather(edge: int, part: Expr) -> None:
        node = edge >> 1
        if node in active:
            signed = -part if edge & 1 else part
            adjoint[node] = adjoint[node] + signed if node in adjoint else signed

    for value, weight in zip(values, weights, strict=True):
        if isinstance(value, Expr):
            gather(value.edge, weight if isinstance(weight, Expr) else builder.constant(weight))
    for node in sorted(active, reverse=True):
        if node in adjoint and builder.nodes[node][0] != "input":
            for edge, slope in _slopes(builder, node):
                gather(edge, adjoint[node] * slope)
    found = [adjoint.get(x.edge >> 1, 0) for x in inputs]
    return [0 if isinstance(x, Expr) and x.constant == 0 else x for x in found]


def _dependent(builder: Builder, wanted: set[int]) -> set[int]:
    """The nodes that depend on these, themselves among them; nodes stand behind their arguments."""
    active = set(wanted)
    for node in range(min(wanted), len(builder.nodes)):
        if any(edge >> 1 in active for edge in builder.nodes[node][1:]):
            active.add(node)
    return active


def _slopes(builder: Builder, node: int) -> Iterator[tuple[int, Scalar]]:
    """Every argument's edge, and the derivative by what stands at that edge; a sign has none."""
    op, *edges = builder.nodes[node]
    first, own = Expr(builder, edges[0]), Expr(builder, 2 * node)
    if op == "add":
        yield from ((edge, 1) for edge in edges)
    elif op == "mul":
        yield edges[0], Expr(builder, edges[1])
        yield edges[1], first
    elif op == "sq":
        yield edges[0], first * 2
    elif op == "inv":
        yield edges[0], -(own * own)
    elif op == "sqrt":
        yield edges[0], 0.5 / own
    elif op == "sin":
        yield edges[0], first.cos()
    elif op == "cos":
        yield edges[0], -first.sin()
