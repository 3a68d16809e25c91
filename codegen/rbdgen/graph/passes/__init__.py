"""Passes: pure functions from a graph to a graph of equal value and no more work.

`rbdgen.graph.programs.passes` says which run, and when.
"""

from __future__ import annotations

from typing import Final

from rbdgen.graph.cost import cheaper
from rbdgen.graph.node import Graph
from rbdgen.graph.passes.dead import dead
from rbdgen.graph.passes.depth_first import depth_first
from rbdgen.graph.passes.factor import factor
from rbdgen.graph.passes.fold import fold, without_zeros
from rbdgen.graph.passes.once import once
from rbdgen.graph.passes.pairs import pairs
from rbdgen.graph.passes.schedule import schedule
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
    "schedule",
    "sign",
    "split",
    "without_zeros",
]

MAX_ROUNDS: Final = 4
"""Rounds of factoring and pair extraction: an earlier one makes a later one possible, which finds little."""


def cheapest(graph: Graph) -> Graph:
    """The least work that signs, factoring and pair extraction reach, in either order, to a fixed point.

    Graphs come from a `Builder`, those of CasADi and SymPy too: it computes constants, finds equal
    quantities and takes the cheaper operation of two, so no pass does.
    """
    start = sign(graph)
    best = _settled(start)
    paired = pairs(start)
    return best if paired is start else cheaper(best, _settled(paired))


def _settled(graph: Graph) -> Graph:
    for _ in range(MAX_ROUNDS):
        after = pairs(factor(graph))
        if after is graph:
            break
        graph = after
    return graph
