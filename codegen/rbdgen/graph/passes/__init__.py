"""Passes: pure functions from a graph to a graph of equal value that takes no more work.

`rbdgen.graph.programs.passes` lists which passes run, and when.
"""

from __future__ import annotations

from typing import Final

from rbdgen.graph.cost import cheaper
from rbdgen.graph.node import Graph
from rbdgen.graph.passes.dead import dead
from rbdgen.graph.passes.depth_first import depth_first
from rbdgen.graph.passes.factor import factor, take_factors
from rbdgen.graph.passes.fold import fold, without_zeros
from rbdgen.graph.passes.nary import Forest
from rbdgen.graph.passes.once import once
from rbdgen.graph.passes.pairs import MAX_NODES, extract_pairs, pairs
from rbdgen.graph.passes.released import released
from rbdgen.graph.passes.schedule import schedule, scheduled_for_latency
from rbdgen.graph.passes.sign import sign
from rbdgen.graph.passes.split import split

__all__ = [
    "cheapest",
    "dead",
    "depth_first",
    "factor",
    "fold",
    "once",
    "pairs",
    "released",
    "schedule",
    "scheduled_for_latency",
    "sign",
    "split",
    "without_zeros",
]

MAX_ROUNDS: Final = 4
"""The greatest number of rounds of factoring and pair extraction. Each round makes another one possible, but
later rounds find little.
"""


def cheapest(graph: Graph) -> Graph:
    """The graph with the least work that signs, factoring and pair extraction reach, in either order.

    Graphs come from a `Builder`, including those from CasADi and SymPy. It has already evaluated constants,
    merged equal quantities and chosen the cheaper of equivalent operations, so no pass repeats this.
    """
    start = sign(graph)
    paired = pairs(start)
    best = _settled(start, paired)
    return best if paired is start else cheaper(best, _settled(paired))


def _settled(graph: Graph, paired: Graph | None = None) -> Graph:
    """The graph after rounds of factoring and pair extraction. `paired` is `pairs(graph)`, if it is known."""
    for _ in range(MAX_ROUNDS):
        after = _after_a_round(graph, paired)
        if after is graph:
            break
        graph, paired = after, None
    return graph


def _after_a_round(graph: Graph, paired: Graph | None) -> Graph:
    """Compute `pairs(factor(graph))`. If factoring changes nothing, as in the last round, pairs are sought in
    the same forest instead of a new one.
    """
    forest = Forest(graph)
    changed = take_factors(forest)
    factored = forest.close()
    if factored is not graph:
        return pairs(factored)
    if paired is not None:
        return paired
    if changed:
        return pairs(graph)
    if len(graph.nodes) > MAX_NODES or not extract_pairs(forest):
        return graph
    return forest.close()
