"""SymPy expressions as a graph.

SymPy flattens sums and products and shares no subexpressions between them. Intermediate quantities therefore
arrive as symbols with assignments, and each assigned expression is visited once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rbdgen.errors import GraphError
from rbdgen.graph.builder import Builder
from rbdgen.graph.edges import ONE, ZERO
from rbdgen.graph.node import Graph


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
    """The edges of the expressions found so far."""

    def __init__(self) -> None:
        import sympy  # noqa: PLC0415  (heavy: loaded when used)

        self.sympy = sympy
        self.builder = Builder()
        self.known: dict[Any, int] = {}

    def edge(self, expression: Any) -> int:
        """Edge of an expression or a number."""
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
        if expression.func == self.sympy.sin:
            return builder.sine(self.edge(expression.args[0]))
        if expression.func == self.sympy.cos:
            return builder.cosine(self.edge(expression.args[0]))
        if expression.func == self.sympy.sign:
            return builder.signum(self.edge(expression.args[0]))
        if expression.is_Symbol:
            raise GraphError(f"the outputs depend on {expression}, which no input or assignment declares")
        name = type(expression).__name__
        raise GraphError(
            f"SymPy's {name} is outside the graph's grammar; trace with + - * / sin cos sqrt sign"
        )

    def _product(self, expression: Any) -> int:
        """Constants last: a product of the variables alone may occur elsewhere too."""
        edge = ONE
        coefficient = 1.0
        for factor in expression.args:
            if factor.is_Number or factor.is_NumberSymbol:
                coefficient *= float(factor)
            else:
                edge = self.builder.product(edge, self.edge(factor))
        return self.builder.product(self.builder.number(coefficient), edge)

    def _power(self, base: Any, exponent: Any) -> int:
        """Powers with integer or half-integer exponents, by repeated squaring."""
        if exponent.is_negative:
            return self.builder.reciprocal(self.edge(base**-exponent))
        doubled = 2 * exponent
        if not doubled.is_Integer:
            raise GraphError(f"SymPy's power {base}**{exponent} is outside the graph's grammar")
        root = self.edge(base)
        if exponent.is_Integer:
            count = int(exponent)
        else:
            root, count = self.builder.square_root(root), int(doubled)
        edge = ONE
        while count:
            if count & 1:
                edge = self.builder.product(edge, root)
            root = self.builder.product(root, root)
            count >>= 1
        return edge
