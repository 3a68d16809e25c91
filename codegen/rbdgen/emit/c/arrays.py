"""The arrays of a program in C: elements that are read early, memory that scratch arrays share, and zeros.

Straight-line code stores every result at once, so it first reads the elements that it still needs afterwards.
Scratch arrays that are not in use at the same time share memory: the values that a call writes and reads
again should fit in the first-level cache, together with its results. Zeros that are neighbours in an output
are written at once, as gcc otherwise writes every zero separately. For a humanoid's mass matrix, which has
654 zeros, this halves the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from rbdgen.graph.cost import readers_in_order
from rbdgen.graph.node import Graph, Node, Output
from rbdgen.graph.programs.program import Loop, Program

Address: TypeAlias = Callable[[str, int], int]
"""The place of an element in its array, from the array's name and the element's position."""


def read_early(loop: Loop) -> set[tuple[str, int]]:
    """The elements that must be read before the first statement because a run of the loop also writes to
    them.

    A statement stores its result at once, so an element that a later statement still reads would be lost. An
    element is safe if the statement that overwrites it is the only one that reads it, as in x[3] = x[3] + y.
    """
    stores: dict[tuple[str, int], int] = {
        (output.name, position): node
        for output in loop.kernel.outputs
        for position, node in enumerate(output.elements)
    }
    readers = readers_in_order(loop.kernel)
    reads = {
        loop.kernel.input_element(int(node.value)): set(readers[index])
        for index, node in enumerate(loop.kernel.nodes)
        if node.op == "input" and readers[index]
    }
    early = set()
    for run in range(loop.count):
        written = {
            (loop.writes[name].array, loop.writes[name].address(run, k)): node
            for (name, k), node in stores.items()
        }
        for (name, k), nodes in reads.items():
            access = loop.reads[name]
            at = (access.array, access.address(run, k))
            if at in written and nodes != {written[at]}:
                early.add((name, k))
    return early


def early_name(array: str, position: int) -> str:
    """The name of the local variable that holds an element which is read early."""
    return f"{array}_{position}_before"


@dataclass(frozen=True)
class Memory:
    """The size of the memory in numbers, and the place where each array begins."""

    size: int
    first: Mapping[str, int]


def shared_memory(program: Program, boundary: int) -> Memory:
    """Places the scratch arrays, the largest first, each at the lowest place that is free during the loops
    that use it.

    Every array begins at a multiple of `boundary`.
    """
    used: dict[str, range] = {}
    for number, loop in enumerate(program.loops):
        for access in (*loop.reads.values(), *loop.writes.values()):
            if access.array in program.scratch:
                since = used[access.array].start if access.array in used else number
                used[access.array] = range(since, number + 1)
    first: dict[str, int] = {}
    for name in sorted(used, key=lambda array: -program.scratch[array]):
        others = [other for other in first if _meet(used[other], used[name])]
        at = 0
        for other in sorted(others, key=first.__getitem__):
            if first[other] < at + program.scratch[name]:
                end = first[other] + program.scratch[other]
                at = max(at, -(-end // boundary) * boundary)
        first[name] = at
    return Memory(max((at + program.scratch[name] for name, at in first.items()), default=0), first)


def _meet(a: range, b: range) -> bool:
    return a.start < b.stop and b.start < a.stop


class Zeros(NamedTuple):
    """Elements of an output that are always zero and are neighbours in memory."""

    array: str
    positions: tuple[int, ...]


def is_zero(node: Node) -> bool:
    """Whether a node is the constant +0.0, all bits of which are zero."""
    return node.op == "const" and str(node.value) == "0.0"


def zeros_of(graph: Graph, address: Address, fewest: int) -> list[Zeros]:
    """All runs of at least `fewest` zeros, in order; ordinary statements write shorter ones."""
    return [
        zeros
        for output in graph.outputs
        for zeros in _runs(graph, output, address)
        if len(zeros.positions) >= fewest
    ]


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
    return [Zeros(output.name, tuple(run)) for run in runs]
