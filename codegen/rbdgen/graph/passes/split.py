"""Splitting: the places at which a long function is cut into parts that compilers handle well."""

from __future__ import annotations

from rbdgen.errors import GraphError
from rbdgen.graph.cost import live_counts
from rbdgen.graph.node import Graph


def split(graph: Graph, limit: int) -> tuple[int, ...]:
    """Boundaries of parts of at most `limit` operations, placed where few values are alive.

    Compilation time and register allocation suffer in basic blocks of many thousand statements. Each part has
    at least half of `limit` operations, except the last one. Values that are alive at a cut must be passed
    from part to part.

    Returns:
        Ascending node indices (0, ..., len(graph.nodes)); part k is nodes[b[k]:b[k + 1]]. Constants and
        inputs do not count and can be read in every part.

    Raises:
        GraphError: if the limit is below 1.
    """
    if limit < 1:
        raise GraphError(f"split: a part cannot have at most {limit} operations; give a limit of 1 or more")
    live = live_counts(graph)
    operations = [index for index, node in enumerate(graph.nodes) if node.args]
    boundaries = [0]
    start = 0  # of the part, in `operations`
    while len(operations) - start > limit:
        shortest = start + (limit + 1) // 2
        last = min(range(start + limit, shortest - 1, -1), key=lambda k: live[operations[k - 1]])
        boundaries.append(operations[last - 1] + 1)
        start = last
    return (*boundaries, len(graph.nodes))
