"""Derivatives of a function from those of its inverse, which may be cheaper to differentiate.

If y = f(x, z) solves g(x, y) = z, then dy = (dy/dz) (dz - (dg/dx) dx), so only the derivative of f with
respect to z is needed. For forward dynamics this is M^-1, and g is inverse dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.graph.builder import Builder
from rbdgen.graph.derivatives.forward import pushforward
from rbdgen.graph.derivatives.reverse import pullback
from rbdgen.graph.derivatives.slopes import Moving, declared
from rbdgen.graph.node import Graph
from rbdgen.graph.replay import replay
from rbdgen.signature import BAR, DOT


def vjp_by_inverse(graph: Graph, adjoint: Graph, by: Sequence[Moving], z: str) -> Graph:
    """Compute the result of `vjp` from the inverse: z_bar = (dy/dz)^T y_bar and x_bar = -(dg/dx)^T z_bar.

    `adjoint` is the `vjp` of g.
    """
    (y,) = graph.outputs
    builder = Builder()
    arrays = declared(builder, graph)
    values = replay(builder, graph, arrays)
    z_bar = pullback(values[y.name], builder.input(y.name + BAR, y.size), arrays[z])
    bars = replay(builder, adjoint, {**arrays, **values, z + BAR: [-x for x in z_bar]})
    found = {**bars, z + BAR: z_bar}
    return builder.graph([(x.name + BAR, x.shape, found[x.name + BAR]) for x in by])


def jvp_by_inverse(graph: Graph, change: Graph, by: Sequence[Moving], z: str) -> Graph:
    """Compute the result of `jvp` from the inverse: y_dot = (dy/dz) (z_dot - (dg/dx) x_dot).

    `change` is the `jvp` of g.
    """
    (y,) = graph.outputs
    builder = Builder()
    arrays = declared(builder, graph)
    values = replay(builder, graph, arrays)
    numbers = {x.name + DOT: builder.input(x.name + DOT, x.size) for x in by}
    (moved,) = replay(builder, change, {**arrays, **values, **numbers}).values()
    left = [own - rate for own, rate in zip(numbers[z + DOT], moved, strict=True)]
    return builder.graph([(y.name + DOT, y.shape, pushforward(values[y.name], arrays[z], left))])
