"""Straight lines around products of large matrices, and their derivatives along directions.

The line is differentiated as any graph, with the results of products as inputs and their factors as outputs.
The derivatives of a product C = A B are products again:

    C_dot = A_dot B + A B_dot,   A_bar = C_bar B^T,   B_bar = A^T C_bar
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rbdgen.access import Place
from rbdgen.functions.composed import Factors
from rbdgen.functions.composition import known
from rbdgen.graph.builder import Builder
from rbdgen.graph.derivatives.forward import jvp
from rbdgen.graph.derivatives.reverse import vjp
from rbdgen.graph.derivatives.slopes import Moving, Told
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.passes import ORDER
from rbdgen.graph.programs.products import Products, Value, Values
from rbdgen.graph.programs.program import Program
from rbdgen.graph.replay import Replay
from rbdgen.signature import BAR, DOT, SizedSignature


@dataclass(frozen=True)
class LineOfProducts:
    """The straight line of a function around products of large matrices."""

    graph: Graph
    factors: Sequence[Factors]
    signature: SizedSignature
    """The signature of the function."""

    def program(self) -> Program:
        """The function itself."""
        made = _Made(self, self.signature)
        outputs = [(y.name, y.shape, made.line.output(y.name)) for y in self.signature.outputs]
        return made.products.program(outputs, ORDER)

    def along(self, signature: SizedSignature, by: Sequence[Moving], told: Told) -> Program:
        """NAME_jvp, of this signature."""
        made = _Made(self, signature)
        rates = made.opened(jvp(self.graph, [*by, *self._moving], told))
        for own in self.factors:
            left, right = (
                own_side.values(list(map(known, rates.output(own_side.name + DOT))))
                for own_side in (own.left, own.right)
            )
            moved = made.products.multiply(
                [(_nonzero(left), made.right[own]), (made.left[own], _nonzero(right))], own.result.places
            )
            rates.give(own.result.name + DOT, own.result.elements(moved))
        return made.program(rates)

    def back(self, signature: SizedSignature, by: Sequence[Moving], told: Told) -> Program:
        """NAME_vjp, of this signature."""
        made = _Made(self, signature)
        graph = vjp(self.graph, [*by, *self._moving], told)
        asked, weights = _read(graph), made.opened(graph)
        for own in reversed(self.factors):
            of = _nonzero(own.result.values(list(map(known, weights.output(own.result.name + BAR)))))
            for side, terms in (
                (own.left, (of, _transposed(made.right[own]))),
                (own.right, (_transposed(made.left[own]), of)),
            ):
                wanted = [at for k, at in enumerate(side.places) if (side.name + BAR, k) in asked]
                found = made.products.multiply([terms], wanted) if wanted else {}
                weights.give(side.name + BAR, side.elements(found))
        return made.program(weights)

    @property
    def _moving(self) -> list[Moving]:
        return [Moving(own.result.name, (len(own.result.places),)) for own in self.factors]


class _Made:
    """The line in a new builder, with its products."""

    def __init__(self, of: LineOfProducts, signature: SizedSignature) -> None:
        self._of, self._signature = of, signature
        builder = Builder()
        results = {own.result.name for own in of.factors}
        sizes = {x.name: x.size for x in signature.inputs}
        sizes |= {x.name: x.size for x in of.graph.inputs if x.name not in results}  # the table, the last one
        self.given = {name: builder.input(name, size) for name, size in sizes.items()}
        self.products = Products(builder, {*sizes, *(y.name for y in signature.outputs)})
        self.line = Replay(builder, of.graph, {x: self.given[x] for x in _names(of.graph) if x in sizes})
        self.left: dict[Factors, Values] = {}
        self.right: dict[Factors, Values] = {}
        self._builder = builder
        for own in of.factors:
            self.left[own], self.right[own] = (
                _nonzero(side.values(list(map(known, self.line.output(side.name)))))
                for side in (own.left, own.right)
            )
            terms = [(self.left[own], self.right[own])]
            found = own.result.elements(self.products.multiply(terms, own.result.places))
            self.line.give(own.result.name, found)
            self.given[own.result.name] = [x if isinstance(x, Expr) else builder.constant(x) for x in found]

    def opened(self, graph: Graph) -> Replay:
        """A replay of a derivative of the line, in which derivatives of products are given later."""
        return Replay(self._builder, graph, {x: self.given[x] for x in _names(graph) if x in self.given})

    def program(self, derivative: Replay) -> Program:
        """The program of a derivative."""
        outputs = [(y.name, y.shape, derivative.output(y.name)) for y in self._signature.outputs]
        return self.products.program(outputs)


def _names(graph: Graph) -> list[str]:
    return [array.name for array in graph.inputs]


def _read(graph: Graph) -> set[tuple[str, int]]:
    """The elements of inputs that a graph reads."""
    return {graph.input_element(int(node.value)) for node in graph.nodes if node.op == "input"}


def _nonzero(values: Mapping[Place, Value]) -> dict[Place, Value]:
    return {at: x for at, x in values.items() if isinstance(x, Expr) or x != 0}


def _transposed(values: Values) -> dict[Place, Value]:
    return {(j, i): x for (i, j), x in values.items()}
