"""Products and sums of a graph as fused operations, which round once.

The graph decides which products are fused, so that the bits of a kernel depend neither on a compiler nor on
the order of its statements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rbdgen.graph.node import Graph, Node, Output

FMA: Final = "fma"
"""The operation x y + z with one rounding, which only graphs of kernels have."""

_MOST_READERS: Final = 3
"""The largest number of sums that a fused product is computed in again."""


def fused(graph: Graph) -> Graph:
    """The graph with `fma` in place of sums that read a product which nothing but such sums reads.

    A sum takes one product. Products with few readers are fused first, because they save most.
    """
    taken, needed = _taken(graph), graph.needed()
    gone = set(taken.values())
    nodes: list[Node] = []
    index_of: list[int] = []

    def put(node: Node) -> int:
        nodes.append(node)
        return len(nodes) - 1

    for index, node in enumerate(graph.nodes):
        if index in gone or not needed[index]:
            index_of.append(-1)
        elif index in taken:
            index_of.append(put(_fma(graph, index, taken[index], index_of, put)))
        else:
            index_of.append(put(Node(node.op, tuple(index_of[a] for a in node.args), node.value)))
    outputs = tuple(
        Output(output.name, output.shape, tuple(index_of[k] for k in output.elements))
        for output in graph.outputs
    )
    labels = {index_of[k]: label for k, label in graph.labels.items() if index_of[k] >= 0}
    return Graph(graph.inputs, tuple(nodes), outputs, labels)


def _fma(graph: Graph, index: int, product: int, index_of: Sequence[int], put: Callable[[Node], int]) -> Node:
    """The sum or difference `index` with its product as one operation. Negations are exact."""
    op, (a, b), _ = graph.nodes[index]
    x, y = (index_of[k] for k in (graph.nodes[product].args * 2)[:2])
    other = index_of[b if a == product else a]
    if op == "sub" and a == product:
        other = put(Node("neg", (other,)))
    elif op == "sub":
        x = put(Node("neg", (x,)))
    return Node(FMA, (x, y, other))


def _taken(graph: Graph) -> dict[int, int]:
    """The product that each fused sum takes."""
    results = {element for output in graph.outputs for element in output.elements}
    readers: list[list[int]] = [[] for _ in graph.nodes]
    for index in graph.live():
        for argument in graph.nodes[index].args:
            readers[argument].append(index)
    products = [
        index
        for index, node in enumerate(graph.nodes)
        if node.op in ("mul", "sq") and index not in results and _only_sums(graph, readers[index])
    ]
    taken: dict[int, int] = {}
    done = set[int]()
    for most in range(1, _MOST_READERS + 1):
        for index in products:
            them = readers[index]
            if index not in done and len(them) <= most and not any(reader in taken for reader in them):
                taken.update(dict.fromkeys(them, index))
                done.add(index)
    return taken


def _only_sums(graph: Graph, readers: Sequence[int]) -> bool:
    """Whether these are different sums, at least one."""
    sums = all(graph.nodes[reader].op in ("add", "sub") for reader in readers)
    return bool(readers) and sums and len(set(readers)) == len(readers)
