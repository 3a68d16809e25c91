"""The form `stages`: a long straight line as several functions, which a kernel calls one after the other.

Compilers of CUDA take minutes for a straight line of several ten thousand operations. They compile functions
one by one, so stages take a time in proportion to the number of operations. Values that a later stage reads
wait in the thread's local memory.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import chain, pairwise
from typing import Final

from rbdgen.emit.c.printer import Element, Style, check_arguments
from rbdgen.emit.cuda.printer import KernelPrinter, Stage, Text
from rbdgen.emit.cuda.tiles import Tile, tiles_of
from rbdgen.graph.node import Graph
from rbdgen.graph.partition import places
from rbdgen.graph.passes.split import split

WAITING: Final = "waiting"
"""The array of a thread's values that wait from stage to stage."""

LONGEST: Final = 2_500
"""The largest number of operations of a stage. With NVRTC 13.5 for sm_90, the derivatives of a quadruped's
forward dynamics in float spill 832 bytes in such stages, which take 6 s of processor time to compile. In one
piece they spill 13 580 bytes and take 14 s."""


def print_stages(graph: Graph, style: Style, name: str, symbol: str) -> Text:
    """A graph as stages. `name` is the robot's, `symbol` the C name of the function. Errors are those of
    `print_statements`."""
    check_arguments(graph)
    needed = graph.needed()
    cuts = split(graph, LONGEST)
    pieces = [
        [node for node in range(begin, end) if needed[node] and graph.nodes[node].args]
        for begin, end in pairwise(cuts)
    ]
    stage_of = {node: number for number, nodes in enumerate(pieces) for node in nodes}
    plain, leaves = _leaving(graph, stage_of)
    slots = _slots(graph, stage_of, leaves)
    waiting = {node: Element(WAITING, slot) for node, slot in slots.items()}
    stores = {node: [element] for node, element in waiting.items()}
    results = [element for output in graph.outputs for element in output.elements]
    stages: list[Stage] = []
    read = set[str]()
    for number, nodes in enumerate(pieces):
        foreign = {node: element for node, element in waiting.items() if stage_of[node] != number}
        printer = KernelPrinter(graph, style, name, nodes, stores, foreign, results)
        for tile in plain if not stages else ():
            printer.put(tile)
        for node in nodes:
            printer.print([node])
            for tile in leaves.get(node, ()):
                printer.put(tile)
        stages.append(Stage(f"{symbol}_stage{number + 1}", tuple(printer.text)))
        read |= printer.read
    size = max(slots.values(), default=-1) + 1
    return Text((), frozenset(read), 1, stages=tuple(stages), waiting=size)


def _leaving(graph: Graph, works: Container[int]) -> tuple[list[Tile], dict[int, list[Tile]]]:
    """The tiles for which nothing is computed, and the others by the last node that is computed for them.

    Results wait for each other as other values do, so that shared memory holds one tile however many there
    are.
    """
    plain: list[Tile] = []
    leaves: dict[int, list[Tile]] = {}
    for tile in tiles_of(graph):
        if computed := [node for node in tile.elements if node in works]:
            leaves.setdefault(max(computed), []).append(tile)
        else:
            plain.append(tile)
    return plain, leaves


def _slots(graph: Graph, stage_of: Mapping[int, int], leaves: Mapping[int, Sequence[Tile]]) -> dict[int, int]:
    """The place of every value that a later stage reads or stores."""
    last: dict[int, int] = {}
    for node, stage in stage_of.items():
        stored = (element for tile in leaves.get(node, ()) for element in tile.elements)
        for argument in chain(graph.nodes[node].args, stored):
            if argument in stage_of:
                last[argument] = stage
    return places((stage_of[node], at, node) for node, at in last.items() if at > stage_of[node])
