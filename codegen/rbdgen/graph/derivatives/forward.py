"""Forward differentiation: the rates of values when inputs change at given rates (Jacobian-vector
products).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import islice
from operator import add, mul
from typing import Any

from rbdgen.graph.builder import Builder
from rbdgen.graph.derivatives.between_lanes import BETWEEN_LANES, rate_between_lanes
from rbdgen.graph.derivatives.slopes import AS_THEY_ARE, Moving, Told, declared, dependent, slopes
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.replay import replay
from rbdgen.signature import DOT

Scalar = Any


def jvp(graph: Graph, by: Sequence[Moving], told: Told = AS_THEY_ARE) -> Graph:
    """The graph of y_dot for every output y: the sum of (dy/dx) x_dot over all x in `by`.

    Its inputs are those of the given graph and one x_dot for every x in `by`. `told` has the outputs whose
    y_dot is expressed in other numbers than the rates of the elements of y.
    """
    builder = Builder()
    arrays = declared(builder, graph)
    values = replay(builder, graph, arrays)
    numbers = {x.name: builder.input(x.name + DOT, x.size) for x in by}
    # all outputs together, as every pass visits the whole graph
    every = iter(rates_of([x for y in graph.outputs for x in values[y.name]], arrays, numbers, by))
    outputs = []
    for y in graph.outputs:
        moving = told.get(y.name, Moving(y.name, y.shape))
        rates = list(islice(every, y.size))
        if moving.rates is not None:
            rates = list(moving.rates(values[y.name], rates))
        outputs.append((y.name + DOT, moving.shape, rates))
    return builder.graph(outputs)


def rates_of(
    values: Sequence[Scalar],
    arrays: Mapping[str, Sequence[Expr]],
    numbers: Mapping[str, Sequence[Scalar]],
    by: Sequence[Moving],
) -> list[Scalar]:
    """The rates of `values` if `numbers` move the arrays in `by`."""
    moved = [element for x in by for element in arrays[x.name]]
    rates = [
        rate
        for x in by
        for rate in (numbers[x.name] if x.rates is None else x.rates(arrays[x.name], numbers[x.name]))
    ]
    return pushforward(values, moved, rates)


def pushforward(values: Sequence[Scalar], inputs: Sequence[Expr], rates: Sequence[Scalar]) -> list[Scalar]:
    """The rates of values when every input has its own rate; 0 if a value depends on none.

    The inputs must be elements of arrays, not sums or products.
    """
    builder = inputs[0].builder
    known: dict[int, Scalar] = {x.edge >> 1: rate for x, rate in zip(inputs, rates, strict=True)}

    def rate(edge: int) -> Scalar:
        own = known.get(edge >> 1, 0)
        return -own if edge & 1 else own

    for node in sorted(dependent(builder, inputs)):
        if node in known:
            continue
        if builder.nodes[node][0] in BETWEEN_LANES:
            known[node] = rate_between_lanes(builder, node, rate)
        else:
            parts = [
                reduce(mul, factors, rate(edge))
                for edge, factors in slopes(builder, node)
                if edge >> 1 in known
            ]
            known[node] = reduce(add, parts, 0)
    return [rate(x.edge) if isinstance(x, Expr) else 0 for x in values]
