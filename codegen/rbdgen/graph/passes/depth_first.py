"""Depth-first order: each output element comes right after the operations that it is the first to need."""

from __future__ import annotations

from collections.abc import Iterator

from rbdgen.graph.node import Graph
from rbdgen.graph.passes.schedule import reordered


def depth_first(graph: Graph, *, backwards: bool = False) -> Graph:
    """Put the nodes into the order in which outputs need them. Nodes that no output needs come last.

    All outputs are processed in step, from their first elements to their last ones, so that neighbours are
    computed close to each other and no output waits long for the others. With `backwards` they are processed
    from their last elements to their first, because recursions from the tips of a tree to its base finish the
    rows of matrices in that order.
    """
    seen = bytearray(len(graph.nodes))
    order = [index for index, node in enumerate(graph.nodes) if not node.args]
    for output in _in_step(graph, backwards=backwards):
        order.extend(_needed(graph, output, seen))
    unread = (index for index, node in enumerate(graph.nodes) if node.args and not seen[index])
    return reordered(graph, [*order, *unread])


def _in_step(graph: Graph, *, backwards: bool) -> list[int]:
    """The elements of all outputs, ordered by their relative positions in the outputs."""
    elements = [
        (k / len(output.elements), element)
        for output in graph.outputs
        for k, element in enumerate(output.elements)
    ]
    elements.sort(key=lambda pair: pair[0], reverse=backwards)
    return [element for _, element in elements]


def _needed(graph: Graph, root: int, seen: bytearray) -> Iterator[int]:
    """The operations that `root` needs and that were not seen before, followed by `root`."""
    waiting = [(root, 0)]
    while waiting:
        index, done = waiting.pop()
        args = graph.nodes[index].args
        if not args or (done == 0 and seen[index]):
            continue
        seen[index] = 1
        if done == len(args):
            yield index
            continue
        waiting.append((index, done + 1))
        if not seen[args[done]]:
            waiting.append((args[done], 0))
