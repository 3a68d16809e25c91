"""Operations on signed edges, each stored once and simplified on the way.

An edge is the integer 2 node + sign, so that a negation flips its last bit and costs nothing, as in
and-inverter graphs. Sums are stored up to their sign, so a - b, b - a and -(a + b) share one node with their
opposites.

Nodes are listed below. Their arguments are edges; `+` marks an edge of positive sign.

    const                   magnitude in `constants`, never negative; node 0 is 0, node 1 is 1
    input                   flat position in `positions`
    add   a+ b              b of either sign; add a+ a+ is a doubling
    mul   a+ b+             a constant comes first
    max   a b               min(a, b) is -max(-a, -b)
    select, select_le   a b x+ y   x if a < b, or a <= b, else y; if x is 0, then y+
    lane  a+ b              the number of a in the lane whose index is the constant b
    inv   a+                1 / a; `lower` merges x inv(a) into x / a if inv(a) has no other use
    sq join turn and all functions of `graph/ops.py`
                            arguments with +, but those of "fixed" functions, such as sqrt, have either sign,
                            and so has b of atan2 a+ b
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from rbdgen.errors import GraphError
from rbdgen.graph.edges import ONE, SELECTS, ZERO, chosen_sum, uncancelled, undivided
from rbdgen.graph.node import NUMBERS
from rbdgen.graph.ops import OPS, Op


class EdgeBuilder:
    """Stores the operations that are built. Its methods take and return edges."""

    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        self.constants: dict[int, float] = {}
        self.lanes = 1
        self.with_lanes: set[int] = set()  # nodes whose value has lanes
        self.written_negative: set[int] = set()  # nodes first written with the opposite sign
        self._constant_edges: dict[float, int] = {}
        self._edges: dict[tuple[Any, ...], int] = {}  # the result of an operation on edges
        self._in_quotients: set[int] = set()  # reciprocals and divisors: only their products can cancel
        self.number(0.0)
        self.number(1.0)

    def constant_value(self, edge: int) -> float | None:
        """The value of a constant's edge, None for other edges."""
        value = self.constants.get(edge >> 1)
        return -value if value and edge & 1 else value

    def number(self, value: float) -> int:
        """The edge of a constant."""
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
        """The edge of a + b."""
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
        """The edge of a b."""
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
        """The edge of 1 / a."""
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

    def apply(self, op: str, *edges: int) -> int:
        """The edge of an operation of `graph/ops.py`, or of `inv`, on edges."""
        own = _OWN.get(op)
        return self._function(OPS[op], *edges) if own is None else own(self, *edges)

    def _function(self, row: Op, a: int, *others: int) -> int:
        sign = a & 1 if row.signs in ("odd", "first") else 0
        if row.signs == "even":
            others = tuple(other & -2 for other in others)
        if row.signs != "fixed":
            a &= -2
        edges = (a, *others)
        key = (row.name, *edges)
        edge = self._edges.get(key)
        if edge is None:
            values = [self.constant_value(x) for x in edges]
            known = [value for value in values if value is not None]
            edge = self._known(row, known) if len(known) == len(values) else self._new(key)
            self._edges[key] = edge
        return edge ^ sign

    def _known(self, row: Op, values: Sequence[float]) -> int:
        """The edge of a function of constants."""
        try:
            value = row.evaluate(*values)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            name = {"sqrt": "square root", "log": "logarithm"}.get(row.name, row.name)
            of = ", ".join(map(str, values))
            raise GraphError(f"the {name} of {of} while building; the argument must {row.domain}")
        return self.number(value)

    def power(self, a: int, doubled: int) -> int:
        """The edge of a^(doubled / 2), by repeated squaring."""
        if doubled < 0:
            return self.reciprocal(self.power(a, -doubled))
        root, count = (self.apply("sqrt", a), doubled) if doubled % 2 else (a, doubled // 2)
        edge = ONE
        while count:
            if count & 1:
                edge = self.product(edge, root)
            root = self.product(root, root)
            count >>= 1
        return edge

    def raised(self, a: int, b: int) -> int:
        """The edge of a^b: products and roots if b is an integer or a half, else e^(b log(a))."""
        doubled = 2 * (self.constant_value(b) or 0.0) if b >> 1 in self.constants else math.nan
        if doubled.is_integer():
            return self.power(a, int(doubled))
        return self.apply("exp", self.product(b, self.apply("log", a)))

    def cosh(self, a: int) -> int:
        """The edge of the hyperbolic cosine."""
        grown, shrunk = self.apply("exp", a), self.apply("exp", a ^ 1)
        return self.product(self.number(0.5), self.sum(grown, shrunk))

    def sinh(self, a: int) -> int:
        """The edge of the hyperbolic sine, as the product tanh(a) cosh(a), which keeps its digits near 0."""
        return self.product(self.apply("tanh", a), self.cosh(a))

    def joined(self, a: int) -> int:
        """The edge of the sum of a over the lanes. A value without lanes counts once for each lane."""
        if a >> 1 not in self.with_lanes:
            return self.product(self.number(float(self.lanes)), a)
        return self._of_lanes("join", a)

    def turned(self, a: int) -> int:
        """The edge of the value that holds in each lane the value of the next lane."""
        return self._of_lanes("turn", a) if a >> 1 in self.with_lanes else a

    def in_lane(self, a: int, index: int) -> int:
        """The edge of the number of a in one lane. `index` is the edge of a constant."""
        op, *edges = self.nodes[a >> 1]
        if op == "beside":
            return int(edges[int(self.constants[index >> 1])]) ^ (a & 1)
        return self._once(("lane", a & -2, index)) ^ (a & 1) if a >> 1 in self.with_lanes else a

    def beside(self, *numbers: int) -> int:
        """The edge of the value that has one of these numbers in each lane."""
        return numbers[0] if len(set(numbers)) == 1 else self._once(("beside", *numbers))

    def _of_lanes(self, op: str, a: int) -> int:
        return self._once((op, a & -2)) ^ (a & 1)

    def _once(self, key: tuple[Any, ...]) -> int:
        edge = self._edges.get(key)
        if edge is None:
            edge = self._edges[key] = self._new(key)
        return edge

    def absolute(self, a: int) -> int:
        """The edge of |a|."""
        value = self.constants.get(a >> 1)
        if value is not None or self.nodes[a >> 1][0] in ("abs", "sq"):
            return a & -2
        return self._once(("abs", a & -2))

    def largest(self, a: int, b: int) -> int:
        """The edge of max(a, b)."""
        x, y = self.constant_value(a), self.constant_value(b)
        if x is not None and y is not None:
            return a if x > y else b
        return a if a == b else self._once(("max", a, b))

    def select(self, op: str, a: int, b: int, x: int, y: int) -> int:
        """The edge of x if a < b, else y. For the operation `select_le`, the condition is a <= b."""
        left, right = self.constant_value(a), self.constant_value(b)
        if left is not None and right is not None:
            return x if left < right or (op == "select_le" and left == right) else y
        if x == y:
            return x
        if a == b and op == "select":
            return y
        if min(a, b) & 1:  # -b < -a is a < b
            a, b = b ^ 1, a ^ 1
        sign = (y if x == ZERO else x) & 1
        return self._once((op, a, b, *(edge if edge == ZERO else edge ^ sign for edge in (x, y)))) ^ sign

    def where(self, condition: int, x: int, y: int) -> int:
        """The edge of x if a condition, whose value is 1 or 0, is not 0, else y."""
        op, *edges = self.nodes[condition >> 1]
        if op in SELECTS and {*edges[2:]} == {ZERO, ONE}:
            chosen = (x, y) if edges[2] == ONE else (y, x)
            return self.select(op, edges[0], edges[1], *chosen)
        return self.select("select", ZERO, self.absolute(condition), x, y)

    def _new(self, node: tuple[Any, ...]) -> int:
        nodes = self.nodes
        if node[0] == "beside" or (
            self.lanes > 1
            and node[0] not in NUMBERS
            and any(edge >> 1 in self.with_lanes for edge in node[1:])
        ):
            self.with_lanes.add(len(nodes))
        nodes.append(node)
        return 2 * len(nodes) - 2

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
        ops = self.nodes[a >> 1][0], self.nodes[b >> 1][0]
        if "add" in ops:
            left = uncancelled(self.nodes, a, b)
            if left is not None:
                return self.sum(*left)
        elif ops[0] in SELECTS:
            chosen = chosen_sum(self.nodes, a, b)
            if chosen is not None:
                return self.select(*chosen)
        return self._new(key)

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
        for choice, other in ((a, b), (b, a)):
            node = self.nodes[choice >> 1]
            if node[0] in SELECTS:
                op, left, right, *values = node
                if ZERO in values or all(value & -2 == ONE for value in values):
                    # no product with 1, and no NaN from a value that is not taken
                    x, y = (self.product(value, other) for value in values)
                    return self.select(op, left, right, x, y)
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


_OWN: Final[Mapping[str, Callable[..., int]]] = MappingProxyType(
    {
        "add": EdgeBuilder.sum,
        "sub": lambda builder, a, b: builder.sum(a, b ^ 1),
        "mul": EdgeBuilder.product,
        "div": lambda builder, a, b: builder.product(a, builder.reciprocal(b)),
        "neg": lambda _, a: a ^ 1,
        "sq": lambda builder, a: builder.product(a, a),
        "inv": EdgeBuilder.reciprocal,
        "abs": EdgeBuilder.absolute,
        "max": EdgeBuilder.largest,
        "min": lambda builder, a, b: builder.largest(a ^ 1, b ^ 1) ^ 1,
        "select": lambda builder, *edges: builder.select("select", *edges),
        "select_le": lambda builder, *edges: builder.select("select_le", *edges),
        "join": EdgeBuilder.joined,
        "turn": EdgeBuilder.turned,
        "lane": EdgeBuilder.in_lane,
        "beside": EdgeBuilder.beside,
    }
)
"""The operations with rules of their own."""
