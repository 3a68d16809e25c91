"""A scalar under construction, with which algorithms compute while they are traced."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rbdgen.graph.builder import Builder

Number: TypeAlias = int | float | Fraction
"""Numbers that expressions can be combined with; NumPy's scalars are accepted, too."""


class Expr:
    """A scalar under construction: arithmetic with expressions of the same builder and with numbers.

    It is immutable. `+ - * /` and unary minus build new expressions; `sin`, `cos`, `sqrt` and `sign` are
    methods. NumPy's functions find the first three on arrays of expressions.
    """

    __slots__ = ("builder", "edge")

    def __init__(self, builder: Builder, edge: int) -> None:
        self.builder = builder
        self.edge = edge

    def __repr__(self) -> str:
        sign = "-" if self.edge & 1 else ""
        node = self.edge >> 1
        return f"<Expr {sign}{node}: {' '.join(map(str, self.builder.nodes[node]))}>"

    @property
    def constant(self) -> float | None:
        """The value if it is known, else None."""
        return self.builder.constant_value(self.edge)

    def __neg__(self) -> Expr:
        return Expr(self.builder, self.edge ^ 1)

    def __pos__(self) -> Expr:
        return self

    def __add__(self, other: Expr | Number) -> Expr:
        builder = self.builder
        if isinstance(other, Expr) and other.builder is builder:
            return Expr(builder, builder.sum(self.edge, other.edge))
        edge = builder.edge_of(other)
        return NotImplemented if edge is None else Expr(builder, builder.sum(self.edge, edge))

    __radd__ = __add__

    def __sub__(self, other: Expr | Number) -> Expr:
        builder = self.builder
        if isinstance(other, Expr) and other.builder is builder:
            return Expr(builder, builder.sum(self.edge, other.edge ^ 1))
        edge = builder.edge_of(other)
        return NotImplemented if edge is None else Expr(builder, builder.sum(self.edge, edge ^ 1))

    def __rsub__(self, other: Number) -> Expr:
        edge = self.builder.edge_of(other)
        return NotImplemented if edge is None else Expr(self.builder, self.builder.sum(edge, self.edge ^ 1))

    def __mul__(self, other: Expr | Number) -> Expr:
        builder = self.builder
        if isinstance(other, Expr) and other.builder is builder:
            return Expr(builder, builder.product(self.edge, other.edge))
        edge = builder.edge_of(other)
        return NotImplemented if edge is None else Expr(builder, builder.product(self.edge, edge))

    __rmul__ = __mul__

    def __truediv__(self, other: Expr | Number) -> Expr:
        builder = self.builder
        edge = builder.edge_of(other)
        if edge is None:
            return NotImplemented
        return Expr(builder, builder.product(self.edge, builder.reciprocal(edge)))

    def __rtruediv__(self, other: Number) -> Expr:
        builder = self.builder
        edge = builder.edge_of(other)
        if edge is None:
            return NotImplemented
        return Expr(builder, builder.product(edge, builder.reciprocal(self.edge)))

    def sin(self) -> Expr:
        """Sine of an angle in rad."""
        return Expr(self.builder, self.builder.sine(self.edge))

    def cos(self) -> Expr:
        """Cosine of an angle in rad."""
        return Expr(self.builder, self.builder.cosine(self.edge))

    def sqrt(self) -> Expr:
        """Square root."""
        return Expr(self.builder, self.builder.square_root(self.edge))

    def sign(self) -> Expr:
        """1, 0 or -1."""
        return Expr(self.builder, self.builder.signum(self.edge))

    def join(self) -> Expr:
        """The sum over the lanes."""
        return Expr(self.builder, self.builder.joined(self.edge))

    def turn(self) -> Expr:
        """In each lane, the value of the next lane."""
        return Expr(self.builder, self.builder.turned(self.edge))
