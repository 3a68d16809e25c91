"""Programs of one straight line, without the elements of an input array that nothing reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rbdgen.graph.node import Graph, Input
from rbdgen.graph.programs.program import Program, straight_line


def elements_read(program: Program, array: str) -> set[int]:
    """The elements of an input array that a program of one straight line reads."""
    graph = program.straight
    assert graph is not None
    first, size = _place(graph, array)
    read = {int(node.value) - first for node in graph.nodes if node.op == "input"}
    return {k for k in read if 0 <= k < size}


def narrowed(program: Program, array: str, kept: Sequence[int]) -> Program:
    """The program whose array has only these elements, in this order. It must read no others."""
    graph = program.straight
    assert graph is not None
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
    return straight_line(replace(graph, inputs=inputs, nodes=nodes))


def _place(graph: Graph, array: str) -> tuple[int, int]:
    """The first flat position of the array, and its size."""
    first = 0
    for entry in graph.inputs:
        if entry.name == array:
            return first, entry.size
        first += entry.size
    raise AssertionError(array)
