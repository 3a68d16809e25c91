"""The expression engines with which an algorithm can be traced; all of them end in the same `Graph`.

An engine makes symbols, computes functions of them, records the names of intermediate quantities, and turns
the results into a graph. `casadi` is the default. `sympy` gives readable formulas. `graph` traces directly
into the intermediate representation, and searches count operations with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any, Final, Protocol

from rbdgen.errors import OptionError
from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import Cost
from rbdgen.graph.expression import Expr
from rbdgen.graph.from_casadi import from_casadi
from rbdgen.graph.from_sympy import from_sympy
from rbdgen.graph.node import Graph
from rbdgen.graph.ops import OPS
from rbdgen.graph.values import absolute, largest, least, select, select_le

Scalar = Any
Results = Sequence[tuple[str, tuple[int, ...], Sequence[Scalar]]]
"""The name, the shape and the row-major elements of every output."""


def rows_and_columns(shape: tuple[int, ...]) -> tuple[int, int]:
    """The size of one matrix that holds all elements of an output. An output with one axis is a column."""
    return (prod(shape[:-1]), shape[-1]) if len(shape) > 1 else (prod(shape), 1)


class Engine(Protocol):
    """The operations of an expression library that tracing needs."""

    def symbols(self, name: str, size: int) -> Sequence[Scalar]:
        """The elements of a new input array."""

    def cos(self, x: Scalar) -> Scalar: ...

    def sin(self, x: Scalar) -> Scalar: ...

    def sqrt(self, x: Scalar) -> Scalar: ...

    def sign(self, x: Scalar) -> Scalar: ...

    def abs(self, x: Scalar) -> Scalar: ...

    def max(self, x: Scalar, y: Scalar) -> Scalar: ...

    def min(self, x: Scalar, y: Scalar) -> Scalar: ...

    def select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
        """x if a < b, else y."""

    def select_le(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
        """x if a <= b, else y."""

    def elementary(self, op: str, *operands: Scalar) -> Scalar:
        """A function of `graph/kernels.py`, by the name of its operation."""

    def named(self, label: str, value: Scalar) -> Scalar:
        """Record the name of an intermediate quantity, and return the value with which to continue."""

    def expression(self, outputs: Results, name: str = "f") -> Any:
        """The traced outputs in the engine's own terms, for a user's own work."""

    def graph(self, outputs: Results) -> Graph:
        """The traced outputs as a graph."""


class CasadiEngine:
    """Traces `casadi.SX`."""

    def __init__(self) -> None:
        import casadi  # noqa: PLC0415  (heavy: loaded when used)

        self._casadi = casadi
        self._inputs: list[tuple[str, Any]] = []
        self._labels: list[tuple[Any, str]] = []

    def symbols(self, name: str, size: int) -> Sequence[Scalar]:
        column = self._casadi.SX.sym(name, size)
        self._inputs.append((name, column))
        return [column[k] for k in range(size)]

    def cos(self, x: Scalar) -> Scalar:
        return self._casadi.cos(x)

    def sin(self, x: Scalar) -> Scalar:
        return self._casadi.sin(x)

    def sqrt(self, x: Scalar) -> Scalar:
        return self._casadi.sqrt(x)

    def sign(self, x: Scalar) -> Scalar:
        return self._casadi.sign(x)

    def abs(self, x: Scalar) -> Scalar:
        return self._casadi.fabs(x)

    def max(self, x: Scalar, y: Scalar) -> Scalar:
        return self._casadi.fmax(x, y)

    def min(self, x: Scalar, y: Scalar) -> Scalar:
        return self._casadi.fmin(x, y)

    def select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
        return self._casadi.if_else(a < b, x, y)

    def select_le(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
        return self._casadi.if_else(a <= b, x, y)

    def elementary(self, op: str, *operands: Scalar) -> Scalar:
        return getattr(self._casadi, op)(*operands)

    def named(self, label: str, value: Scalar) -> Scalar:
        if isinstance(value, self._casadi.SX):
            self._labels.append((value, label))
        return value

    def expression(self, outputs: Results, name: str = "f") -> Any:
        """A `casadi.Function` of this name with the signature's inputs and outputs. Outputs with two axes are
        matrices.

        An output with more than two axes becomes one matrix, with the rows of all its matrices in order.
        Elements that are always 0 are not in the sparsity pattern.
        """
        SX = self._casadi.SX
        results = []
        for _, shape, elements in outputs:
            column = self._casadi.vertcat(*(float(x) if isinstance(x, Fraction) else SX(x) for x in elements))
            rows, columns = rows_and_columns(shape)
            results.append(self._casadi.sparsify(self._casadi.reshape(column, columns, rows).T))
        names = [name for name, _ in self._inputs], [name for name, _, _ in outputs]
        return self._casadi.Function(name, [column for _, column in self._inputs], results, *names)

    def graph(self, outputs: Results) -> Graph:
        return from_casadi(self._inputs, outputs, self._labels)


class SympyEngine:
    """Traces SymPy expressions. Every named quantity becomes a symbol, so that common subexpressions stay
    shared.
    """

    def __init__(self) -> None:
        import sympy  # noqa: PLC0415  (heavy: loaded when used)

        self._sympy = sympy
        self._inputs: list[tuple[str, Sequence[Any]]] = []
        self._assignments: list[tuple[Any, Any]] = []

    def symbols(self, name: str, size: int) -> Sequence[Scalar]:
        elements = [self._sympy.Symbol(f"{name}_{k}", real=True) for k in range(size)]
        self._inputs.append((name, elements))
        return elements

    def cos(self, x: Scalar) -> Scalar:
        return self._sympy.cos(x)

    def sin(self, x: Scalar) -> Scalar:
        return self._sympy.sin(x)

    def sqrt(self, x: Scalar) -> Scalar:
        return self._sympy.sqrt(x)

    def sign(self, x: Scalar) -> Scalar:
        return self._sympy.sign(x)

    def abs(self, x: Scalar) -> Scalar:
        return self._sympy.Abs(x)

    def max(self, x: Scalar, y: Scalar) -> Scalar:
        return self._sympy.Max(x, y)

    def min(self, x: Scalar, y: Scalar) -> Scalar:
        return self._sympy.Min(x, y)

    def select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
        return self._sympy.Piecewise((x, a < b), (y, True))

    def select_le(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
        return self._sympy.Piecewise((x, a <= b), (y, True))

    def elementary(self, op: str, *operands: Scalar) -> Scalar:
        if op == "hypot":  # which SymPy has not
            return self._sympy.sqrt(sum(x * x for x in operands))
        return getattr(self._sympy, op)(*operands)

    def named(self, label: str, value: Scalar) -> Scalar:
        if not isinstance(value, self._sympy.Expr) or value.is_Atom:
            return value
        symbol = self._sympy.Dummy(label, real=True)
        self._assignments.append((symbol, value))
        return symbol

    def expression(self, outputs: Results, name: str = "f") -> Any:
        """The assignments of intermediate quantities in order, and one SymPy matrix per output."""
        results = []
        for _, shape, elements in outputs:
            rows, columns = rows_and_columns(shape)
            results.append(self._sympy.Matrix(rows, columns, list(elements)))
        return list(self._assignments), results

    def graph(self, outputs: Results) -> Graph:
        return from_sympy(self._inputs, self._assignments, outputs)


class GraphEngine:
    """Traces directly into the graph's builder. It is the only engine with SIMD lanes."""

    def __init__(self) -> None:
        self.builder = Builder()

    def symbols(self, name: str, size: int, lanes: int = 1) -> Sequence[Scalar]:
        return self.builder.input(name, size, lanes)

    def join(self, x: Scalar) -> Scalar:
        """The sum over the lanes; a number counts once for each lane."""
        return x.join() if isinstance(x, Expr) else self.builder.lanes * x

    def turn(self, x: Scalar) -> Scalar:
        """The value of the next lane in each lane."""
        return x.turn() if isinstance(x, Expr) else x

    def apart(self, x: Scalar) -> list[Scalar]:
        """The number in each lane."""
        lanes = range(self.builder.lanes)
        return [x.applied("lane", x, k) if isinstance(x, Expr) else x for k in lanes]

    def together(self, numbers: Sequence[Scalar]) -> Scalar:
        """The value that has one of these numbers in each lane."""
        traced = next((x for x in numbers if isinstance(x, Expr)), None)
        if traced is None:
            assert len(set(numbers)) == 1, "numbers that differ between lanes are entries of a table"
            return numbers[0]
        return traced.applied("beside", *numbers)

    def cos(self, x: Scalar) -> Scalar:
        return x.cos()

    def sin(self, x: Scalar) -> Scalar:
        return x.sin()

    def sqrt(self, x: Scalar) -> Scalar:
        return x.sqrt()

    def sign(self, x: Scalar) -> Scalar:
        return x.sign()

    def abs(self, x: Scalar) -> Scalar:
        return absolute(x)

    def max(self, x: Scalar, y: Scalar) -> Scalar:
        return largest(x, y)

    def min(self, x: Scalar, y: Scalar) -> Scalar:
        return least(x, y)

    def select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
        return select(a, b, x, y)

    def select_le(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
        return select_le(a, b, x, y)

    def elementary(self, op: str, *operands: Scalar) -> Scalar:
        return OPS[op].evaluate(*operands)

    def named(self, label: str, value: Scalar) -> Scalar:
        self.builder.label(value, label)
        return value

    def expression(self, outputs: Results, name: str = "f") -> Any:
        return self.graph(outputs)

    def cost(self, outputs: Results) -> Cost:
        """The cost of the graph, without building it."""
        return self.builder.cost([element for _, _, elements in outputs for element in elements])

    def operations(self, outputs: Results) -> int:
        """The number of operations of the graph without negations. This takes half the time of `cost`."""
        return self.builder.operations([element for _, _, elements in outputs for element in elements])

    def graph(self, outputs: Results) -> Graph:
        return self.builder.graph(outputs)


ENGINES: Final[Mapping[str, Callable[[], Engine]]] = {
    "casadi": CasadiEngine,
    "sympy": SympyEngine,
    "graph": GraphEngine,
}


def new_engine(name: str) -> Engine:
    """A fresh engine; OptionError if there is none of this name."""
    if not isinstance(name, str) or name not in ENGINES:
        raise OptionError(f"unknown engine '{name}'; choose from: {', '.join(ENGINES)}")
    return ENGINES[name]()
