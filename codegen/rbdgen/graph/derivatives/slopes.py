"""The partial derivatives of operations, which both modes of differentiation use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any, Final, Protocol

from rbdgen.graph.builder import Builder
from rbdgen.graph.edge_builder import EdgeBuilder
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.ops import OPS, Factors


class Rates(Protocol):
    """Maps the elements of an array, and numbers in which it is linear, to the rates of the elements.

    An example is q with a quaternion, whose rates are linear in a velocity of the tangent space.
    """

    def __call__(self, elements: Sequence[Expr], numbers: Sequence[Expr], /) -> Sequence[Any]: ...


@dataclass(frozen=True)
class Moving:
    """An array to differentiate by."""

    name: str
    shape: tuple[int, ...]
    """The shape of the numbers that move it."""
    rates: Rates | None = None
    """Maps these numbers to rates of the elements; None if they are the rates themselves."""
    lanes: frozenset[int] = frozenset()
    """The numbers that have lanes."""

    @property
    def size(self) -> int:
        return prod(self.shape)


Told = Mapping[str, Moving]
"""The outputs, by name, whose rates are expressed in other numbers than the rates of their elements.

`Moving.rates` maps the rates of the elements to these numbers, and `Moving.shape` is the shape of these.
"""

AS_THEY_ARE: Final[Told] = MappingProxyType({})


def declared(builder: Builder, graph: Graph) -> dict[str, list[Expr]]:
    """The elements of the graph's inputs, as inputs of the builder."""
    return {array.name: builder.input(array.name, array.size) for array in graph.inputs}


def dependent(builder: EdgeBuilder, wanted: Iterable[Expr]) -> set[int]:
    """The nodes that depend on these expressions, including their own nodes. Nodes come after their
    arguments.
    """
    active = {x.edge >> 1 for x in wanted}
    for node in range(min(active, default=0), len(builder.nodes)):
        if any(edge >> 1 in active for edge in builder.nodes[node][1:]):
            active.add(node)
    return active


def slopes(builder: EdgeBuilder, node: int) -> Iterator[tuple[int, Factors]]:
    """The edges that the node reads, each with the factors of the node's partial derivative.

    Edges with respect to which the derivative is 0, such as the argument of a sign, are left out. If this
    takes fewer operations, an edge that an argument reads is given instead of the argument itself: the
    divisor of a quotient, or the angle of a sine in a product.
    """
    op, *edges = builder.nodes[node]
    own = Expr(builder, 2 * node)
    if op == "mul":
        yield _of_factor(builder, node, edges[0], edges[1])
        yield _of_factor(builder, node, edges[1], edges[0])
    elif op == "inv":
        yield edges[0], (-own, own)
    elif of_operation := OPS[op].slopes:
        found = of_operation(own, *(Expr(builder, edge) for edge in edges))
        yield from (
            (edge, factors) for edge, factors in zip(edges, found, strict=True) if factors is not None
        )


def _of_factor(builder: EdgeBuilder, node: int, this: int, other: int) -> tuple[int, Factors]:
    """The derivative of a product with respect to one of its factors.

    The derivative of x / y with respect to y is -(x / y) / y. If a vector is rotated by an angle with sine s
    and cosine c, both s x and c x exist, and the derivative of s x with respect to the angle is c x. Then no
    derivative with respect to s is needed, and the derivatives of the rotation are sums that exist already.
    """
    op, *edges = builder.nodes[this >> 1]
    if op == "inv":
        return edges[0], (-Expr(builder, this), Expr(builder, 2 * node))
    if op in ("sin", "cos"):
        quarter_on = builder.apply("cos", edges[0]) if op == "sin" else builder.apply("sin", edges[0]) ^ 1
        if builder.has_product(quarter_on, other):
            return edges[0], (Expr(builder, builder.product(quarter_on, other)),)
    return this, (Expr(builder, other),)
