"""Lowering of a builder's signed edges to an unsigned graph: liveness, signs, quotients, emission of
nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from rbdgen.graph.cost import OPERATIONS, Cost
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.ops import OPS, named
from rbdgen.graph.signs import choose_flips

_FIXED = named("fixed")
_FIRST = named("first")
_TOGETHER = named("together")


@dataclass(frozen=True)
class Built:
    """The operations of a `Builder`, see `graph/edge_builder.py`."""

    inputs: Sequence[Input]
    nodes: Sequence[tuple[Any, ...]]
    constants: Mapping[int, float]  # magnitudes
    positions: Mapping[int, int]  # of inputs, in all their arrays
    labels: Mapping[int, str]
    written_negative: Set[int]  # nodes first written with the opposite sign


@dataclass(frozen=True)
class _Plan:
    """The operations to compute, with their signs and quotients."""

    order: list[int]  # live nodes, operands first
    flipped: set[int]  # nodes computed with the opposite sign
    demands: list[int]  # edges whose sign matters: outputs and arguments of "fixed" functions
    quotients: dict[int, tuple[int, int]]  # products that become divisions: numerator, node of the reciprocal
    joined: set[int]  # the reciprocals of these quotients


def lower(built: Built, outputs: Sequence[tuple[str, tuple[int, ...], Sequence[int]]]) -> Graph:
    """The graph that computes the outputs (name, shape, edges), with live operations only, in builder
    order.
    """
    edges = [edge for _, _, elements in outputs for edge in elements]
    emission = _Emission(built, _plan(built, edges))
    emission.run()
    placed = tuple(
        Output(name, tuple(shape), tuple(emission.demanded(edge) for edge in elements))
        for name, shape, elements in outputs
    )
    return Graph(tuple(built.inputs), tuple(emission.out), placed, emission.labels)


def operations(built: Built, edges: Sequence[int]) -> int:
    """The total of `lowered_cost` without negations. It needs no choice of signs and takes half the time."""
    nodes = built.nodes
    order, _, reciprocals = _live(nodes, edges)
    free = sum(nodes[index][0] in ("const", "input") for index in order)
    return len(order) - free - len(_quotients(nodes, order, reciprocals))


def lowered_cost(built: Built, edges: Sequence[int]) -> Cost:
    """The cost of the graph that `lower` would make of the edges."""
    plan = _plan(built, edges)
    nodes, constants, flipped = built.nodes, built.constants, plan.flipped
    demands = list(plan.demands)
    counts = dict.fromkeys(("const", "input", "inv", *OPERATIONS), 0)
    for index in plan.order:
        node = nodes[index]
        op = node[0]
        if op == "add" and (flipped or node[2] & 1):
            op = "sub" if _is_difference(node, index, constants, flipped) else "add"
        elif op == "mul" and index in plan.quotients:
            continue  # counted as the division at its reciprocal
        elif op in _TOGETHER:
            op, edges_as_written = _as_written(built, flipped, index)
            demands += edges_as_written
        counts[op] += 1
    counts["div"] = counts["inv"]
    negated = {edge for edge in demands if (edge & 1) != (edge >> 1 in flipped)}
    counts["neg"] = sum(edge >> 1 not in constants for edge in negated)
    return Cost(**{op: counts[op] for op in OPERATIONS})


def negated_label(text: str) -> str:
    """The name of the opposite of a named quantity."""
    return text[1:] if text.startswith("-") else f"-{text}"


def _plan(built: Built, edges: Sequence[int]) -> _Plan:
    nodes = built.nodes
    order, fixed, reciprocals = _live(nodes, edges)
    demands = [*edges, *fixed]
    quotients = _quotients(nodes, order, reciprocals)
    joined = {reciprocal for _, reciprocal in quotients.values()}
    flipped = choose_flips(nodes, built.constants, built.written_negative, order, joined, demands)
    return _Plan(order, flipped, demands, quotients, joined)


def _live(nodes: Sequence[tuple[Any, ...]], edges: Sequence[int]) -> tuple[list[int], list[int], set[int]]:
    """The needed nodes, operands first; the arguments whose sign is fixed; the reciprocals that are used
    once."""
    top = max(edges, default=-1) >> 1
    uses = [0] * (top + 1)
    fixed: list[int] = []
    for edge in edges:
        uses[edge >> 1] += 1
    order = []
    reciprocals = set()
    for index in range(top, -1, -1):
        if uses[index]:
            order.append(index)
            node = nodes[index]
            for edge in node[1:]:
                uses[edge >> 1] += 1
            if node[0] in _FIXED:
                fixed += node[1:]
            elif node[0] in _FIRST:
                fixed += node[2:]
            elif node[0] == "inv" and uses[index] == 1:
                reciprocals.add(index)
    order.reverse()
    return order, fixed, reciprocals


def _is_difference(
    node: tuple[Any, ...], index: int, constants: Mapping[int, float], flipped: set[int]
) -> bool:
    """Whether a sum is emitted as `sub`. With a constant operand, one minus sign suffices: if the other
    operand is subtracted from the constant, the constant takes up its own sign.
    """
    a, b = node[1] >> 1, node[2] >> 1
    sign = index in flipped
    minus_a = sign ^ (a in flipped)
    minus_b = sign ^ (b in flipped) ^ bool(node[2] & 1)
    if a in constants or b in constants:
        return minus_a or minus_b
    return minus_a != minus_b


def _as_written(built: Built, flipped: set[int], index: int) -> tuple[str, list[int]]:
    """The operation that computes a node with its sign, and its arguments, each with the sign of its edge."""
    op, *edges = built.nodes[index]
    if op in _FIXED:
        return op, edges
    if op in _FIRST:  # an opposite first argument gives the opposite value
        return op, [edges[0] ^ (edges[0] >> 1 in flipped), *edges[1:]]
    row, opposite = OPS[op], index in flipped
    compared = edges[: row.compared]
    if compared:  # -b < -a is a < b
        swapped = [edge ^ 1 for edge in reversed(compared)]
        compared = min(compared, swapped, key=lambda pair: _negations(built, flipped, pair))
    values = [edge ^ opposite for edge in edges[row.compared :]]
    return (row.opposite or op) if opposite else op, [*compared, *values]


def _negations(built: Built, flipped: set[int], edges: Sequence[int]) -> int:
    """Counts the values that are computed with another sign than that of their edge."""
    return sum(
        edge >> 1 not in built.constants and bool(edge & 1) != (edge >> 1 in flipped) for edge in edges
    )


def _quotients(
    nodes: Sequence[tuple[Any, ...]], order: Sequence[int], reciprocals: set[int]
) -> dict[int, tuple[int, int]]:
    """The products that become divisions: each reads one of these reciprocals, which nothing else reads."""
    quotients: dict[int, tuple[int, int]] = {}
    for index in order if reciprocals else ():
        node = nodes[index]
        if node[0] == "mul":
            if node[2] >> 1 in reciprocals:
                quotients[index] = (node[1], node[2] >> 1)
            elif node[1] >> 1 in reciprocals:
                quotients[index] = (node[2], node[1] >> 1)
    return quotients


class _Emission:
    """Writes the nodes of a plan; `_place` maps a builder's node to its index in the graph."""

    def __init__(self, built: Built, plan: _Plan) -> None:
        self.built = built
        self.plan = plan
        self.out: list[Node] = []
        self.labels: dict[int, str] = {}
        self._place: dict[int, int] = {}
        self._constants: dict[float, int] = {}
        self._negated: dict[int, int] = {}

    def run(self) -> None:
        nodes, constants = self.built.nodes, self.built.constants
        names, flipped = self.built.labels, self.plan.flipped
        for index in self.plan.order:
            if index in constants or index in self.plan.joined:
                continue
            node = nodes[index]
            op = node[0]
            if op == "add":
                place = self._sum(index, node)
            elif op == "mul":
                place = self._product(index, node)
            elif op == "inv":
                place = self._division(index, 2, node[1])
            elif op == "input":
                place = self._put("input", (), float(self.built.positions[index]))
            elif op in _FIXED or op in _FIRST or op in _TOGETHER:
                op, edges = _as_written(self.built, flipped, index)
                place = self._put(op, tuple([self.demanded(edge) for edge in edges]))
            else:
                place = self._put(op, tuple([self._unsigned(edge >> 1) for edge in node[1:]]))
            self._place[index] = place
            if index in names:
                text = names[index]
                self.labels[place] = negated_label(text) if index in flipped else text

    def _unsigned(self, node: int) -> int:
        """The index of the node that holds a value, or its opposite."""
        magnitude = self.built.constants.get(node)
        return self._place[node] if magnitude is None else self._constant(magnitude, False)

    def demanded(self, edge: int) -> int:
        """The index of the node that holds an edge's value with its sign. A negation is added if needed."""
        node = edge >> 1
        if node in self.built.constants:
            return self._constant(self.built.constants[node], bool(edge & 1))
        place = self._place[node]
        if bool(edge & 1) == (node in self.plan.flipped):
            return place
        if place not in self._negated:
            self._negated[place] = self._put("neg", (place,))
        return self._negated[place]

    def _sum(self, index: int, node: tuple[Any, ...]) -> int:
        constants, flipped = self.built.constants, self.plan.flipped
        a, b = node[1] >> 1, node[2] >> 1
        minus_a = (index in flipped) ^ (a in flipped)
        minus_b = (index in flipped) ^ (b in flipped) ^ bool(node[2] & 1)
        if a in constants:
            a, b, minus_a, minus_b = b, a, minus_b, minus_a
        if b in constants:
            if minus_a:
                return self._put("sub", (self._constant(constants[b], minus_b), self._place[a]))
            return self._put(
                "sub" if minus_b else "add", (self._place[a], self._constant(constants[b], False))
            )
        if minus_a:
            return self._put("sub", (self._place[b], self._place[a]))
        return self._put("sub" if minus_b else "add", (self._place[a], self._place[b]))

    def _product(self, index: int, node: tuple[Any, ...]) -> int:
        constants, flipped = self.built.constants, self.plan.flipped
        if index in self.plan.quotients:
            numerator, reciprocal = self.plan.quotients[index]
            return self._division(index, numerator, self.built.nodes[reciprocal][1])
        a, b = node[1] >> 1, node[2] >> 1
        if a in constants:
            negative = (index in flipped) ^ (b in flipped)
            return self._put("mul", (self._place[b], self._constant(constants[a], negative)))
        return self._put("mul", (self._place[a], self._place[b]))

    def _division(self, index: int, numerator: int, denominator: int) -> int:
        constants, flipped = self.built.constants, self.plan.flipped
        top, bottom = numerator >> 1, denominator >> 1
        if top in constants:
            above = self._constant(constants[top], (index in flipped) ^ (bottom in flipped))
        else:
            above = self._place[top]
        return self._put("div", (above, self._place[bottom]))

    def _constant(self, magnitude: float, negative: bool) -> int:
        value = -magnitude if negative and magnitude else magnitude
        if value not in self._constants:
            self._constants[value] = self._put("const", (), value)
        return self._constants[value]

    def _put(self, op: str, args: tuple[int, ...], value: float = 0.0) -> int:
        self.out.append(Node(op, args, value))
        return len(self.out) - 1
