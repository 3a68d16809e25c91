"""What both ways of differentiation know of an operation: its derivatives by what it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any, Final, Protocol

from rbdgen.graph.builder import Builder
from rbdgen.graph.expression import Expr, Number
from rbdgen.graph.node import Graph

Factors = tuple[Expr | Number, ...]


class Rates(Protocol):
    """From the elements of an array and some numbers, in which it is linear, to rates of the elements."""

    def __call__(self, elements: Sequence[Expr], numbers: Sequence[Expr], /) -> Sequence[Any]: ...


@dataclass(frozen=True)
class Moving:
    """An input array to differentiate by.

    `shape`: of the numbers that say how it moves; `rates`: those of its elements by these numbers, None where
    they are the numbers themselves.
    """

    name: str
    shape: tuple[int, ...]
    rates: Rates | None = None

    @property
    def size(self) -> int:
        return prod(self.shape)


Told = Mapping[str, Moving]
"""Outputs whose rates are told in other numbers: `rates` gives these from those of the elements."""

AS_THEY_ARE: Final[Told] = MappingProxyType({})


def declared(builder: Builder, graph: Graph) -> dict[str, list[Expr]]:
    """The elements of the graph's inputs, as inputs of the builder."""
    return {array.name: builder.input(array.name, array.size) for array in graph.inputs}


def dependent(builder: Builder, wanted: Iterable[Expr]) -> set[int]:
    """The nodes that depend on these, themselves among them; nodes stand behind their arguments."""
    active = {x.edge >> 1 for x in wanted}
    for node in range(min(active, default=0), len(builder.nodes)):
        if any(edge >> 1 in active for edge in builder.nodes[node][1:]):
            active.add(node)
    return active


def slopes(builder: Builder, node: int) -> Iterator[tuple[int, Factors]]:
    """Edges, and the factors of the node's derivative by what stands at each of them; a sign has none.

    An edge may be one that an argument reads, where the derivative by that takes less: the divisor of a
    quotient, and the angle of a sine in a product.
    """
    op, *edges = builder.nodes[node]
    first, own = Expr(builder, edges[0]), Expr(builder, 2 * node)
    if op == "add":
        yield from ((edge, ()) for edge in edges)
    elif op == "mul":
        yield _of_factor(builder, node, edges[0], edges[1])
        yield _of_factor(builder, node, edges[1], edges[0])
    elif op == "sq":
        yield edges[0], (first, 2)
    elif op == "inv":
        yield edges[0], (-own, own)
    elif op == "sqrt":
        yield edges[0], (0.5 / own,)
    elif op == "sin":
        yield edges[0], (first.cos(),)
    elif op == "cos":
        yield edges[0], (-first.sin(),)


def _of_factor(builder: Builder, node: int, this: int, other: int) -> tuple[int, Factors]:
    """Of a product, by one of its factors.

    d(x / y) by y is -(x / y) / y. Where a vector is turned, both s x and c x are there, and d(s x) by the
    angle is c x: no derivative by s is then gathered, and those of a turn are sums that are there as well.
    """
    op, *edges = builder.nodes[this >> 1]
    if op == "inv":
        return edges[0], (-Expr(builder, this), Expr(builder, 2 * node))
    if op in ("sin", "cos"):
        quarter_on = builder.cosine(edges[0]) if op == "sin" else builder.sine(edges[0]) ^ 1
        if builder.has_product(quarter_on, other):
            return edges[0], (Expr(builder, builder.product(quarter_on, other)),)
    return this, (Expr(builder, other),)
