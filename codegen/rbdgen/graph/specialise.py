"""Loops taken apart where runs know different elements to be 0, so that nothing is computed with zeros.

What pays where runs are the lanes of a vector, all operations for all of them, does not where they come one
after the other. The remaining operations are the same, in the same order: results are equal, to the sign of
a result that is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby

from rbdgen.graph.node import Graph, Node
from rbdgen.graph.passes import dead, fold, run
from rbdgen.graph.program import Loop, Program
from rbdgen.places import Place

Zeros = tuple[tuple[str, tuple[int, ...]], ...]
"""Arrays and their elements that are 0."""


def specialised(program: Program) -> Program:
    """The program with a loop for every stretch of runs that know the same zeros; equal bodies are one."""
    bodies: dict[tuple[int, Zeros], Graph] = {}
    loops = tuple(part for loop in program.loops for part in _parts(loop, bodies))
    return replace(program, loops=loops)


def _parts(loop: Loop, bodies: dict[tuple[int, Zeros], Graph]) -> Iterator[Loop]:
    if not loop.zeros:
        yield loop
        return

    def zeros_of(k: int) -> Zeros:
        return tuple((name, runs[k]) for name, runs in sorted(loop.zeros.items()))

    for zeros, runs in groupby(range(loop.count), zeros_of):
        stretch = list(runs)
        key = (id(loop.body), zeros)
        if not any(elements for _, elements in zeros):
            bodies[key] = loop.body
        elif key not in bodies:
            bodies[key] = run(_with_zeros(loop.body, zeros), (fold, dead))
        yield Loop(
            loop.name,
            bodies[key],
            _of_runs(loop.reads, stretch),
            _of_runs(loop.writes, stretch),
            len(stretch),
        )


def _of_runs(places: Mapping[str, Place], runs: list[int]) -> dict[str, Place]:
    return {
        name: place if place.shared else replace(place, offsets=tuple(place.offsets[k] for k in runs))
        for name, place in places.items()
    }


def _with_zeros(graph: Graph, zeros: Zeros) -> Graph:
    """The graph with these elements of inputs as constants."""
    known = {(name, element) for name, elements in zeros for element in elements}
    zero = Node("const")
    nodes = tuple(
        zero if node.op == "input" and graph.input_element(int(node.value)) in known else node
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes)
