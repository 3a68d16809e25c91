"""Compositions in which rows that are computed through another row, such as steps, call that one instead."""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.composed import called_state, elements_of
from rbdgen.functions.composition import Call, Composition, Value
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.graph.builder import Builder
from rbdgen.graph.expression import Expr
from rbdgen.model.model import Model
from rbdgen.sweeps.inputs import State


def expanded(function: Function, model: Model) -> Composition | None:
    """A composition, or a row that is computed through another one, as a composition in which all such rows
    call the other one. None for other rows.
    """
    if function.composition is None and function.through is None:
        return None
    builder = Builder()
    recorder = _Recorder(builder, model)
    signature = function.sized(model)
    given = {x.name: builder.input(x.name, x.size) for x in signature.inputs}
    if function.composition is None:
        outputs = recorder.call(function.name, list(given.values()))
    else:
        outputs = function.composition.run(builder, given, recorder.call)
    graph = builder.graph(
        [
            *((y.name, y.shape, values) for y, values in zip(signature.outputs, outputs, strict=True)),
            *((name, (len(values),), values) for name, values in recorder.arguments),
        ]
    )
    return Composition(function.signature, function.summary, graph, tuple(recorder.calls))


class _Recorder:
    """Notes the calls of rows, and gives symbols for their results."""

    def __init__(self, builder: Builder, model: Model) -> None:
        self.calls: list[Call] = []
        self.arguments: list[tuple[str, list[Value]]] = []
        self._builder, self._model = builder, model

    def call(self, name: str, arguments: Sequence[Sequence[Value]]) -> Sequence[Sequence[Value]]:
        """The results of a row. If it is computed through another one, that one is called."""
        row = lookup(name, self._model)
        if row.through is None:
            return self._noted(row, arguments)
        through = lookup(row.through.row, self._model)
        inputs = through.sized(self._model).inputs

        def other(state: State) -> Sequence[Value]:
            return self._noted(through, [elements_of(state, x) for x in inputs])[0]

        given = zip(row.sized(self._model).inputs, arguments, strict=True)
        return row.through.outputs(self._model, called_state(self._model, given, State(())), other)

    def _noted(self, row: Function, arguments: Sequence[Sequence[Value]]) -> list[list[Expr]]:
        name = f"call {len(self.calls)}"
        self.calls.append(Call(row.name, tuple(map(len, arguments)), name))
        self.arguments.append((name, [value for values in arguments for value in values]))
        outputs = row.sized(self._model).outputs
        symbols = iter(self._builder.input(name, sum(y.size for y in outputs)))
        return [[next(symbols) for _ in range(y.size)] for y in outputs]
