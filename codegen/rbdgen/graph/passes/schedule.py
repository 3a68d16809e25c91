"""Scheduling: an order of evaluation with short live ranges and overlapping chains of operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias

from rbdgen.graph.machine import SINGLE, estimated_cycles
from rbdgen.graph.node import Graph, Node
from rbdgen.graph.passes.forwards import forwards, operands_and_readers
from rbdgen.graph.passes.rewrite import relabelled

Preference: TypeAlias = Callable[[int, int], int]
"""The rank of a node, from its index and the step at which its first reader was placed. Steps are counted
from the end of the program. The node of the lowest rank is placed next.
"""


def schedule(graph: Graph) -> Graph:
    """The graph in the fastest order by `estimated_cycles`: the given one or one of two list schedules.

    Compilers keep much of the order of a long basic block, and with it the spills and the distance between
    dependent operations. A list schedule fills the program from its end. Among the nodes whose readers are
    all placed, it takes the one that leaves the fewest values alive (the idea of Sethi and Ullman, on a
    graph). Ties are broken in one of two ways: depth first, along the value that was wanted last, which
    overlaps the branches of a tree; or by the given order, which is kept where this costs nothing.
    """
    deep = reordered(graph, _list_schedule(graph, lambda _, wanted: -wanted))
    return min((graph, deep, close_to_order(graph)), key=estimated_cycles)


REGISTERS: Final = (16, 28)
"""The live values from which on `forwards` saves registers: those of a processor with 16, and of one with 32
less a few for operands.
"""

CLEARLY: Final = 0.95
"""Another order must be faster by this factor: in measurements, smaller differences were often wrong."""


def scheduled_for_latency(graph: Graph) -> Graph:
    """The graph in an order from the front if that is clearly faster by `estimated_cycles`.

    Orders from the front (see `forwards`) overlap more operations of a single call, but keep more values
    alive than those of `schedule`.
    """
    best, least = graph, CLEARLY * estimated_cycles(graph, SINGLE)
    for registers in REGISTERS:
        early = reordered(graph, forwards(graph, registers, SINGLE.latency))
        cycles = estimated_cycles(early, SINGLE)
        if cycles < least:
            best, least = early, cycles
    return best


def close_to_order(graph: Graph) -> Graph:
    """The list schedule that keeps the given order where this costs no live values."""
    return reordered(graph, _list_schedule(graph, lambda node, _: node))


def _list_schedule(graph: Graph, prefer: Preference) -> list[int]:
    """The indices of the nodes in the new order. Constants and inputs come first, as they were."""
    operands, readers = operands_and_readers(graph)
    waiting = [len(them) for them in readers]  # readers not yet placed
    wanted = [0] * len(graph.nodes)  # the step at which the first reader was placed, 0 if none is
    placed = bytearray(len(graph.nodes))

    def priority(node: int) -> tuple[int, int, int]:
        new = sum(not wanted[operand] for operand in operands[node])
        return new - bool(wanted[node]), prefer(node, wanted[node]), -node

    heap = [
        (priority(index), index) for index, node in enumerate(graph.nodes) if node.args and not readers[index]
    ]
    heapify(heap)
    backwards: list[int] = []
    while heap:
        found, index = heappop(heap)
        if placed[index]:
            continue
        if found != priority(index):
            heappush(heap, (priority(index), index))
            continue
        placed[index] = 1
        backwards.append(index)
        for operand in operands[index]:
            waiting[operand] -= 1
            if not wanted[operand]:
                wanted[operand] = len(backwards)
                for reader in readers[operand]:  # their priority has changed
                    if not placed[reader] and not waiting[reader]:
                        heappush(heap, (priority(reader), reader))
            if not waiting[operand]:
                heappush(heap, (priority(operand), operand))
    leaves = [index for index, node in enumerate(graph.nodes) if not node.args]
    return leaves + backwards[::-1]


def reordered(graph: Graph, order: Sequence[int]) -> Graph:
    """The graph with its nodes in this order, in which arguments must come before their readers."""
    place = [0] * len(graph.nodes)
    nodes: list[Node] = []
    for index in order:
        op, args, value = graph.nodes[index]
        place[index] = len(nodes)
        nodes.append(Node(op, tuple([place[argument] for argument in args]), value))
    return relabelled(graph, nodes, place)
