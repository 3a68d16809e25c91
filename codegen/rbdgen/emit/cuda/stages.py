"""The form `stages`: a long straight line as several functions, which a kernel calls one after the other.

Compilers of CUDA take minutes for a straight line of several ten thousand operations. They compile functions
one by one, so stages take a time in proportion to the number of operations. Values that a later stage reads
wait in the thread's local memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

from rbdgen.emit.c.parts import workspace_slots
from rbdgen.emit.c.printer import Element, Style, check_arguments
from rbdgen.emit.cuda.printer import KernelPrinter, Stage, Text, in_tiles, print_between, print_first
from rbdgen.emit.cuda.tiles import tiling_of
from rbdgen.graph.node import Graph
from rbdgen.graph.passes.split import split

WAITING: Final = "waiting"
"""The array of a thread's values that wait from stage to stage."""

LONGEST: Final = 5_000
"""The largest number of operations of a stage."""


def print_stages(graph: Graph, style: Style, name: str, symbol: str) -> Text:
    """A graph as stages. `name` is the robot's, `symbol` the C name of the function. Errors are those of
    `print_statements`."""
    check_arguments(graph)
    needed = graph.needed()
    cuts = split(graph, LONGEST)
    pieces = [
        [node for node in range(begin, end) if needed[node] and graph.nodes[node].args]
        for begin, end in zip(cuts, cuts[1:], strict=False)
    ]
    size, slots = workspace_slots(graph, pieces, ())
    waiting = {node: Element(WAITING, slot) for node, slot in slots.items()}
    tiling = tiling_of(graph, list(chain(*pieces)))
    stores = in_tiles(graph, chain(*tiling.begins.values()))
    for node, element in waiting.items():
        stores.setdefault(node, []).append(element)
    stages: list[Stage] = []
    read = set[str]()
    calls = []
    for nodes in pieces:
        own = set(nodes)
        foreign = {node: element for node, element in waiting.items() if node not in own}
        printer = KernelPrinter(graph, style, name, nodes, stores, foreign)
        if not stages:
            print_first(printer, tiling)
        print_between(printer, tiling, nodes)
        stages.append(Stage(f"{symbol}_stage{len(stages) + 1}", tuple(printer.text)))
        read |= printer.read
        calls.append(stages[-1].name)
    return Text((), frozenset(read), tiling.rooms, stages=tuple(stages), waiting=size)
