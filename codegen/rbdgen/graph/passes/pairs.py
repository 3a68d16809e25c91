"""Common pairs: two terms that several sums share, or two factors that several products share, become one
node.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Final, TypeAlias

from rbdgen.graph.node import Graph
from rbdgen.graph.passes.nary import Forest

MAX_NODES: Final = 50_000
"""Larger graphs are left unchanged, because the gain is small and the time is long."""

MAX_OPERANDS: Final = 40
"""Longer sums and products do not take part, because they have too many pairs."""

Pair: TypeAlias = tuple[int, int]


def pairs(graph: Graph) -> Graph:
    """Extract the pair that most sums contain, so that it is computed once, and repeat; then do so for
    products.

    A pair of terms is the same up to its sign: a - b serves in b - a + c. Each reader of a pair beyond the
    first saves one operation.
    """
    if len(graph.nodes) > MAX_NODES:
        return graph
    forest = Forest(graph)
    extract_pairs(forest)
    return forest.close()


def extract_pairs(forest: Forest) -> bool:
    """Extract common pairs from the sums and products of a forest. The result says whether there was one."""
    found = [
        _Extraction(operands, new).run()
        for operands, new in ((forest.sums, forest.new_sum), (forest.products, forest.new_product))
    ]
    return any(found)


class _Extraction:
    """Pair extraction among the sums or among the products of a forest."""

    def __init__(self, operands: dict[int, list[int]], new: Callable[[list[int]], int]) -> None:
        self._operands = operands
        self._new = new
        self._readers: dict[Pair, dict[int, None]] = {}  # in insertion order, so that results are repeatable
        for node in operands:
            for pair in self._pairs_of(node):
                self._readers.setdefault(pair, {})[node] = None

    def run(self) -> bool:
        """Extract all pairs. The result says whether there was one."""
        self._heap = [(-len(readers), pair) for pair, readers in self._readers.items() if len(readers) > 1]
        heapify(self._heap)
        found_any = bool(self._heap)
        while self._heap:
            count, pair = heappop(self._heap)
            found = len(self._readers[pair])
            if found == -count:
                self._extract(pair)
            elif found > 1:
                heappush(self._heap, (-found, pair))
        return found_any

    def _extract(self, pair: Pair) -> None:
        """Make the pair a node, unless one of its readers is exactly that pair, and let the others read
        it.
        """
        readers = self._readers.pop(pair)
        twin = next((node for node in readers if len(self._operands[node]) == 2), None)
        edge = self._new([*pair]) if twin is None else 2 * twin ^ (pair[0] not in self._operands[twin])
        self._readers[pair] = {edge >> 1: None}
        for node in readers:
            if node != twin:
                self._replace(node, pair, edge)

    def _replace(self, node: int, pair: Pair, edge: int) -> None:
        """Put the edge in place of the pair's two operands. Only pairs with one of the three edges change."""
        operands = self._operands[node]
        sign = 0 if _contains(operands, pair) else 1
        for gone in (pair[0] ^ sign, pair[1] ^ sign):
            operands.remove(gone)
            left = operands.count(gone)
            for other in operands if left == 0 else [gone] if left == 1 else []:
                self._readers[_turned(gone, other)].pop(node, None)
        edge ^= sign
        for other in operands:
            fresh = _turned(edge, other)
            readers = self._readers.setdefault(fresh, {})
            if node not in readers:
                readers[node] = None
                if len(readers) > 1:
                    heappush(self._heap, (-len(readers), fresh))
        operands.append(edge)

    def _pairs_of(self, node: int) -> dict[Pair, None]:
        """The pairs of operands."""
        operands = self._operands[node]
        if len(operands) > MAX_OPERANDS:
            return {}
        return {_turned(a, b): None for a, b in combinations(operands, 2)}


def _turned(a: int, b: int) -> Pair:
    """The pair of two operands, ordered by node, with signs chosen such that the first one is positive."""
    if a > b:
        a, b = b, a
    sign = a & 1
    return a ^ sign, b ^ sign


def _contains(operands: list[int], pair: Pair) -> bool:
    a, b = pair
    return operands.count(a) >= 2 if a == b else a in operands and b in operands
