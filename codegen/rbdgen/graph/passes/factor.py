"""Factoring: a b + a c becomes a (b + c)."""

from __future__ import annotations

from rbdgen.graph.node import Graph
from rbdgen.graph.passes.nary import Forest


def factor(graph: Graph) -> Graph:
    """Take common factors out of the terms of each sum, the most frequent factor first.

    Only products without another use take part, because the others have to be computed anyway. Each step
    saves one multiplication for each term beyond the first.
    """
    forest = Forest(graph)
    take_factors(forest)
    return forest.close()


def take_factors(forest: Forest) -> bool:
    """Take common factors out of the sums of a forest. The result says whether there was one."""
    work = list(forest.sums)
    sums = len(work)
    for node in work:  # grows by the inner sums
        while (common := _most_common_factor(forest, forest.sums[node])) is not None:
            work.append(_take_out(forest, node, common))
    return len(work) > sums


def _most_common_factor(forest: Forest, terms: list[int]) -> int | None:
    """The factor that most terms have (the first one of several); None if no two terms have one in common."""
    counts: dict[int, int] = {}
    for term in terms:
        for edge in _factors(forest, term):
            counts[edge] = counts.get(edge, 0) + 1
    best = max(counts, key=counts.__getitem__, default=None)
    return best if best is not None and counts[best] > 1 else None


def _factors(forest: Forest, term: int) -> dict[int, None]:
    """The distinct factors of a term, in order. There are none if it is not a product or has another use."""
    node = term >> 1
    if node in forest.products and forest.uses[node] == 1:
        return dict.fromkeys(forest.products[node])
    return {}


def _take_out(forest: Forest, node: int, common: int) -> int:
    """Replace the terms that have the factor by one product. The result is the node of the sum in it."""
    kept: list[int] = []
    inner: list[int] = []
    for term in forest.sums[node]:
        if common not in _factors(forest, term):
            kept.append(term)
            continue
        factors = forest.products[term >> 1]
        factors.remove(common)
        forest.uses[common >> 1] -= 1
        if len(factors) == 1:
            del forest.products[term >> 1]
            inner.append(factors[0] ^ (term & 1))
        else:
            inner.append(term)
    total = forest.new_sum(inner)
    product = forest.new_product([common, total])
    forest.uses |= {total >> 1: 1, product >> 1: 1}
    forest.uses[common >> 1] += 1
    forest.sums[node] = [*kept, product]
    return total >> 1
