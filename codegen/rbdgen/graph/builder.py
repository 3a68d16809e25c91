"""Expressions that become a graph as they are written, and are simplified on the way.

A `Builder` stores every distinct operation once (hash-consing) and refers to it by signed edges. An edge is
the integer 2 node + sign, so that a negation flips its last bit and costs nothing, as in and-inverter graphs.
Sums are stored up to their sign, so a - b, b - a and -(a + b) share one node with their opposites. At the end
`lower` decides with which sign each value is computed.

Nodes of a builder are listed below. Their arguments are edges; `+` marks an edge of positive sign.

    const                   magnitude in `constants`, never negative; node 0 is 0, node 1 is 1
    input                   flat position in `positions`
    add   a+ b              b of either sign; add a+ a+ is a doubling
    mul   a+ b+             a constant comes first
    sq cos sin sign join turn inv   a+
                            inv is 1 / a; `lower` merges x inv(a) into x / a if inv(a) has no other use
    sqrt  a                 of either sign
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rbdgen.errors import GraphError
from rbdgen.graph.cost import Cost
from rbdgen.graph.edges import ONE, ZERO, uncancelled, undivided
from rbdgen.graph.expression import Expr, Number
from rbdgen.graph.lower import lower, lowered_cost, negated_label, operations
from rbdgen.graph.node import Graph, Input


class Builder:
    """The operations built so far, each stored once. Methods that take and return edges serve the passes."""

    def __init__(self) -> None:
        self.inputs: list[Input] = []
        self.nodes: list[tuple[Any, ...]] = []
        self.constants: dict[int, float] = {}
        self.positions: dict[int, int] = {}
        self.labels: dict[int, str] = {}
        self.lanes = 1
        self.with_lanes: set[int] = set()  # nodes whose value has lanes
        self.written_negative: set[int] = set()  # nodes first written with the opposite sign
        self._constant_edges: dict[float, int] = {}
        self._edges: dict[tuple[Any, ...], int] = {}  # the result of an operation on edges
        self._in_quotients: set[int] = set()  # reciprocals and divisors: only their products can cancel
        self.number(0.0)
        self.number(1.0)

    # ---- the public interface: expressions

    def input(self, name: str, size: int, lanes: int = 1) -> list[Expr]:
        """Declare the next input array and return its elements."""
        if size < 0 or any(declared.name == name for declared in self.inputs):
            raise GraphError(f"input {name!r}: its name must be new and its size, {size}, not negative")
        start = sum(declared.size for declared in self.inputs)
        self.inputs.append(Input(name, size, lanes))
        self.lanes = max(self.lanes, lanes)
        elements = []
        for position in range(start, start + size):
            self.positions[len(self.nodes)] = position
            elements.append(Expr(self, self._new(("input",))))
        if lanes > 1:
            self.with_lanes.update(x.edge >> 1 for x in elements)
        return elements

    def unknowns(self, size: int) -> list[Expr]:
        """Symbols to differentiate by. They are no inputs, so no output of a graph may depend on them."""
        return [Expr(self, self._new(("input",))) for _ in range(size)]

    def constant(self, value: Number) -> Expr:
        """A number as an expression of this builder."""
        return Expr(self, self.number(float(value)))

    def label(self, expression: Expr | Number, text: str) -> None:
        """Name the quantity that an expression holds. A value keeps its first name; numbers and inputs get
        none.
        """
        edge = self.edge_of(expression)
        if edge is not None:
            self.label_edge(edge, text)

    def graph(self, outputs: Sequence[tuple[str, tuple[int, ...], Sequence[Expr | Number]]]) -> Graph:
        """The graph that computes these outputs. An output is a name, a shape and its row-major elements.

        Negations are left only at outputs, and at arguments of square roots that no choice of signs makes
        positive.
        """
        return self.lower([(name, shape, self.edges_of(elements)) for name, shape, elements in outputs])

    def cost(self, expressions: Sequence[Expr | Number]) -> Cost:
        """The cost of the graph that would compute the expressions, without building it."""
        return lowered_cost(self, self.edges_of(expressions))

    def operations(self, expressions: Sequence[Expr | Number]) -> int:
        """The number of operations of that graph without negations. This takes half the time of `cost`."""
        return operations(self, self.edges_of(expressions))

    # ---- edges

    def lower(self, outputs: Sequence[tuple[str, tuple[int, ...], Sequence[int]]]) -> Graph:
        """`graph` for edges instead of expressions."""
        return lower(self, outputs)

    def label_edge(self, edge: int, text: str) -> None:
        """`label` for an edge."""
        if self.nodes[edge >> 1][0] not in ("const", "input"):
            self.labels.setdefault(edge >> 1, negated_label(text) if edge & 1 else text)

    def edge_of(self, operand: object) -> int | None:
        """The edge of an expression of this builder or of a number; None for any other type.

        Raises:
            GraphError: for an expression of another builder.
        """
        if isinstance(operand, Expr):
            return self._own(operand)
        if isinstance(operand, (float, int, Fraction, np.floating, np.integer)):
            return self.number(float(operand))
        return None

    def constant_value(self, edge: int) -> float | None:
        """The value of a constant's edge, None for other edges."""
        value = self.constants.get(edge >> 1)
        return -value if value and edge & 1 else value

    def number(self, value: float) -> int:
        """Edge of a constant."""
        magnitude = abs(value)
        edge = self._constant_edges.get(magnitude)
        if edge is None:
            if not math.isfinite(value):
                raise GraphError(f"a constant of value {value}; constants must be finite")
            edge = 2 * len(self.nodes)
            self.constants[edge >> 1] = magnitude
            self._constant_edges[magnitude] = edge
            self.nodes.append(("const",))
        return edge + 1 if value < 0 else edge

    def sum(self, a: int, b: int) -> int:
        """Edge of a + b."""
        if a > b:
            a, b = b, a
        if a <= 1:
            return b
        sign = a & 1
        key = ("add", a - sign, b ^ sign)
        edge = self._edges.get(key)
        if edge is None:
            edge = self._edges[key] = self._new_sum(key)
            if sign:
                self.written_negative.add(edge >> 1)
        return edge ^ sign

    def product(self, a: int, b: int) -> int:
        """Edge of a b."""
        if a > b:
            a, b = b, a
        if a <= 1:
            return ZERO
        key = ("mul", a & -2, b & -2)
        edge = self._edges.get(key)
        if edge is None:
            edge = self._edges[key] = self._new_product(key)
            if (a ^ b) & 1:
                self.written_negative.add(edge >> 1)
        return edge ^ ((a ^ b) & 1)

    def has_product(self, a: int, b: int) -> bool:
        """Whether a b or its opposite has been built."""
        return ("mul", min(a, b) & -2, max(a, b) & -2) in self._edges

    def reciprocal(self, a: int) -> int:
        """Edge of 1 / a."""
        sign = a & 1
        key = ("inv", a - sign)
        edge = self._edges.get(key)
        if edge is None:
            value = self.constants.get(a >> 1)
            if value is not None:
                if value == 0 or math.isinf(1 / value):
                    raise GraphError("a division by zero while building; the divisor vanishes identically")
                edge = self.number(1 / value)
            elif self.nodes[a >> 1][0] == "inv":
                edge = self.nodes[a >> 1][1]
            else:
                edge = self._new(key)
                self._in_quotients |= {edge, a - sign}
            self._edges[key] = edge
        return edge ^ sign

    def sine(self, a: int) -> int:
        """Edge of sin a = -sin(-a)."""
        sign = a & 1
        return self._elementary("sin", a - sign, math.sin) ^ sign

    def cosine(self, a: int) -> int:
        """Edge of cos a = cos(-a)."""
        return self._elementary("cos", a & -2, math.cos)

    def signum(self, a: int) -> int:
        """Edge of sign a = -sign(-a)."""
        sign = a & 1
        return self._elementary("sign", a - sign, lambda x: float(x > 0)) ^ sign

    def square_root(self, a: int) -> int:
        """Edge of the square root of a."""
        value = self.constant_value(a)
        if value is not None and value < 0:
            raise GraphError(f"the square root of {value} while building; the argument must not be negative")
        return self._elementary("sqrt", a, math.sqrt)

    def joined(self, a: int) -> int:
        """Edge of the sum of a over the lanes. A value without lanes counts once for each lane."""
        if a >> 1 not in self.with_lanes:
            return self.product(self.number(float(self.lanes)), a)
        return self._of_lanes("join", a)

    def turned(self, a: int) -> int:
        """Edge of the value that holds in each lane the value of the next lane."""
        return self._of_lanes("turn", a) if a >> 1 in self.with_lanes else a

    def _of_lanes(self, op: str, a: int) -> int:
        key = (op, a & -2)
        if key not in self._edges:
            self._edges[key] = self._new(key)
        return self._edges[key] ^ (a & 1)

    def _new(self, node: tuple[Any, ...]) -> int:
        if self.lanes > 1 and node[0] != "join" and any(edge >> 1 in self.with_lanes for edge in node[1:]):
            self.with_lanes.add(len(self.nodes))
        self.nodes.append(node)
        return 2 * len(self.nodes) - 2

    def _new_sum(self, key: tuple[Any, int, int]) -> int:
        _, a, b = key
        if a ^ b == 1:
            return ZERO
        if a >> 1 in self.constants and b >> 1 in self.constants:
            return self.number(self.constants[a >> 1] + (self.constant_value(b) or 0.0))
        if a == b:
            scaled = self._scaled(a)
            if scaled is not None:
                return self.product(self.number(2 * scaled[0]), scaled[1])
        left = uncancelled(self.nodes, a, b)
        return self._new(key) if left is None else self.sum(*left)

    def _new_product(self, key: tuple[Any, int, int]) -> int:
        _, a, b = key
        if a == ONE:
            return b
        if b >> 1 in self.constants:
            a, b = b, a
        value = self.constants.get(a >> 1)
        if value is not None:
            if b >> 1 in self.constants:
                return self.number(value * self.constants[b >> 1])
            scaled = self._scaled(b)
            if scaled is not None:
                return self.product(self.number(value * scaled[0]), scaled[1])
            return self.sum(b, b) if value == 2 else self._new(("mul", a, b))
        if a == b:
            return self._new(("sq", a))
        if a in self._in_quotients or b in self._in_quotients:
            left = undivided(self.nodes, a, b)
            return self._new(key) if left is None else left
        return self._new(key)

    def _scaled(self, a: int) -> tuple[float, int] | None:
        """(c, x) if a is c x with a constant c, including doublings."""
        node = self.nodes[a >> 1]
        if node[0] == "mul" and node[1] >> 1 in self.constants:
            return self.constants[node[1] >> 1], node[2]
        if node[0] == "add" and node[1] == node[2]:
            return 2.0, node[1]
        return None

    def _elementary(self, op: str, a: int, function: Any) -> int:
        key = (op, a)
        edge = self._edges.get(key)
        if edge is None:
            value = self.constants.get(a >> 1)
            edge = self._new(key) if value is None else self.number(function(value))
            self._edges[key] = edge
        return edge

    def _own(self, expression: Expr) -> int:
        if expression.builder is not self:
            raise GraphError("expressions of two builders cannot be combined; trace with one builder")
        return expression.edge

    def edges_of(self, elements: Sequence[Expr | Number]) -> list[int]:
        """The edges of expressions and numbers; GraphError for any other type."""
        edges = []
        for element in elements:
            edge = self.edge_of(element)
            if edge is None:
                raise GraphError(f"an output element is a {type(element).__name__}; give Expr or numbers")
            edges.append(edge)
        return edges
