"""Expressions of CasADi and SymPy as functions of a user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rbdgen.errors import GraphError, OptionError
from rbdgen.functions.composition import Composition
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.from_casadi import from_casadi as graph_of_casadi
from rbdgen.graph.from_sympy import from_sympy as graph_of_sympy
from rbdgen.graph.node import Graph, Input, Output
from rbdgen.model.robot import Robot
from rbdgen.own.declaration import KNOWN, Quantity, signature
from rbdgen.own.text import Own, floats_of
from rbdgen.signature import Signature


class Imported(Own):
    """A function of a user's own from expressions, made by `rbdgen.from_casadi` or `rbdgen.from_sympy`."""

    def __init__(self, signature: Signature, graph: Graph, summary: str) -> None:
        self.signature = signature
        self._graph, self._summary = graph, summary

    def __call__(self, robot: Any, *arguments: Any, **named: Any) -> Any:
        """The outputs at one state, by an interpreter.

        Raises:
            RbdgenError: an argument is missing or has another shape than is declared.
        """
        given = floats_of(self, robot, arguments, named)
        outputs = self.signature.sized(robot.model.sizes).outputs
        values = evaluate(self._graph, {x.name: np.ravel(value) for x, value in given.items()})
        found = [np.reshape(values[x.name], x.shape)[()] for x in outputs]
        return found[0] if len(found) == 1 else tuple(found)

    def composition(self, robot: Robot) -> Composition:
        """The expressions as a composition. Raises OptionError if an array has another size on this robot."""
        sized = self.signature.sized(robot.model.sizes)
        arrays: tuple[Input | Output, ...] = (*self._graph.inputs, *self._graph.outputs)
        held = {x.name: x.size for x in arrays}
        for x in (*sized.inputs, *sized.outputs):
            if x.size != held[x.name]:
                raise OptionError(
                    f"function '{self.name}': '{x.name}' has {held[x.name]} elements, but {x.shape} on "
                    f"'{robot.name}'; declare it as a quantity of its own"
                )
        return Composition(self.signature, self._summary, self._graph)


def from_casadi(
    f: Any,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> Imported:
    """Make a function of your own of a `casadi.Function`.

    Args:
        f: a function of SX expressions, or one of MX that expands to SX.
        inputs: the inputs of which more is known than their size: a known array such as "q", a unit, or a
            `Quantity`. Sizes are those of f.
        outputs: the same for outputs.
        name: the name of the function; by default that of f.

    Returns:
        The function, as `rbdgen.function` makes it. Matrices are dense and have rows first.

    Raises:
        RbdgenError: f uses an operation that graphs do not have; the message, one line, names it.
    """
    import casadi  # noqa: PLC0415  (heavy: loaded when used)

    if not isinstance(f, casadi.Function):
        raise OptionError(f"from_casadi: {f!r} is no casadi.Function; make one of your expressions")
    called = name or f.name()
    try:
        scalar = f if f.is_a("SXFunction") else f.expand()
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1]
        raise OptionError(f"function '{called}' does not expand to SX ({reason}); write it with SX") from None
    symbols = scalar.sx_in()
    values = scalar.call(symbols)
    taken = {f.name_in(k): symbol.shape for k, symbol in enumerate(symbols)}
    given = {f.name_out(k): value.shape for k, value in enumerate(values)}
    made = _signature(called, inputs or {}, outputs or {}, taken, given)
    arrays = [(name, casadi.vec(symbol.T)) for name, symbol in zip(taken, symbols, strict=True)]
    rows = [
        (
            x.name,
            _shape(value.shape),
            [value[i, j] for i in range(value.shape[0]) for j in range(value.shape[1])],
        )
        for x, value in zip(made.outputs, values, strict=True)
    ]
    try:
        graph = graph_of_casadi(arrays, rows)
    except GraphError as error:
        raise OptionError(f"function '{called}': {error}") from None
    return Imported(made, graph, f"{called}, from CasADi")


def from_sympy(
    name: str,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    units: Mapping[str, Any] | None = None,
) -> Imported:
    """Make a function of your own of SymPy expressions.

        x = sympy.Matrix(sympy.symbols("x:3"))
        rbdgen.from_sympy("length", {"x": x}, {"l": sympy.sqrt(x.dot(x))}, {"x": "m", "l": "m"})

    Args:
        name: the name of the function.
        inputs: the symbols of every input: a symbol, a list, or a matrix. A matrix of one column is a vector.
        outputs: the expressions of every output.
        units: the units by name, a known array such as "q", or a `Quantity`.

    Returns:
        The function, as `rbdgen.function` makes it.

    Raises:
        RbdgenError: an expression uses a function that graphs do not have, or a symbol that no input has; the
            message, one line, names it.
    """
    arrays = {x: _symbols(name, x, told) for x, told in inputs.items()}
    values = {
        x: np.asarray(getattr(told, "tolist", lambda told=told: told)(), object)
        for x, told in outputs.items()
    }
    values = {x: _flattened(told) for x, told in values.items()}
    declared = units or {}
    made = _signature(
        name,
        {x: told for x, told in declared.items() if x in inputs},
        {x: told for x, told in declared.items() if x in outputs},
        {x: np.shape(told) for x, told in arrays.items()},
        {x: told.shape for x, told in values.items()},
    )
    try:
        graph = graph_of_sympy(
            [(x, list(np.ravel(told))) for x, told in arrays.items()],
            [],
            [(x, told.shape, list(told.ravel())) for x, told in values.items()],
        )
    except GraphError as error:
        raise OptionError(f"function '{name}': {error}") from None
    return Imported(made, graph, f"{name}, from SymPy")


def _symbols(name: str, array: str, given: Any) -> Any:
    held = _flattened(np.asarray(getattr(given, "tolist", lambda: given)(), object))
    if not all(getattr(x, "is_Symbol", False) for x in held.ravel()):
        raise OptionError(f"function '{name}': input '{array}' holds an expression; give symbols")
    return held


def _flattened(values: Any) -> Any:
    """The array, with matrices of one column as vectors."""
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _shape(shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of a matrix; that of a column has one number, and that of a scalar none."""
    rows, columns = shape
    if columns != 1:
        return (rows, columns)
    return () if rows == 1 else (rows,)


def _signature(
    name: str,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    taken: Mapping[str, Sequence[int]],
    given: Mapping[str, Sequence[int]],
) -> Signature:
    """The signature, in which arrays that are not declared have the shapes of the expressions."""

    def declared(told: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]) -> dict[str, Any]:
        for unknown in told:
            if unknown not in shapes:
                raise OptionError(f"function '{name}' has no '{unknown}'; there are {', '.join(shapes)}")
        return {
            x: _quantity(told.get(x), _shape(shape) if len(shape) == 2 else tuple(shape))
            for x, shape in shapes.items()
        }

    return signature(name, taken, declared(inputs, taken), declared(outputs, given))


def _quantity(told: Any, shape: tuple[int, ...]) -> Any:
    """The declaration of an array with the shape of its expressions if it does not give one."""
    if isinstance(told, Quantity):
        return (
            told
            if told.shape
            else Quantity(told.unit, shape, told.held, told.range, told.symmetric, told.meaning)
        )
    if isinstance(told, str) and told not in KNOWN:
        return Quantity(told, shape)
    return Quantity(shape=shape) if told is None else told
