"""The form `warps`: the warps of a block share its 32 states, and each computes a line of a partition.

A value that another warp reads waits in shared memory, with one number for each state. All warps wait for
each other between supersteps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

from rbdgen.emit.c.printer import Element, Style, check_arguments
from rbdgen.emit.cuda.printer import KernelPrinter, Text, in_tiles
from rbdgen.emit.cuda.tiles import LANES, SteppedTiling, tiling_in_steps
from rbdgen.graph.node import Graph
from rbdgen.graph.partition import Partition, partitioned, work_of

EXCHANGE: Final = "exchange"
"""The variable that points to the thread's numbers among those that warps hand over to each other."""

_STEPS: Final = 48
"""The number of supersteps that is aimed at. With more of them lines wait more often for each other; with
fewer, warps have less to do at the same time, because a value that another line computes is read in the next
superstep at the earliest."""

_LEAST: Final = 10
"""The least work of a warp in a superstep, in additions: a barrier takes about as long as some of them."""


def print_warps(graph: Graph, style: Style, name: str, warps: int) -> Text:
    """A graph as one straight line for each warp. `name` is the robot's. Errors are those of
    `print_statements`."""
    check_arguments(graph)
    partition = partitioned(graph, warps, work_of(graph) // (warps * _STEPS) + _LEAST)
    tiling = tiling_in_steps(partition)
    stores = in_tiles(graph, tiling.places.items())
    exchanged = {node: Element(EXCHANGE, slot * LANES) for node, slot in partition.slots.items()}
    for node, element in exchanged.items():
        stores.setdefault(node, []).append(element)
    count = max((at + 1 for at, _ in tiling.leaves), default=0)
    lines, read = [], set[str]()
    for line in range(warps):
        steps = _steps_of(partition, line)
        steps += [[]] * (count - len(steps))
        foreign = {node: at for node, at in exchanged.items() if partition.line_of[node] != line}
        printer = KernelPrinter(graph, style, name, list(chain(*steps)), stores, foreign)
        _print_steps(printer, steps, tiling, line)
        lines.append(tuple(printer.text))
        read |= printer.read
    return Text(tuple(lines), frozenset(read), tiling.rooms, max(partition.slots.values(), default=-1) + 1)


def _print_steps(
    printer: KernelPrinter, steps: Sequence[Sequence[int]], tiling: SteppedTiling, line: int
) -> None:
    """Prints the supersteps of a line with barriers between them."""
    for at, nodes in enumerate(steps):
        if at:
            printer.wait()
        printer.print(nodes)
        for tile in tiling.leaves.get((at, line), ()):
            if tile in tiling.places:
                printer.put_plain(tile, tiling.places[tile])
                printer.leave(tile, tiling.places[tile])
            else:
                printer.clear(tile)


def _steps_of(partition: Partition, line: int) -> list[list[int]]:
    """The nodes of a line in every superstep, with other negations where they are first read."""
    steps: list[list[int]] = []
    done = set[int]()

    def put(node: int) -> None:
        for argument in partition.graph.nodes[node].args:
            if argument not in done and argument not in partition.line_of:
                put(argument)
        done.add(node)
        if partition.graph.nodes[node].args:
            steps[-1].append(node)

    for step in partition.steps:
        steps.append([])
        for node in step[line]:
            put(node)
    return steps
