"""Reverse differentiation: the gradient of a weighted sum of values (vector-Jacobian products).

Only operations that depend on the wanted inputs are visited. If values have lanes, the sum is over their
lanes, too. The gradient with respect to a number, which is the same for all lanes, is therefore a sum over
the lanes of the values that read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import mul
from typing import Any

from rbdgen.graph.builder import Builder
from rbdgen.graph.derivatives.between_lanes import BETWEEN_LANES, parts_between_lanes
from rbdgen.graph.derivatives.slopes import AS_THEY_ARE, Moving, Told, declared, dependent, slopes
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.replay import replay
from rbdgen.signature import BAR, DOT

Scalar = Any


def vjp(graph: Graph, by: Sequence[Moving], told: Told = AS_THEY_ARE) -> Graph:
    """The graph of x_bar for every x in `by`: the sum of (dy/dx)^T y_bar over all outputs y.

    Its inputs are those of the given graph and one y_bar for every output y. `told` has the outputs whose
    rates, to which y_bar belongs, are expressed in other numbers than those of the elements of y.
    """
    builder = Builder()
    arrays = declared(builder, graph)
    values = replay(builder, graph, arrays)
    weighted: list[tuple[Scalar, Scalar]] = []
    for y in graph.outputs:
        moving = told.get(y.name, Moving(y.name, y.shape))
        weights: Sequence[Scalar] = builder.input(y.name + BAR, moving.size)
        if moving.rates is not None:
            rates = builder.unknowns(y.size)
            weights = pullback(moving.rates(values[y.name], rates), weights, rates)
        weighted += zip(values[y.name], weights, strict=True)
    bars = gradients(builder, weighted, arrays, by)
    return builder.graph([(x.name + BAR, x.shape, bars[x.name]) for x in by])


def transposed(graph: Graph, by: Sequence[Moving]) -> Graph:
    """Compute the result of `vjp` from the graph of `jvp`, which is linear in the rates of `by`."""
    builder = Builder()
    moving = {x.name + DOT for x in by}
    arrays = {
        x.name: builder.unknowns(x.size) if x.name in moving else builder.input(x.name, x.size)
        for x in graph.inputs
    }
    values = replay(builder, graph, arrays)
    weights = {y.name: builder.input(y.name.removesuffix(DOT) + BAR, y.size) for y in graph.outputs}
    found = iter(
        pullback(
            [value for y in graph.outputs for value in values[y.name]],
            [weight for y in graph.outputs for weight in weights[y.name]],
            [rate for x in by for rate in arrays[x.name + DOT]],
        )
    )
    return builder.graph([(x.name + BAR, x.shape, [next(found) for _ in range(x.size)]) for x in by])


def gradients(
    builder: Builder,
    weighted: Iterable[tuple[Scalar, Scalar]],
    arrays: Mapping[str, Sequence[Expr]],
    by: Sequence[Moving],
) -> dict[str, list[Scalar]]:
    """The gradient of the sum of values times their weights, with respect to the numbers that move each
    array.
    """
    values, weights = zip(*weighted, strict=True)
    found = iter(pullback(values, weights, [element for x in by for element in arrays[x.name]]))
    result = {x.name: [next(found) for _ in arrays[x.name]] for x in by}
    for x in by:
        if x.rates is not None:
            numbers = builder.unknowns(x.size, x.lanes)
            result[x.name] = pullback(x.rates(arrays[x.name], numbers), result[x.name], numbers)
    return result


def pullback(values: Sequence[Scalar], weights: Sequence[Scalar], inputs: Sequence[Expr]) -> list[Scalar]:
    """The derivatives of sum_k weights[k] values[k] with respect to every input at constant weights; 0 if
    there is no dependence.

    The inputs must be elements of arrays, not sums or products.
    """
    builder = inputs[0].builder
    active = dependent(builder, inputs)
    adjoint: dict[int, Expr] = {}
    in_lanes: dict[int, Expr] = {}  # what values with lanes add to the adjoint of a number, lane by lane

    def gather(edge: int, part: Expr, lanes: bool) -> None:
        node = edge >> 1
        signed = -part if edge & 1 else part
        found = in_lanes if lanes and node not in builder.with_lanes else adjoint
        found[node] = found[node] + signed if node in found else signed

    for value, weight in zip(values, weights, strict=True):
        if isinstance(value, Expr) and value.edge >> 1 in active:
            own = weight if isinstance(weight, Expr) else Expr(builder, builder.number(float(weight)))
            gather(value.edge, own, own.edge >> 1 in builder.with_lanes)
    for node in sorted(active, reverse=True):
        if node in in_lanes:
            gather(2 * node, Expr(builder, builder.joined(in_lanes[node].edge)), lanes=False)
        op = builder.nodes[node][0]
        if node in adjoint and op in BETWEEN_LANES:
            for edge, part in parts_between_lanes(builder, node, adjoint[node]):
                if edge >> 1 in active:
                    gather(edge, part, lanes=False)
        elif node in adjoint and op != "input":
            for edge, factors in slopes(builder, node):
                if edge >> 1 in active:
                    gather(edge, reduce(mul, factors, adjoint[node]), node in builder.with_lanes)
    found = [adjoint.get(x.edge >> 1, 0) for x in inputs]
    return [0 if isinstance(x, Expr) and x.constant == 0 else x for x in found]
