"""Expressions of CasADi and SymPy as functions of a user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from rbdgen.errors import GraphError, OptionError
from rbdgen.functions.composition import Composition
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.from_casadi import from_casadi as graph_of_casadi
from rbdgen.graph.from_sympy import from_sympy as graph_of_sympy
from rbdgen.graph.node import Graph
from rbdgen.model.robot import Robot
from rbdgen.own.declaration import KNOWN, Quantity, signature
from rbdgen.own.handle import Floats, Handle, bound
from rbdgen.own.text import Own, floats_of
from rbdgen.signature import Signature


class Imported(Own):
    """A function of a user's own from expressions, made by `rbdgen.from_casadi` or `rbdgen.from_sympy`."""

    def __init__(
        self, signature: Signature, graph: Graph, shapes: Mapping[str, tuple[int, ...]], summary: str
    ) -> None:
        for x in graph.outputs:
            if all(graph.nodes[element].op == "const" for element in x.elements):
                raise OptionError(
                    f"function '{signature.name}': output '{x.name}' depends on no input; leave it out"
                )
        self.signature = signature
        self._graph, self._shapes, self._summary = graph, shapes, summary

    def __call__(self, robot: Any, *arguments: Any, **named: Any) -> Any:
        """The outputs at one state, by an interpreter; inside a text, the expressions.

        Raises:
            RbdgenError: an argument is missing or has another shape than is declared.
        """
        if isinstance(robot, Floats):
            robot = robot.robot
        elif isinstance(robot, Handle):
            sized = self.composition(robot.robot).signature.sized(robot.robot.model.sizes)
            inner = bound(self.name, sized.inputs, arguments, named)
            for x, value in zip(sized.inputs, inner, strict=True):
                if x.kind == "held":
                    robot.hold(f"{x.name} of {self.name}", value)
            return robot.replayed(self._graph, sized, inner)
        given = floats_of(self, robot, arguments, named)
        outputs = self.signature.sized(robot.model.sizes).outputs
        values = evaluate(self._graph, {x.name: np.ravel(value) for x, value in given.items()})
        found = [np.reshape(values[x.name], x.shape)[()] for x in outputs]
        return found[0] if len(found) == 1 else tuple(found)

    def composition(self, robot: Robot) -> Composition:
        """The expressions as a composition. Raises OptionError if an array has another size on this robot."""
        sized = self.signature.sized(robot.model.sizes)
        for x in (*sized.inputs, *sized.outputs):
            held = self._shapes[x.name]
            reordered = len(x.shape) == len(held) == 2 and x.shape != held
            if x.size != prod(held) or reordered:
                raise OptionError(
                    f"function '{self.name}': '{x.name}' has shape {held} in the expressions, but {x.shape} "
                    f"on '{robot.name}'; give it the shape that it has, or take another robot"
                )
        return Composition(self.signature, self._summary, self._graph)


