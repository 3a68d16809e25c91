"""Which elements of results depend on which elements of an input."""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce
from operator import or_

from rbdgen.graph.node import Graph

Dependence = dict[str, dict[str, tuple[int, ...]]]
"""By output and input: pairs of an element of the one and one of the other, as `element * size + other`."""


def dependence(graph: Graph, inputs: Collection[str]) -> Dependence:
    """That of all outputs on these inputs, by the operations: an element that none leads to is none."""
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
    """Those of one input, whose bits begin at `start`."""
    return tuple(
        element * size + k
        for element, mark in enumerate(marks)
        for k in range(size)
        if mark >> (start + k) & 1
    )
