"""The dependence of elements of outputs on elements of inputs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from operator import or_

from rbdgen.graph.node import Graph, Input
from rbdgen.graph.programs.program import Loop, Program

Dependence = dict[str, dict[str, tuple[int, ...]]]
"""Pairs of an element of an output and an element of an input on which it depends, by output and input.

A pair is the number `element * size + k`, where k is the element of the input and `size` the size of the
input.
"""


def dependence(graph: Graph, inputs: Collection[str]) -> Dependence:
    """The dependence of all outputs on these inputs.

    An element of an output depends on an element of an input if a path of operations leads from one to the
    other.
    """
    spans, marks = _marked(graph.inputs, inputs)
    found = _through(graph, [mark for array in graph.inputs for mark in marks[array.name]])
    return {
        output.name: {
            name: _pairs([found[k] for k in output.elements], *span) for name, span in spans.items()
        }
        for output in graph.outputs
    }


def dependence_of_program(program: Program, inputs: Collection[str]) -> Dependence:
    """Compute the dependence of the outputs of a program on these inputs, through all runs of its loops."""
    spans, marks = _marked(program.inputs, inputs)
    sizes = {name: len(table) for name, table in program.tables.items()} | dict(program.scratch)
    sizes |= {output.name: output.size for output in program.outputs}
    marks |= {name: [0] * size for name, size in sizes.items()}
    for loop in program.loops:
        for run in range(loop.count):
            _mark_run(loop, run, marks)
    return {
        output.name: {name: _pairs(marks[output.name], *span) for name, span in spans.items()}
        for output in program.outputs
    }


def _marked(
    arrays: Sequence[Input], inputs: Collection[str]
) -> tuple[dict[str, tuple[int, int]], dict[str, list[int]]]:
    """The bits of each of these inputs, as the first one and their number, and the marks of all elements."""
    spans: dict[str, tuple[int, int]] = {}
    marks: dict[str, list[int]] = {}
    first = 0
    for array in arrays:
        marked = array.name in inputs
        marks[array.name] = [1 << (first + k) if marked else 0 for k in range(array.size)]
        if marked:
            spans[array.name] = first, array.size
            first += array.size
    return spans, marks


def _through(graph: Graph, taken: Sequence[int]) -> list[int]:
    """The marks of all nodes, from those of the elements of all inputs."""
    found: list[int] = []
    for op, args, value in graph.nodes:
        found.append(taken[int(value)] if op == "input" else reduce(or_, (found[k] for k in args), 0))
    return found


def _mark_run(loop: Loop, run: int, marks: dict[str, list[int]]) -> None:
    """Mark what one run of a loop writes with the marks of all that it depends on."""
    taken = [
        marks[loop.reads[array.name].array][address]
        for array in loop.kernel.inputs
        for address in loop.reads[array.name].addresses(run)
    ]
    found = _through(loop.kernel, taken)
    for output in loop.kernel.outputs:
        access = loop.writes[output.name]
        for address, element in zip(access.addresses(run), output.elements, strict=True):
            marks[access.array][address] = found[element]


def _pairs(marks: list[int], start: int, size: int) -> tuple[int, ...]:
    """The pairs of one input, whose bits in the marks begin at `start`."""
    return tuple(
        element * size + k
        for element, mark in enumerate(marks)
        for k in range(size)
        if mark >> (start + k) & 1
    )
