"""Zeros that are neighbours in an output and are written at once.

Without this, gcc writes every zero by an instruction of its own, which takes half the time of a humanoid's
mass matrix with its 654 zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from rbdgen.graph.node import Graph, Node, Output

Address: TypeAlias = Callable[[str, int], int]
"""The place of an element in its array, from the array's name and the element's position."""

_FEWEST: Final = 3
"""Fewer zeros than this are written by ordinary statements."""


class Zeros(NamedTuple):
    """Elements of an output that are always zero and lie one behind the other."""

    array: str
    positions: tuple[int, ...]


def is_zero(node: Node) -> bool:
    """Whether a node is the constant +0.0, all bits of which are zero."""
    return node.op == "const" and str(node.value) == "0.0"


def zeros_of(graph: Graph, address: Address) -> list[Zeros]:
    """All runs of zeros that are long enough, in order."""
    return [zeros for output in graph.outputs for zeros in _runs(graph, output, address)]


def _runs(graph: Graph, output: Output, address: Address) -> list[Zeros]:
    nodes = [graph.nodes[element] for element in output.elements]
    addresses = {
        position: address(output.name, position) for position, node in enumerate(nodes) if is_zero(node)
    }
    runs: list[list[int]] = []
    for position in sorted(addresses, key=addresses.__getitem__):
        if runs and addresses[position] == addresses[runs[-1][-1]] + 1:
            runs[-1].append(position)
        else:
            runs.append([position])
    return [Zeros(output.name, tuple(run)) for run in runs if len(run) >= _FEWEST]
