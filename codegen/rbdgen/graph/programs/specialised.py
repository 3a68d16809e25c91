"""Loops that are split where runs have different known zeros, so that nothing is computed with zeros.

Elements of scratch arrays that no run then reads are not written either.

Runs that are lanes of a vector all take the same operations, including those with zeros. If runs come one
after the other, operations with zeros are left out. The remaining operations are the same, in the same order.
Results are equal, except that a result of 0 may have the other sign.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import is_

from rbdgen.access import Access
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.passes.dead import dead
from rbdgen.graph.passes.fold import fold
from rbdgen.graph.programs.program import Loop, Program

Zeros = tuple[tuple[str, tuple[int, ...]], ...]
"""Arrays, each with its elements that are 0."""

Elements = Mapping[str, Sequence[int]]
"""Elements of arrays."""

Address = tuple[str, int]
"""An array, and a position in it."""


def specialised(program: Program) -> Program:
    """The program with a loop for every segment of runs with the same known zeros. Equal kernels are
    shared.
    """
    bodies: dict[tuple[int, Zeros], tuple[Graph, Elements]] = {}
    loops = [part for loop in program.loops for part in _parts(loop, bodies)]
    read = {at for loop in loops for access in loop.reads.values() for at in _every(access, loop.count)}
    lean = [own for loop in loops if (own := _without_unread(loop, program.scratch, read)).writes]
    if len(lean) == len(program.loops) and all(map(is_, lean, program.loops)):
        return program
    return replace(program, loops=tuple(lean))


def _parts(loop: Loop, bodies: dict[tuple[int, Zeros], tuple[Graph, Elements]]) -> Iterator[Loop]:
    if not loop.zeros:
        yield loop
        return

    def zeros_of(k: int) -> Zeros:
        return tuple((name, runs[k]) for name, runs in sorted(loop.zeros.items()))

    for zeros, runs in groupby(range(loop.count), zeros_of):
        segment = list(runs)
        key = (id(loop.kernel), zeros)
        if key not in bodies:
            bodies[key] = with_zeros(loop.kernel, zeros)
        body, left = bodies[key]
        reads = of_runs(loop.reads, segment)
        yield replace(
            loop,
            kernel=body,
            reads={name: _only(reads[name], elements) for name, elements in left.items()},
            writes=of_runs(loop.writes, segment),
            count=len(segment),
            zeros={},
            distinct_runs=tuple(range(len(segment))) if loop.distinct_runs else (),
        )


def of_runs(accesses: Mapping[str, Access], runs: Sequence[int]) -> dict[str, Access]:
    """The accesses of only these runs."""
    return {
        name: access if access.shared else replace(access, offsets=tuple(access.offsets[k] for k in runs))
        for name, access in accesses.items()
    }


def _only(access: Access, elements: Sequence[int]) -> Access:
    """The access to only these elements."""
    return replace(access, elements=tuple(access.elements[k] for k in elements))


def with_zeros(graph: Graph, zeros: Zeros) -> tuple[Graph, Elements]:
    """The graph with these elements of inputs as constants, and the elements that it still reads.

    Without zeros the graph is returned as it is. Otherwise an input of which nothing is left is dropped.
    """
    known = {(name, element) for name, elements in zeros for element in elements}
    if not known:
        return graph, {array.name: range(array.size) for array in graph.inputs}
    zero = Node("const")
    nodes = tuple(
        zero if node.op == "input" and graph.input_element(int(node.value)) in known else node
        for node in graph.nodes
    )
    return _all_read(dead(fold(replace(graph, nodes=nodes))))


def _all_read(graph: Graph) -> tuple[Graph, Elements]:
    """The graph whose inputs have only the elements that it reads, and these elements.

    Inputs without such elements are dropped.
    """
    read = sorted({int(node.value) for node in graph.nodes if node.op == "input"})
    left: dict[str, list[int]] = {}
    for position in read:  # in the order of the inputs
        name, element = graph.input_element(position)
        left.setdefault(name, []).append(element)
    access = {old: new for new, old in enumerate(read)}
    nodes = tuple(
        node._replace(value=float(access[int(node.value)])) if node.op == "input" else node
        for node in graph.nodes
    )
    inputs = tuple(Input(name, len(elements)) for name, elements in left.items())
    return replace(graph, inputs=inputs, nodes=nodes), left


def addresses(access: Access, run: int) -> Iterator[Address]:
    """The addresses of an access in a run."""
    return ((access.array, address) for address in access.addresses(run))


def _every(access: Access, runs: int) -> Iterator[Address]:
    return (at for k in range(runs) for at in addresses(access, k))


def _without_unread(loop: Loop, scratch: Container[str], read: Container[Address]) -> Loop:
    """The loop without the elements of scratch arrays that nothing reads."""
    left: dict[str, list[int]] = {}
    for name, access in loop.writes.items():
        left[name] = [
            k
            for k in range(len(access.elements))
            if access.array not in scratch or any(at in read for at in _every(_only(access, [k]), loop.count))
        ]
    if all(len(left[name]) == len(access.elements) for name, access in loop.writes.items()):
        return loop
    outputs = tuple(
        Output(name, (len(left[name]),), tuple(elements[k] for k in left[name]))
        for name, elements in ((output.name, output.elements) for output in loop.kernel.outputs)
        if left[name]
    )
    writes = {name: _only(access, left[name]) for name, access in loop.writes.items() if left[name]}
    return replace(loop, kernel=dead(replace(loop.kernel, outputs=outputs)), writes=writes)
