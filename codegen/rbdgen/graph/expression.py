"""Scalar expressions, with which algorithms compute while they are traced."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from rbdgen.errors import GraphError
from rbdgen.graph.edge_builder import EdgeBuilder

Number: TypeAlias = int | float | Fraction
"""Numbers that expressions can be combined with; NumPy's scalars are accepted, too."""


class Expr:
    """A scalar expression, for arithmetic with expressions of the same builder and with numbers.

    It is immutable. `+ - * /`, unary minus, `abs` and powers build new expressions. Functions such as `sin`
    are methods with the names of NumPy's functions, which call them on arrays of expressions. `< <= > >=`
    give a `Condition`.
    """

    __slots__ = ("builder", "edge")

    def __init__(self, builder: EdgeBuilder, edge: int) -> None:
        self.builder = builder
        self.edge = edge

    def __repr__(self) -> str:
        sign = "-" if self.edge & 1 else ""
        node = self.edge >> 1
        return f"<Expr {sign}{node}: {' '.join(map(str, self.builder.nodes[node]))}>"

    @property
    def constant(self) -> float | None:
        """The value if the expression is a constant, else None."""
        return self.builder.constant_value(self.edge)

    def __neg__(self) -> Expr:
        return Expr(self.builder, self.edge ^ 1)

    def __pos__(self) -> Expr:
        return self

    def __add__(self, other: Expr | Number) -> Expr:
        builder = self.builder
        if isinstance(other, Expr) and other.builder is builder:
            return Expr(builder, builder.sum(self.edge, other.edge))
        edge = edge_of(builder, other)
        return NotImplemented if edge is None else Expr(builder, builder.sum(self.edge, edge))

    __radd__ = __add__

    def __sub__(self, other: Expr | Number) -> Expr:
        builder = self.builder
        if isinstance(other, Expr) and other.builder is builder:
            return Expr(builder, builder.sum(self.edge, other.edge ^ 1))
        edge = edge_of(builder, other)
        return NotImplemented if edge is None else Expr(builder, builder.sum(self.edge, edge ^ 1))

    def __rsub__(self, other: Number) -> Expr:
        edge = edge_of(self.builder, other)
        return NotImplemented if edge is None else Expr(self.builder, self.builder.sum(edge, self.edge ^ 1))

    def __mul__(self, other: Expr | Number) -> Expr:
        builder = self.builder
        if isinstance(other, Expr) and other.builder is builder:
            return Expr(builder, builder.product(self.edge, other.edge))
        edge = edge_of(builder, other)
        return NotImplemented if edge is None else Expr(builder, builder.product(self.edge, edge))

    __rmul__ = __mul__

    def __truediv__(self, other: Expr | Number) -> Expr:
        builder = self.builder
        edge = edge_of(builder, other)
        if edge is None:
            return NotImplemented
        return Expr(builder, builder.product(self.edge, builder.reciprocal(edge)))

    def __rtruediv__(self, other: Number) -> Expr:
        builder = self.builder
        edge = edge_of(builder, other)
        if edge is None:
            return NotImplemented
        return Expr(builder, builder.product(edge, builder.reciprocal(self.edge)))

    def sin(self) -> Expr:
        """Sine of an angle in rad."""
        return Expr(self.builder, self.builder.apply("sin", self.edge))

    def cos(self) -> Expr:
        """Cosine of an angle in rad."""
        return Expr(self.builder, self.builder.apply("cos", self.edge))

    def sqrt(self) -> Expr:
        """Square root."""
        return Expr(self.builder, self.builder.apply("sqrt", self.edge))

    def exp(self) -> Expr:
        """e to this power."""
        return Expr(self.builder, self.builder.apply("exp", self.edge))

    def log(self) -> Expr:
        """Natural logarithm."""
        return Expr(self.builder, self.builder.apply("log", self.edge))

    def tanh(self) -> Expr:
        """Hyperbolic tangent."""
        return Expr(self.builder, self.builder.apply("tanh", self.edge))

    def tan(self) -> Expr:
        """Tangent of an angle in rad. It is NaN beyond 1e5 (1e4 in float)."""
        return Expr(self.builder, self.builder.apply("tan", self.edge))

    def arctan(self) -> Expr:
        """The angle in rad, from -pi/2 to pi/2, with this tangent."""
        return self.applied("atan2", self, 1)

    def hypot(self, y: Expr | Number) -> Expr:
        """sqrt(x^2 + y^2) without overflow."""
        return self.applied("hypot", self, y)

    def cosh(self) -> Expr:
        """Hyperbolic cosine."""
        return Expr(self.builder, self.builder.cosh(self.edge))

    def sinh(self) -> Expr:
        """Hyperbolic sine."""
        return Expr(self.builder, self.builder.sinh(self.edge))

    def arctan2(self, x: Expr | Number) -> Expr:
        """The angle in rad, from -pi to pi, of the point with this ordinate and the abscissa x."""
        return self.applied("atan2", self, x)

    def arcsin(self) -> Expr:
        """The angle in rad, from -pi/2 to pi/2, with this sine."""
        return Expr(self.builder, self.builder.apply("asin", self.edge))

    def arccos(self) -> Expr:
        """The angle in rad, from 0 to pi, with this cosine."""
        return Expr(self.builder, self.builder.apply("acos", self.edge))

    def sign(self) -> Expr:
        """The sign: 1, 0 or -1."""
        return Expr(self.builder, self.builder.apply("sign", self.edge))

    def __abs__(self) -> Expr:
        return Expr(self.builder, self.builder.apply("abs", self.edge))

    def __pow__(self, exponent: Expr | Number) -> Expr:
        """The power. It is NaN for negative x unless the exponent is a number, and an integer."""
        edge = edge_of(self.builder, exponent)
        if edge is None:
            return NotImplemented
        return Expr(self.builder, self.builder.raised(self.edge, edge))

    def __rpow__(self, base: Number) -> Expr:
        edge = edge_of(self.builder, base)
        if edge is None:
            return NotImplemented
        return Expr(self.builder, self.builder.raised(edge, self.edge))

    def __lt__(self, other: Expr | Number) -> Condition:
        return Condition("select", *self._compared(other))

    def __gt__(self, other: Expr | Number) -> Condition:
        return Condition("select", *self._compared(other)[::-1])

    def __le__(self, other: Expr | Number) -> Condition:
        return Condition("select_le", *self._compared(other))

    def __ge__(self, other: Expr | Number) -> Condition:
        return Condition("select_le", *self._compared(other)[::-1])

    def _compared(self, other: Expr | Number) -> tuple[Expr, Expr]:
        edge = edge_of(self.builder, other)
        if edge is None:
            raise GraphError(f"a comparison with a {type(other).__name__}; give an expression or a number")
        return self, Expr(self.builder, edge)

    def __bool__(self) -> bool:
        raise GraphError(f"an expression is neither true nor false while it is traced; {_SELECT}")

    def applied(self, op: str, *operands: Expr | Number) -> Expr:
        """An operation of `graph/ops.py` on expressions of this builder and numbers."""
        edges = [edge_of(self.builder, operand) for operand in operands]
        if None in edges:
            raise GraphError(f"{op}: give expressions or numbers")
        return Expr(self.builder, self.builder.apply(op, *(edge for edge in edges if edge is not None)))

    def join(self) -> Expr:
        """The sum over the lanes."""
        return Expr(self.builder, self.builder.apply("join", self.edge))

    def turn(self) -> Expr:
        """The value of the next lane in each lane."""
        return Expr(self.builder, self.builder.apply("turn", self.edge))


_SELECT: Final = "take np.where, np.minimum or np.maximum, or the method `select(x, y)` of a comparison"


@dataclass(frozen=True)
class Condition:
    """A comparison of two expressions, with which `select` chooses a value. A comparison with NaN does not
    hold.
    """

    op: str
    """The operation that chooses by the comparison."""
    a: Expr
    b: Expr

    def select(self, x: Expr | Number, y: Expr | Number) -> Expr:
        """x where the condition holds, else y. Both are computed."""
        return self.a.applied(self.op, self.a, self.b, x, y)

    def __bool__(self) -> bool:
        raise GraphError(f"a comparison is neither true nor false while it is traced; {_SELECT}")


def edge_of(builder: EdgeBuilder, operand: object) -> int | None:
    """The edge of an expression of this builder or of a number; None for any other type.

    Raises:
        GraphError: for an expression of another builder.
    """
    if isinstance(operand, Expr):
        if operand.builder is not builder:
            raise GraphError("expressions of two builders cannot be combined; trace with one builder")
        return operand.edge
    if isinstance(operand, (float, int, Fraction, np.floating, np.integer)):
        return builder.number(float(operand))
    return None
