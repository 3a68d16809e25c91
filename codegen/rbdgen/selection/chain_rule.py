"""The Jacobian of a composition by the chain rule through its calls.

The derivatives of some calls, such as those of `aba`, are rows of the table. All else is one graph, in which
the results of these calls are inputs and their arguments are outputs. This graph is differentiated by itself,
and the rows of derivatives lead from the rates of the arguments to those of the results. The Jacobian is
again a composition, which calls the rows and their derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate, pairwise
from operator import add, mul
from typing import TypeAlias, TypeVar

from rbdgen.functions.composition import Call, Composition
from rbdgen.functions.differentiated import HELD
from rbdgen.functions.table import by_derivatives, lookup
from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import cost
from rbdgen.graph.derivatives.forward import jvp
from rbdgen.graph.derivatives.jacobian import columns_of, rows_of
from rbdgen.graph.derivatives.reverse import vjp
from rbdgen.graph.derivatives.slopes import Moving
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph, Input, Output
from rbdgen.graph.programs.dependence import dependence
from rbdgen.graph.replay import Replay, replay
from rbdgen.model.model import Model
from rbdgen.selection.tangents import moving, tangents
from rbdgen.signature import BAR, DOT, Argument, Signature, SizedArgument

T = TypeVar("T")

Vector: TypeAlias = list[Expr]


@dataclass(frozen=True)
class Known:
    """A call whose derivatives are a row of the table."""

    call: Call
    derivatives: str
    """The name of the row of derivatives."""
    arguments: tuple[SizedArgument, ...]
    """The arguments of the call, with names of their own."""
    moved: tuple[SizedArgument, ...]
    """The arguments by which the row has derivatives."""
    results: tuple[SizedArgument, ...]
    """The results of the call, with names of their own."""
    blocks: tuple[SizedArgument, ...]
    """The derivatives of every result by every argument in `moved`, in order."""

    @property
    def slopes(self) -> str:
        """The name of the call of the row of derivatives."""
        return f"derivatives of {self.call.name}"

    def rates(self, moved: Sequence[Vector], slopes: Sequence[Vector]) -> list[Vector]:
        """The rates of every result, from those of the arguments."""
        return [_sum(map(_product, row, moved)) for row in _in_rows(slopes, len(moved))]

    def weights(self, of: Sequence[Vector], slopes: Sequence[Vector]) -> list[Vector]:
        """The weights of every argument, from those of the results."""
        columns = zip(*_in_rows(slopes, len(self.moved)), strict=True)
        return [
            _sum(_product(_transposed(block, len(y)), y) for block, y in zip(column, of, strict=True))
            for column in columns
        ]


class Chain:
    """The chain rule through the calls of a composition on a robot.

    Args:
        composition: the composition.
        model: the robot.
        by: the inputs by which it is differentiated.
    """

    def __init__(self, composition: Composition, model: Model, by: Sequence[Moving]) -> None:
        self._composition, self._model, self._by = composition, model, by
        self._known = list(known_calls(composition, model))

    @property
    def between(self) -> Composition:
        """The composition in which known calls are left out: their results are inputs, and their arguments
        are outputs.
        """
        own, known = self._composition, {each.call.name: each for each in self._known}
        inputs: list[Input] = []
        for array in own.graph.inputs:
            each = known.get(array.name)
            inputs += [Input(y.name, y.size) for y in each.results] if each else [array]
        outputs: list[Output] = []
        for output in own.graph.outputs:
            each = known.get(output.name)
            outputs += _split(output, each.arguments) if each else [output]
        signature = Signature(
            f"{own.name} between calls",
            (*own.signature.inputs, *(_values(y) for each in self._known for y in each.results)),
            (*own.signature.outputs, *(_values(x) for each in self._known for x in each.moved)),
        )
        graph = replace(own.graph, inputs=tuple(inputs), outputs=tuple(outputs))
        calls = tuple(call for call in own.calls if call.name not in known)
        return replace(own, signature=signature, graph=graph, steps=calls)

    def jacobian(self, graph: Graph, outputs: Sequence[Argument]) -> Composition:
        """The Jacobian, by columns or by rows, whichever takes fewer operations.

        Args:
            graph: that of `between`.
            outputs: the outputs of the Jacobian.
        """
        own = self._composition.signature.sized(self._model.sizes).outputs
        of = [moving(self._model, y, coordinates=False) for y in own]
        results = [moving(self._model, y, coordinates=False) for each in self._known for y in each.results]
        told = tangents(self._model, [*own, *(x for each in self._known for x in each.moved)])
        by = [*self._by, *results]
        ways = (
            columns_of(self._forward(jvp(graph, by, told), of), self._by),
            rows_of(self._back(vjp(graph, by, told)), of, self._by),
        )
        return self._composed(min(ways, key=lambda way: cost(way).total), outputs)

    def _forward(self, along: Graph, of: Sequence[Moving]) -> Graph:
        """The rates of the outputs along those of the inputs, with the rates of results by the chain rule."""
        builder, rates = Builder(), {y.name + DOT for each in self._known for y in each.results}
        replayed = _opened(builder, along, rates)
        for each in self._known:
            slopes = [builder.input(block.name, block.size) for block in each.blocks]
            moved = [replayed.output(x.name + DOT) for x in each.moved]
            for y, rate in zip(each.results, each.rates(moved, slopes), strict=True):
                replayed.give(y.name + DOT, rate)
        return builder.graph([(y.name + DOT, y.shape, replayed.output(y.name + DOT)) for y in of])

    def _back(self, back: Graph) -> Graph:
        """The weights of the inputs along those of the outputs, with the weights of arguments by the chain
        rule.
        """
        builder, weights = Builder(), {x.name + BAR for each in self._known for x in each.moved}
        replayed = _opened(builder, back, weights)
        for each in reversed(self._known):
            slopes = [builder.input(block.name, block.size) for block in each.blocks]
            of = [replayed.output(y.name + BAR) for y in each.results]
            for x, weight in zip(each.moved, each.weights(of, slopes), strict=True):
                replayed.give(x.name + BAR, weight)
        return builder.graph([(x.name + BAR, x.shape, replayed.output(x.name + BAR)) for x in self._by])

    def _composed(self, derivative: Graph, outputs: Sequence[Argument]) -> Composition:
        """The composition that calls the rows and their derivatives, which this graph connects."""
        own, builder = self._composition, Builder()
        given = {x.name: builder.input(x.name, x.size) for x in own.graph.inputs}
        arguments = replay(builder, own.graph, given)
        calls = [*own.calls]
        for each in self._known:
            slopes = builder.input(each.slopes, sum(block.size for block in each.blocks))
            given |= _parts(each.results, given[each.call.name]) | _parts(each.blocks, slopes)
            arguments[each.slopes] = arguments[each.call.name]
            calls.append(Call(each.derivatives, each.call.sizes, each.slopes))
        read = {x.name: given[x.name] for x in derivative.inputs if x.name in given}
        found = replay(builder, derivative, read)
        graph = builder.graph(
            [
                *((y.name, y.shape, found[y.name]) for y in derivative.outputs),
                *((call.name, (sum(call.sizes),), arguments[call.name]) for call in calls),
            ]
        )
        signature = Signature(f"{own.name} by calls", own.signature.inputs, tuple(outputs))
        return replace(own, signature=signature, graph=graph, steps=tuple(calls))


def known_calls(composition: Composition, model: Model) -> Iterator[Known]:
    """The calls whose derivatives are a row of the table, if the arguments by which that row has none do not
    move.
    """
    held = {x.name for x in composition.signature.inputs if x.kind in HELD}
    sizes = {x.name: x.size for x in composition.graph.inputs if x.name not in held}
    moves = dependence(composition.graph, sizes)
    for call in composition.calls:
        row = lookup(call.function, model)
        made = by_derivatives(row, model)
        if made is None:
            continue
        jacobian, derivatives = made
        inputs = row.sized(model).inputs
        by = [x.name for x in row.signature.inputs if x.kind not in HELD]
        moving = {pair // sizes[name] for name, pairs in moves[call.name].items() for pair in pairs}
        places = _parts(inputs, range(sum(call.sizes)))
        if any(x.name not in by and not moving.isdisjoint(places[x.name]) for x in inputs):
            continue
        arguments = tuple(_of(call, "argument", x) for x in inputs)
        yield Known(
            call,
            derivatives.name,
            arguments,
            tuple(x for x, own in zip(arguments, inputs, strict=True) if own.name in by),
            tuple(_of(call, "result", y) for y in row.sized(model).outputs),
            tuple(_of(call, "derivative", x) for x in jacobian.sized(model).outputs),
        )


def _of(call: Call, what: str, x: SizedArgument) -> SizedArgument:
    return replace(x, name=f"{what} {x.name} of {call.name}")


def _values(x: SizedArgument) -> Argument:
    """An argument with the elements of this array and no other meaning, such as that of a configuration."""
    return Argument(x.name, "values", x.shape, x.unit, x.meaning)


def _opened(builder: Builder, graph: Graph, missing: set[str]) -> Replay:
    """A replay of a graph of which the inputs `missing` are given later. The others are declared."""
    given = {x.name: builder.input(x.name, x.size) for x in graph.inputs if x.name not in missing}
    return Replay(builder, graph, given)


def _split(output: Output, parts: Sequence[SizedArgument]) -> list[Output]:
    elements = _parts(parts, output.elements)
    return [Output(x.name, x.shape, tuple(elements[x.name])) for x in parts]


def _parts(arrays: Sequence[SizedArgument], elements: Sequence[T]) -> dict[str, list[T]]:
    """The elements of each of several arrays that follow each other."""
    ends = [*accumulate((x.size for x in arrays), initial=0)]
    return {x.name: list(elements[a:b]) for x, (a, b) in zip(arrays, pairwise(ends), strict=True)}


def _in_rows(blocks: Sequence[T], columns: int) -> Iterator[Sequence[T]]:
    return (blocks[k : k + columns] for k in range(0, len(blocks), columns))


def _product(matrix: Vector, x: Vector) -> Vector:
    """The product of a matrix, given by its elements, and a vector."""
    return [reduce(add, map(mul, row, x)) for row in _in_rows(matrix, len(x))]


def _transposed(matrix: Vector, rows: int) -> Vector:
    columns = len(matrix) // rows
    return [element for k in range(columns) for element in matrix[k::columns]]


def _sum(vectors: Iterable[Vector]) -> Vector:
    return reduce(lambda a, b: list(map(add, a, b)), vectors)
