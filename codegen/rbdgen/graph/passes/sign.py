"""Signs: negations move to the outputs, and most of them vanish."""

from __future__ import annotations

from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import cheaper
from rbdgen.graph.node import Graph
from rbdgen.graph.replay import replayed


def sign(graph: Graph) -> Graph:
    """Build the graph again over signed edges (`graph/edge_builder.py`), where a - b and b - a are one node.
    Then lower it with signs that leave few negations (`graph/signs.py`).
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
