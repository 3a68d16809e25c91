"""The builder of graphs, which records expressions while they are written and simplifies them on the way.

A `Builder` stores every distinct operation once (hash-consing) and refers to it by signed edges; see
`graph/edge_builder.py`. At the end `lower` decides with which sign each value is computed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rbdgen.errors import GraphError
from rbdgen.graph.cost import Cost
from rbdgen.graph.edge_builder import EdgeBuilder
from rbdgen.graph.expression import Expr, Number, edge_of
from rbdgen.graph.lower import Built, lower, lowered_cost, negated_label, operations
from rbdgen.graph.node import Graph, Input


class Builder(EdgeBuilder):
    """Collects inputs, expressions and labels, and makes a graph of them. Methods that take and return edges
    serve the passes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[Input] = []
        self.positions: dict[int, int] = {}
        self.labels: dict[int, str] = {}

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

    def unknowns(self, size: int, with_lanes: Collection[int] = ()) -> list[Expr]:
        """Symbols to differentiate by. They are no inputs, so no output of a graph may depend on them.

        `with_lanes` has the indices of the symbols that have lanes.
        """
        symbols = [Expr(self, self._new(("input",))) for _ in range(size)]
        self.with_lanes.update(symbols[k].edge >> 1 for k in with_lanes)
        return symbols

    def constant(self, value: Number) -> Expr:
        """A number as an expression of this builder."""
        return Expr(self, self.number(float(value)))

    def label(self, expression: Expr | Number, text: str) -> None:
        """Name the quantity that an expression holds. A value keeps its first name; numbers and inputs get
        none.
        """
        edge = edge_of(self, expression)
        if edge is not None:
            self.label_edge(edge, text)

    def graph(self, outputs: Sequence[tuple[str, tuple[int, ...], Sequence[Expr | Number]]]) -> Graph:
        """The graph that computes these outputs. An output is a name, a shape and its row-major elements.

        Negations remain only where no choice of signs avoids them: at outputs, and at arguments whose sign is
        fixed, which are those of square roots and choices.
        """
        return self.lower([(name, shape, self.edges_of(elements)) for name, shape, elements in outputs])

    def cost(self, expressions: Sequence[Expr | Number]) -> Cost:
        """The cost of the graph that would compute the expressions, without building it."""
        return lowered_cost(self._built(), self.edges_of(expressions))

    def operations(self, expressions: Sequence[Expr | Number]) -> int:
        """The number of operations, without negations, of the graph that would compute the expressions. This
        takes half the time of `cost`.
        """
        return operations(self._built(), self.edges_of(expressions))

    # ---- edges

    def lower(self, outputs: Sequence[tuple[str, tuple[int, ...], Sequence[int]]]) -> Graph:
        """Do the same as `graph`, for edges instead of expressions."""
        return lower(self._built(), outputs)

    def label_edge(self, edge: int, text: str) -> None:
        """Do the same as `label`, for an edge."""
        if self.nodes[edge >> 1][0] not in ("const", "input"):
            self.labels.setdefault(edge >> 1, negated_label(text) if edge & 1 else text)

    def edges_of(self, elements: Sequence[Expr | Number]) -> list[int]:
        """The edges of expressions and numbers; GraphError for any other type."""
        edges = []
        for element in elements:
            edge = edge_of(self, element)
            if edge is None:
                raise GraphError(f"an output element is a {type(element).__name__}; give Expr or numbers")
            edges.append(edge)
        return edges

    def _built(self) -> Built:
        return Built(
            self.inputs, self.nodes, self.constants, self.positions, self.labels, self.written_negative
        )
