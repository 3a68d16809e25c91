"""The dependence of elements of outputs on elements of inputs."""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce
from operator import or_

from rbdgen.graph.node import Graph

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
    marks: list[int] = []
    places: dict[int, int] = {}
    spans: dict[str, tuple[int, int]] = {}
    first = 0
    for array in graph.inputs:
        if array.name in inputs:
            spans[array.name] = len(places), array.size
            places |= {first + k: 1 << (len(places) + k) for k in range(array.size)}
        first += array.size
    for op, args, value in graph.nodes:
        marks.append(places.get(int(value), 0) if op == "input" else reduce(or_, (marks[k] for k in args), 0))
    return {
        output.name: {
            name: _pairs([marks[k] for k in output.elements], *span) for name, span in spans.items()
        }
        for output in graph.outputs
    }


def _pairs(marks: list[int], start: int, size: int) -> tuple[int, ...]:
    """The pairs of one input, whose bits in the marks begin at `start`."""
    return tuple(
        element * size + k
        for element, mark in enumerate(marks)
        for k in range(size)
        if mark >> (start + k) & 1
    )
