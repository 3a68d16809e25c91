"""Minimum cuts of directed graphs, by shortest augmenting paths (Ford and Fulkerson 1956; Edmonds and Karp
1972).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Final, TypeVar

Vertex = TypeVar("Vertex", bound=Hashable)

UNCUT: Final = 1 << 30
"""The capacity of an arc that no cut may contain."""


def minimum_cut(arcs: Iterable[tuple[Vertex, Vertex, int]], source: Vertex, sink: Vertex) -> set[Vertex]:
    """The vertices on the side of the source of a minimum cut.

    An arc is a tuple of its tail, its head and its capacity, which is a natural number. Of all minimum cuts
    it is the one with the fewest vertices on this side.
    """
    residual: dict[Vertex, dict[Vertex, int]] = {source: {}, sink: {}}
    for tail, head, capacity in arcs:
        forward, backward = residual.setdefault(tail, {}), residual.setdefault(head, {})
        forward[head] = forward.get(head, 0) + capacity
        backward.setdefault(tail, 0)
    while True:
        reached = _reached(residual, source, sink)
        if sink not in reached:
            return set(reached)
        path = [sink]
        while path[-1] != source:
            path.append(reached[path[-1]])
        steps = list(pairwise(reversed(path)))
        flow = min(residual[tail][head] for tail, head in steps)
        for tail, head in steps:
            residual[tail][head] -= flow
            residual[head][tail] += flow


def _reached(residual: dict[Vertex, dict[Vertex, int]], source: Vertex, sink: Vertex) -> dict[Vertex, Vertex]:
    """The vertices that flow can still reach, each with the vertex before it, by the shortest path. The
    search ends at the sink."""
    before = {source: source}
    left = deque([source])
    while left and sink not in before:
        tail = left.popleft()
        for head, capacity in residual[tail].items():
            if capacity and head not in before:
                before[head] = tail
                left.append(head)
    return before
