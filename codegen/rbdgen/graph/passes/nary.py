"""Sums and products of any length, which is the form of a graph on which `factor` and `pairs` work.

An opened graph is a forest: a sum or product that only one other sum or product reads is dissolved in it. So
x + (y + z) is one sum of three terms, and the order of additions is free. Operands are edges as in a
`Builder`, 2 node + sign; terms have either sign, factors have the positive one. A square is a product of two
equal factors, and a doubling is a product with the constant 2. Closing the forest gives a graph of
two-operand nodes again, in which equal nodes are merged.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import cheaper
from rbdgen.graph.edges import ONE, ZERO
from rbdgen.graph.node import Graph
from rbdgen.graph.replay import replayed


class Forest:
    """The sums and products of a graph, to be changed and closed.

    Attributes:
        sums: maps a node to its terms.
        products: maps a node to its factors.
        uses: maps a node to the number of terms, factors, arguments and outputs that refer to it.
    """

    def __init__(self, graph: Graph) -> None:
        self.sums: dict[int, list[int]] = {}
        self.products: dict[int, list[int]] = {}
        self._graph = graph
        self._source = Builder()
        edges = replayed(self._source, graph)
        self._outputs = [
            (output.name, output.shape, [edges[element] for element in output.elements])
            for output in graph.outputs
        ]
        self._two = self._source.number(2.0)
        self._next = len(self._source.nodes)
        self._dissolve()
        self.uses = self._count_uses()
        for kind in (self.sums, self.products):
            for node in kind.keys() - self.uses.keys():  # only a cancelled term read it
                del kind[node]

    def new_sum(self, terms: list[int]) -> int:
        """Add a sum. The result is its positive edge. The caller must update `uses`."""
        self.sums[self._next] = terms
        self._next += 1
        return 2 * self._next - 2

    def new_product(self, factors: list[int]) -> int:
        """Add a product. The result is its edge. The caller must update `uses`."""
        self.products[self._next] = factors
        self._next += 1
        return 2 * self._next - 2

    def close(self) -> Graph:
        """Return the forest as a graph, or the graph from which it was opened if that takes no more work."""
        builder = Builder()
        inputs = [
            x.edge
            for argument in self._graph.inputs
            for x in builder.input(argument.name, argument.size, argument.lanes)
        ]
        edges: dict[int, int] = {}
        for node in self._in_order():
            if node in self.sums:
                edge = self._close_sum(self.sums[node], builder, edges)
            elif node in self.products:
                edge = self._close_product(self.products[node], builder, edges)
            elif node in self._source.positions:
                edge = inputs[self._source.positions[node]]
            elif node in self._source.constants:
                edge = builder.number(self._source.constants[node])
            else:
                op, *operands = self._source.nodes[node]
                edge = builder.apply(op, *[edges[edge >> 1] ^ (edge & 1) for edge in operands])
            edges[node] = edge
        for node, text in self._source.labels.items():
            if node in edges:
                builder.label_edge(edges[node], text)
        closed = builder.lower(
            [
                (name, shape, [edges[edge >> 1] ^ (edge & 1) for edge in elements])
                for name, shape, elements in self._outputs
            ]
        )
        return cheaper(closed, self._graph)

    def _dissolve(self) -> None:
        """Fill `sums` and `products` from the operations of the graph."""
        nodes = self._source.nodes
        uses = self._binary_uses()
        for node, count in enumerate(uses):
            op, *operands = nodes[node]
            if not count:
                continue
            if op == "add" and operands[0] != operands[1]:
                self.sums[node] = _uncancelled(
                    [term ^ (edge & 1) for edge in operands for term in self._take(self.sums, edge, uses)]
                )
            elif op == "add":
                self.products[node] = [self._two, *self._take(self.products, operands[0], uses)]
            elif op == "mul":
                self.products[node] = [
                    factor for edge in operands for factor in self._take(self.products, edge, uses)
                ]
            elif op == "sq":
                self.products[node] = [operands[0], operands[0]]

    def _take(self, kind: dict[int, list[int]], edge: int, uses: Sequence[int]) -> list[int]:
        """Remove a node of this kind that has no other use, and return its operands; otherwise return its
        positive edge.
        """
        if uses[edge >> 1] == 1 and edge >> 1 in kind:
            return kind.pop(edge >> 1)
        return [edge & -2]

    def _binary_uses(self) -> list[int]:
        nodes = self._source.nodes
        uses = [0] * len(nodes)
        for _, _, elements in self._outputs:
            for edge in elements:
                uses[edge >> 1] += 1
        for node in range(len(nodes) - 1, -1, -1):
            if uses[node]:
                for operand in set(nodes[node][1:]) if nodes[node][0] == "add" else nodes[node][1:]:
                    uses[operand >> 1] += 1
        return uses

    def _count_uses(self) -> dict[int, int]:
        order = self._in_order()
        uses = dict.fromkeys(order, 0)
        for node in order:
            for edge in self._operands(node):
                uses[edge >> 1] += 1
        for _, _, elements in self._outputs:
            for edge in elements:
                uses[edge >> 1] += 1
        return uses

    def _operands(self, node: int) -> Sequence[int]:
        operands: Sequence[int] | None = self.sums.get(node)
        if operands is None:
            operands = self.products.get(node)
        return self._source.nodes[node][1:] if operands is None else operands

    def _in_order(self) -> list[int]:
        """The nodes that the outputs need, operands first."""
        sums, products, nodes = self.sums, self.products, self._source.nodes
        order: list[int] = []
        begun = bytearray(self._next)
        stack = [edge >> 1 for _, _, elements in reversed(self._outputs) for edge in reversed(elements)]
        while stack:
            node = stack.pop()
            if node < 0:  # all that it needs is done
                order.append(~node)
            elif not begun[node]:
                begun[node] = 1
                operands: Sequence[int] | None = sums.get(node)
                if operands is None:  # `_operands`, without the call
                    operands = products.get(node)
                    if operands is None:
                        operands = nodes[node][1:]
                waiting = [edge >> 1 for edge in operands if not begun[edge >> 1]]
                if waiting:
                    stack.append(~node)
                    waiting.reverse()
                    stack += waiting
                else:
                    order.append(node)
        return order

    def _close_sum(self, terms: Sequence[int], builder: Builder, edges: dict[int, int]) -> int:
        total = ZERO
        for term in sorted(terms):
            total = builder.sum(total, edges[term >> 1] ^ (term & 1))
        return total

    def _close_product(self, factors: Sequence[int], builder: Builder, edges: dict[int, int]) -> int:
        """Multiply by all constants at once and last, because the product of the other factors may exist."""
        constants = builder.constants
        constant = ONE
        product = ONE
        for factor in sorted(factors):
            edge = edges[factor >> 1]
            if edge >> 1 not in constants:
                product = builder.product(product, edge)
            else:
                constant = builder.product(constant, edge)
        return builder.product(constant, product)


def _uncancelled(terms: list[int]) -> list[int]:
    """The terms without pairs x, -x."""
    left: list[int] = []
    for term in terms:
        if term ^ 1 in left:
            left.remove(term ^ 1)
        else:
            left.append(term)
    return left
