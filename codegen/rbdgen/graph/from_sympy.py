"""SymPy expressions as a graph.

SymPy flattens sums and products and shares no subexpressions between them. Intermediate quantities therefore
arrive as symbols with assignments, and each assigned expression is visited once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Final

from rbdgen.errors import GraphError
from rbdgen.graph.builder import Builder
from rbdgen.graph.edges import ONE, ZERO
from rbdgen.graph.node import Graph
from rbdgen.graph.ops import FUNCTIONS, OPS

_FUNCTIONS: Final = {row.sympy: row.name for row in OPS.values() if row.sympy}
"""SymPy's functions that the graph has, too."""

_RULES: Final[Mapping[str, Callable[[Builder, int], int]]] = {
    "atan": lambda builder, a: builder.apply("atan2", a, ONE),
    "sinh": Builder.sinh,
    "cosh": Builder.cosh,
}
"""SymPy's other functions, on edges of a builder."""

_COMPARISONS: Final = {
    "StrictLessThan": ("select", 1),
    "StrictGreaterThan": ("select", -1),
    "LessThan": ("select_le", 1),
    "GreaterThan": ("select_le", -1),
}
"""The operation for each of SymPy's comparisons; -1 if its two arguments are exchanged."""


def from_sympy(
    inputs: Sequence[tuple[str, Sequence[Any]]],
    assignments: Sequence[tuple[Any, Any]],
    outputs: Sequence[tuple[str, tuple[int, ...], Sequence[Any]]],
    labels: Sequence[tuple[Any, str]] = (),
) -> Graph:
    """The graph of SymPy expressions.

    Args:
        inputs: name and symbols of every input array.
        assignments: symbol and expression of every intermediate quantity; an expression may contain
            inputs and the symbols assigned before it.
        outputs: name, shape and row-major elements (expressions or numbers) of every output.
        labels: expressions that hold a named quantity.

    Raises:
        GraphError: for an operation outside the grammar or a symbol without a value, by name.
    """
    translation = _Translation()
    for name, symbols in inputs:
        elements = translation.builder.input(name, len(symbols))
        translation.known.update((symbol, x.edge) for symbol, x in zip(symbols, elements, strict=True))
    for symbol, expression in assignments:
        translation.known[symbol] = translation.edge(expression)
    for expression, text in labels:
        translation.builder.label_edge(translation.edge(expression), text)
    return translation.builder.lower(
        [(name, shape, [translation.edge(x) for x in row_major]) for name, shape, row_major in outputs]
    )


class _Translation:
    """Translates expressions to edges, each one once."""

    def __init__(self) -> None:
        import sympy  # noqa: PLC0415  (heavy: loaded when used)

        self.sympy = sympy
        self.builder = Builder()
        self.known: dict[Any, int] = {}

    def edge(self, expression: Any) -> int:
        """The edge of an expression or a number."""
        expression = self.sympy.sympify(expression)
        edge = self.known.get(expression)
        if edge is None:
            edge = self.known[expression] = self._translate(expression)
        return edge

    def _translate(self, expression: Any) -> int:
        builder = self.builder
        if expression.is_Number or expression.is_NumberSymbol:
            return builder.number(float(expression))
        if expression.is_Add:
            edge = ZERO
            for term in expression.args:
                edge = builder.sum(edge, self.edge(term))
            return edge
        if expression.is_Mul:
            return self._product(expression)
        if expression.is_Pow:
            return self._power(expression.base, expression.exp)
        name = expression.func.__name__
        if name in ("Max", "Min"):
            return self._folded(name.lower(), expression.args)
        if name == "Piecewise":
            return self._piecewise(expression.args)
        if name in _RULES:
            return _RULES[name](self.builder, self.edge(expression.args[0]))
        if name in _FUNCTIONS:
            return builder.apply(_FUNCTIONS[name], *map(self.edge, expression.args))
        if expression.is_Symbol:
            raise GraphError(f"the outputs depend on {expression}, which no input or assignment declares")
        raise GraphError(
            f"SymPy's {name} is outside the graph's grammar; trace with + - * / {' '.join(FUNCTIONS)}"
        )

    def _product(self, expression: Any) -> int:
        """Multiply by constants last, because the product of the variables alone may occur elsewhere too."""
        edge = ONE
        coefficient = 1.0
        for factor in expression.args:
            if factor.is_Number or factor.is_NumberSymbol:
                coefficient *= float(factor)
            else:
                edge = self.builder.product(edge, self.edge(factor))
        return self.builder.product(self.builder.number(coefficient), edge)

    def _power(self, base: Any, exponent: Any) -> int:
        """The edge of a power; roots of exact fractions such as 1/3 are powers of doubles."""
        if (2 * exponent).is_Integer:
            return self.builder.power(self.edge(base), int(2 * exponent))
        return self.builder.raised(self.edge(base), self.edge(exponent))

    def _folded(self, op: str, arguments: Sequence[Any]) -> int:
        """The edge of a function of any number of arguments, applied from the first to the last."""
        return reduce(lambda a, b: self.builder.apply(op, a, b), map(self.edge, arguments))

    def _piecewise(self, pieces: Sequence[Any]) -> int:
        """The edge of the value of the first piece whose condition holds; the last piece must always hold."""
        (value, condition), *others = pieces
        if condition == self.sympy.true:
            return self.edge(value)
        if not others:
            raise GraphError("SymPy's Piecewise: its last piece has a condition; add (value, True)")
        if condition.func.__name__ not in _COMPARISONS:
            raise GraphError(
                f"SymPy's condition {condition} is outside the graph's grammar; give < <= > or >="
            )
        op, step = _COMPARISONS[condition.func.__name__]
        compared = [self.edge(x) for x in condition.args][::step]
        return self.builder.apply(op, *compared, self.edge(value), self._piecewise(others))
