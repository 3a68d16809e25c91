"""Signs: negations move to the outputs, and most of them vanish."""

from __future__ import annotations

from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import cheaper
from rbdgen.graph.node import Graph
from rbdgen.graph.replay import replayed


def sign(graph: Graph) -> Graph:
    """Build the graph again over signed edges (`graph/builder.py`), where a - b, b - a and their negations
    are one node. Then lower it with the signs that leave the fewest negations (`graph/signs.py`).
    """
    builder = Builder()
    edges = replayed(builder, graph)
    return cheaper(
        graph,
        builder.lower(
            [
                (output.name, output.shape, [edges[element] for element in output.elements])
                for output in graph.outputs
            ]
        ),
    )
