"""Whole derivatives: the Jacobian of a graph's outputs, and the Hessian of a single number.

The columns of a Jacobian are the rates along the unit vectors of an input, and its rows are the gradients of
the elements of the outputs. What does not depend on the direction is built once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from rbdgen.graph.builder import Builder
from rbdgen.graph.derivatives.forward import jvp
from rbdgen.graph.derivatives.reverse import vjp
from rbdgen.graph.derivatives.slopes import AS_THEY_ARE, Moving, Told, declared
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.replay import replay
from rbdgen.signature import BAR, DOT


def jacobian_name(y: str, x: str) -> str:
    """The name of the derivative of an output y by an input x."""
    return f"d{y}_d{x}"


def by_columns(graph: Graph, by: Sequence[Moving], told: Told = AS_THEY_ARE) -> Graph:
    """The derivative of every output by every x in `by`, column by column. For `told`, see `jvp`."""
    return columns_of(jvp(graph, by, told), by)


def columns_of(along: Graph, by: Sequence[Moving]) -> Graph:
    """The derivative of every output by every x in `by`, from the graph of `jvp`."""
    builder = Builder()
    found = _along_units(builder, along, [x.name + DOT for x in by])
    outputs = []
    for y in along.outputs:
        for x, columns in zip(by, found, strict=True):
            elements = [column[y.name][k] for k in range(y.size) for column in columns]
            name = jacobian_name(y.name.removesuffix(DOT), x.name)
            outputs.append((name, (*y.shape, *x.shape), elements))
    return builder.graph(outputs)


def by_rows(graph: Graph, by: Sequence[Moving], told: Told = AS_THEY_ARE) -> Graph:
    """The derivative of every output by every x in `by`, row by row. For `told`, see `vjp`."""
    return rows_of(
        vjp(graph, by, told), [told.get(y.name, Moving(y.name, y.shape)) for y in graph.outputs], by
    )


def rows_of(back: Graph, of: Sequence[Moving], by: Sequence[Moving]) -> Graph:
    """The derivative of every y in `of` by every x in `by`, from the graph of `vjp`."""
    builder = Builder()
    found = _along_units(builder, back, [y.name + BAR for y in of])
    outputs = []
    for y, rows in zip(of, found, strict=True):
        for x in by:
            elements = [element for row in rows for element in row[x.name + BAR]]
            outputs.append((jacobian_name(y.name, x.name), (*y.shape, *x.shape), elements))
    return builder.graph(outputs)


def with_gradient(graph: Graph, by: Sequence[Moving]) -> Graph:
    """The only number that a graph computes, and its derivative by every x in `by`."""
    (y,) = graph.outputs
    back = vjp(graph, by)
    builder = Builder()
    arrays = declared(builder, graph)
    value = replay(builder, graph, arrays)
    row = replay(builder, back, {**arrays, y.name + BAR: [1]})
    gradients = [(jacobian_name(y.name, x.name), x.shape, row[x.name + BAR]) for x in by]
    return builder.graph([(y.name, y.shape, value[y.name]), *gradients])


def hessian(graph: Graph, by: Sequence[Moving]) -> Graph:
    """The second derivatives of the only number that a graph computes, by every pair of `by` in order: the
    columns of the derivative of its gradient.
    """
    (y,) = graph.outputs
    gradient = with_gradient(graph, by)
    second = by_columns(replace(gradient, outputs=gradient.outputs[1:]), by)
    kept = {jacobian_name(jacobian_name(y.name, x.name), z.name) for k, x in enumerate(by) for z in by[k:]}
    builder = Builder()
    values = replay(builder, second)
    # the second derivative of T is named dT_dq_dv, not ddT_dq_dv
    outputs = [(z.name[1:], z.shape, values[z.name]) for z in second.outputs if z.name in kept]
    return builder.graph(outputs)


def _along_units(
    builder: Builder, graph: Graph, directions: Sequence[str]
) -> list[list[dict[str, list[Expr]]]]:
    """The outputs of a graph that is linear in the arrays `directions`, at every unit vector of each of them.
    The other inputs are declared in the builder.
    """
    arrays = {
        array.name: builder.input(array.name, array.size)
        for array in graph.inputs
        if array.name not in directions
    }
    sizes = {array.name: array.size for array in graph.inputs}
    columns = _Columns(builder, graph, arrays, directions)
    zeros = {name: [0] * sizes[name] for name in directions}
    return [
        [
            columns.along({**zeros, name: [int(j == k) for j in range(sizes[name])]})
            for k in range(sizes[name])
        ]
        for name in directions
    ]


class _Columns:
    """A graph that is built again and again for other values of some inputs. Nodes that depend on none of
    these are built once.
    """

    def __init__(
        self, builder: Builder, graph: Graph, arrays: dict[str, list[Expr]], directions: Sequence[str]
    ) -> None:
        self._builder, self._graph = builder, graph
        starts = accumulate((array.size for array in graph.inputs), initial=0)
        self._starts = {array.name: start for array, start in zip(graph.inputs, starts, strict=False)}
        moved = {
            self._starts[array.name] + k
            for array in graph.inputs
            if array.name in directions
            for k in range(array.size)
        }
        self._inputs = {
            self._starts[name] + k: x.edge for name, values in arrays.items() for k, x in enumerate(values)
        }
        self._edges: dict[int, int] = {}
        self._moving: list[int] = []
        moving = set[int]()
        for index, (op, args, value) in enumerate(graph.nodes):
            if (op == "input" and int(value) in moved) or not moving.isdisjoint(args):
                moving.add(index)
                self._moving.append(index)
            else:
                self._edges[index] = self._build(index, self._edges)

    def along(self, directions: dict[str, list[int]]) -> dict[str, list[Expr]]:
        """The elements of every output at these values."""
        for name, values in directions.items():
            for k, value in enumerate(values):
                self._inputs[self._starts[name] + k] = self._builder.number(float(value))
        edges = dict(self._edges)
        for index in self._moving:
            edges[index] = self._build(index, edges)
        return {
            output.name: [Expr(self._builder, edges[k]) for k in output.elements]
            for output in self._graph.outputs
        }

    def _build(self, index: int, edges: dict[int, int]) -> int:
        op, args, value = self._graph.nodes[index]
        if op == "const":
            return self._builder.number(value)
        if op == "input":
            return self._inputs[int(value)]
        return self._builder.apply(op, *(edges[k] for k in args))
