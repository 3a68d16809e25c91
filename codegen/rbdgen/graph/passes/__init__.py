"""Passes: pure functions from a graph to a graph of equal value and no more work, run in a visible order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from rbdgen.graph.cost import cheaper
from rbdgen.graph.node import Graph
from rbdgen.graph.passes.cse import cse
from rbdgen.graph.passes.dead import dead
from rbdgen.graph.passes.depth_first import depth_first
from rbdgen.graph.passes.factor import factor
from rbdgen.graph.passes.fold import fold
from rbdgen.graph.passes.pairs import pairs
from rbdgen.graph.passes.schedule import schedule
from rbdgen.graph.passes.sign import sign
from rbdgen.graph.passes.split import split
from rbdgen.graph.passes.strength import strength
from rbdgen.graph.verify import verify

__all__ = [
    "DEFAULT",
    "SIMPLIFY",
    "Pass",
    "cheapest",
    "cse",
    "dead",
    "depth_first",
    "factor",
    "fold",
    "pairs",
    "run",
    "schedule",
    "sign",
    "split",
    "strength",
]

Pass: TypeAlias = Callable[[Graph], Graph]

MAX_ROUNDS: Final = 4
"""Rounds of factoring and pair extraction: a later one finds what an earlier one laid open, if little."""


def run(graph: Graph, passes: Sequence[Pass], check: bool = False) -> Graph:
    """Apply the passes in order.

    Args:
        check: verify the graph before the first pass and after each one.

    Raises:
        GraphError: with `check`, where a graph breaks the grammar.
    """
    if check:
        verify(graph)
    for step in passes:
        graph = step(graph)
        if check:
            verify(graph)
    return graph


def cheapest(graph: Graph) -> Graph:
    """The least work that signs, factoring and pair extraction reach, in either order, to a fixed point."""
    start = sign(graph)
    best = _settled(start)
    paired = pairs(start)
    return best if paired is start else cheaper(best, _settled(paired))


def _settled(graph: Graph) -> Graph:
    for _ in range(MAX_ROUNDS):
        after = run(graph, (factor, pairs))
        if after is graph:
            break
        graph = after
    return graph


SIMPLIFY: Final[tuple[Pass, ...]] = (
    fold,  # first: what is constant hides equal subexpressions and cheaper forms from the rest
    cse,  # before strength, which recognises x x and a shared divisor by node
    strength,  # before sign, which keeps the forms it finds
    dead,  # what the four above left unread would be counted, and factored
    sign,  # last: it rewrites differences and products that the others must not undo
)
"""The passes that always pay; a graph from a `Builder` passes through them unchanged."""

DEFAULT: Final[tuple[Pass, ...]] = (
    *SIMPLIFY,
    cheapest,  # fewer operations by other forms of sums and products
    schedule,  # last: every pass before changes the nodes that it puts in order
)
"""What a function goes through on its way to C."""
