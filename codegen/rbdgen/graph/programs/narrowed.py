"""Programs without the elements of an input array that nothing reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rbdgen.access import Access
from rbdgen.graph.node import Graph, Input
from rbdgen.graph.programs.program import Loop, Program, straight_line


def elements_read(program: Program, array: str) -> set[int]:
    """The elements of an input array that a program reads. Every run of a loop reads the same ones."""
    if (graph := program.straight) is None:
        reads = [access for loop in program.loops for access in loop.reads.values()]
        return {at for access in reads if access.array == array for at in access.addresses(0)}
    first, size = _place(graph, array)
    read = {int(node.value) - first for node in graph.nodes if node.op == "input"}
    return {k for k in read if 0 <= k < size}


def narrowed(program: Program, array: str, kept: Sequence[int]) -> Program:
    """The program whose array has only these elements, in this order. It must read no others."""
    if (graph := program.straight) is not None:
        return straight_line(_narrowed_graph(graph, array, kept))
    places = {old: new for new, old in enumerate(kept)}
    inputs = tuple(replace(x, size=len(kept)) if x.name == array else x for x in program.inputs)
    return replace(
        program, inputs=inputs, loops=tuple(_narrowed_loop(loop, array, places) for loop in program.loops)
    )


def _narrowed_loop(loop: Loop, array: str, places: Mapping[int, int]) -> Loop:
    """Narrow one straight line among several. It numbers its inputs by itself, so only addresses change."""

    def moved(access: Access) -> Access:
        assert access.shared
        return Access(array, tuple(places[at] for at in access.addresses(0)))

    reads = {name: moved(access) if access.array == array else access for name, access in loop.reads.items()}
    return replace(loop, reads=reads)


def _narrowed_graph(graph: Graph, array: str, kept: Sequence[int]) -> Graph:
    first, size = _place(graph, array)
    moved = {first + old: first + new for new, old in enumerate(kept)}
    moved |= {k: k + len(kept) - size for k in range(first + size, sum(x.size for x in graph.inputs))}
    nodes = tuple(
        node._replace(value=float(moved.get(int(node.value), int(node.value))))
        if node.op == "input"
        else node
        for node in graph.nodes
    )
    inputs = tuple(Input(x.name, len(kept)) if x.name == array else x for x in graph.inputs)
    return replace(graph, inputs=inputs, nodes=nodes)


def _place(graph: Graph, array: str) -> tuple[int, int]:
    """The first flat position of the array, and its size."""
    first = 0
    for entry in graph.inputs:
        if entry.name == array:
            return first, entry.size
        first += entry.size
    raise AssertionError(array)