def from_casadi(
    f: Any,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> Imported:
    """Make a function of your own from a `casadi.Function`.

    Args:
        f: a function of SX expressions, or one of MX that expands to SX.
        inputs: the inputs of which more is known than their size: a known array such as "q", a unit, or a
            `Quantity`. Sizes are those of f.
        outputs: the outputs of which more is known, declared like inputs.
        name: the name of the function; by default that of f.

    Returns:
        The function, as `rbdgen.function` makes it. Matrices are dense and have rows first.

    Raises:
        RbdgenError: f uses an operation that graphs do not have; the message, one line, names it.
    """
    import casadi  # noqa: PLC0415  (heavy: loaded when used)

    if not isinstance(f, casadi.Function):
        raise OptionError(f"from_casadi takes a casadi.Function, not a {type(f).__name__}; make one of it")
    called = name or f.name()
    taken = {f.name_in(k): _shape(f.size_in(k)) for k in range(f.n_in())}
    given = {f.name_out(k): _shape(f.size_out(k)) for k in range(f.n_out())}
    made = _signature(called, inputs or {}, outputs or {}, taken, given)
    symbols = [casadi.SX.sym(f.name_in(k), *f.size_in(k)) for k in range(f.n_in())]
    read = [_lower(x) if held.symmetric else x for x, held in zip(symbols, made.inputs, strict=True)]
    values = _scalar(called, f).call(read)
    rows = [
        (x.name, given[x.name], casadi.vertsplit(casadi.vec(casadi.densify(value).T)))
        for x, value in zip(made.outputs, values, strict=True)
    ]
    try:
        graph = graph_of_casadi(
            [(x, casadi.vec(symbol.T)) for x, symbol in zip(taken, symbols, strict=True)], rows
        )
    except GraphError as error:
        raise OptionError(f"function '{called}': {error}") from None
    return Imported(made, graph, taken | given, f"{called}, from CasADi")


def from_sympy(
    name: str,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    units: Mapping[str, Any] | None = None,
) -> Imported:
    """Make a function of your own from SymPy expressions.

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
    declared = units or {}
    for told, what in ((inputs, "inputs"), (outputs, "outputs"), (declared, "units")):
        if not isinstance(told, Mapping):
            raise OptionError(f"function '{name}': {what} is a {type(told).__name__}; give a dict by names")
    arrays = {x: _symbols(name, x, told) for x, told in inputs.items()}
    values = {x: _expressions(name, x, told) for x, told in outputs.items()}
    taken, given = ({x: told.shape for x, told in some.items()} for some in (arrays, values))
    for unknown in declared:
        if unknown not in taken | given:
            raise OptionError(
                f"function '{name}' has no '{unknown}'; units may name {', '.join(taken | given)}"
            )
    of_inputs, of_outputs = (
        {x: told for x, told in declared.items() if x in some} for some in (taken, given)
    )
    made = _signature(name, of_inputs, of_outputs, taken, given)
    _check_distinct(made, arrays)
    mirrored = [
        (told[i, j], told[j, i])
        for x, told in zip(made.inputs, arrays.values(), strict=True)
        if x.symmetric
        for i, j in zip(*np.triu_indices(len(told), 1), strict=True)
    ]
    try:
        graph = graph_of_sympy(
            [(x, list(told.ravel())) for x, told in arrays.items()],
            mirrored,
            [(x, told.shape, list(told.ravel())) for x, told in values.items()],
        )
    except GraphError as error:
        raise OptionError(f"function '{name}': {error}") from None
    return Imported(made, graph, taken | given, f"{name}, from SymPy")


def _scalar(name: str, f: Any) -> Any:
    """The function of SX expressions that f is or expands to."""
    try:
        scalar = f if f.is_a("SXFunction") else f.expand()
    except (RuntimeError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[-1]
        raise OptionError(f"function '{name}' does not expand to SX ({reason}); write it with SX") from None
    if called := scalar.find_functions(0):
        names = ", ".join(sorted({x.name() for x in called}))
        raise OptionError(
            f"function '{name}' calls {names}, which CasADi does not expand to SX; write it with SX"
        )
    return scalar


def _lower(matrix: Any) -> Any:
    """A symmetric matrix that only holds the symbols of the lower triangle."""
    import casadi  # noqa: PLC0415  (heavy: loaded when used)

    return casadi.tril2symm(casadi.tril(matrix))


def _array(name: str, array: str, given: Any) -> Any:
    """Expressions of SymPy as an array of objects. A matrix of one column is a vector."""
    listed = given.tolist() if hasattr(given, "tolist") else given
    held = np.asarray(listed, object)
    if any(isinstance(x, (list, tuple)) for x in held.ravel()):
        raise OptionError(f"function '{name}': the rows of '{array}' have different lengths")
    return held[:, 0] if held.ndim == 2 and held.shape[1] == 1 else held


def _symbols(name: str, array: str, given: Any) -> Any:
    held = _array(name, array, given)
    if not all(getattr(x, "is_Symbol", False) for x in held.ravel()):
        raise OptionError(f"function '{name}': input '{array}' holds an expression; give symbols")
    return held


def _expressions(name: str, array: str, given: Any) -> Any:
    import sympy  # noqa: PLC0415  (heavy: loaded when used)

    held = _array(name, array, given)
    for place, value in np.ndenumerate(held):
        try:
            held[place] = sympy.sympify(value, strict=True)
        except (sympy.SympifyError, TypeError):
            raise OptionError(
                f"function '{name}': output '{array}' holds a {type(value).__name__}; give SymPy expressions"
            ) from None
    return held


def _check_distinct(made: Signature, arrays: Mapping[str, Any]) -> None:
    """Raises OptionError if two elements of inputs are the same symbol, unless a symmetric matrix has it on
    both sides of its diagonal.
    """
    seen: set[Any] = set()
    for x in made.inputs:
        held = arrays[x.name]
        for place in np.ndindex(held.shape):
            if x.symmetric and place[1] > place[0] and held[place] == held[place[::-1]]:
                continue
            if held[place] in seen:
                raise OptionError(
                    f"function '{made.name}': the symbol {held[place]} stands for two elements of inputs; "
                    "give each its own"
                )
            seen.add(held[place])


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
    taken: Mapping[str, tuple[int, ...]],
    given: Mapping[str, tuple[int, ...]],
) -> Signature:
    """The signature, in which arrays that are not declared have the shapes of the expressions."""
    for told, shapes, what in ((inputs, taken, "inputs"), (outputs, given, "outputs")):
        if not isinstance(told, Mapping):
            raise OptionError(f"function '{name}': {what} {told!r} is not a dict; give {{'x': 'm'}}")
        for unknown in told:
            if unknown not in shapes:
                raise OptionError(f"function '{name}' has no '{unknown}'; its {what} are {', '.join(shapes)}")
        for x, shape in shapes.items():
            if 0 in shape:
                raise OptionError(f"function '{name}': '{x}' has no elements; leave it out")
    made = signature(
        name,
        taken,
        *(
            {x: _declared(told.get(x), shape) for x, shape in shapes.items()}
            for told, shapes in ((inputs, taken), (outputs, given))
        ),
    )
    for argument in made.inputs:
        shape = taken[argument.name]
        if argument.symmetric and not (len(shape) == 2 and shape[0] == shape[1]):
            raise OptionError(
                f"function '{name}': '{argument.name}' has shape {shape}, so it is not symmetric; leave "
                "symmetric out"
            )
    return made


def _declared(told: Any, shape: tuple[int, ...]) -> Any:
    """The declaration of an array, with the shape of its expressions if it does not give one."""
    if told is None:
        return Quantity(shape=shape)
    if isinstance(told, Quantity):
        return told if told.shape else replace(told, shape=shape)
    return Quantity(told, shape) if isinstance(told, str) and told not in KNOWN else told
