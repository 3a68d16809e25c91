"""A straight line around another program.

Some outputs of the line are inputs of the inner program, whose outputs are inputs of the line. The line is
cut in two: all that the inner program reads is computed before it, and the rest after it. What the second
part reads of the first one is stored in between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from rbdgen.access import whole
from rbdgen.errors import GraphError
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.programs.program import Loop, Program, Result

KEPT: Final = "kept"
"""The array of values of the first part that the second part reads."""


def around(line: Graph, inner: Program, outputs: Sequence[Result]) -> Program:
    """The program that runs the line and, where its inputs are known, the inner program.

    Args:
        line: it has the inputs of the whole program and all outputs of the inner program that it reads.
        inner: all its inputs are outputs of the line.
        outputs: those of the whole program, each of the line or of the inner program.

    Raises:
        GraphError: if the inputs of the inner program depend on its outputs.
    """
    asked = {array.name for array in inner.inputs}
    found = {array.name: array.size for array in inner.outputs}
    first = [output for output in line.outputs if output.name in asked]
    last = [output for output in line.outputs if output.name not in asked]
    before = _needed(line, first, frozenset())
    if not found.keys().isdisjoint(_arrays(line, before)):
        raise GraphError("the inner program of a straight line needs its own results")
    computed = frozenset(k for k in before if line.nodes[k].args)
    kept = sorted(_needed(line, last, computed) & computed)
    left = [Output(KEPT, (len(kept),), tuple(kept))] if kept else []
    begin = _part(line, [*first, *left], {})
    end = _part(line, last, {k: n for n, k in enumerate(kept)})
    sizes = {**{array.name: array.size for array in (*first, *left)}, **found, **inner.scratch}
    own = {output.name for output in outputs}
    return Program(
        tuple(array for array in line.inputs if array.name not in found),
        tuple(outputs),
        (_loop("begin", begin), *inner.loops, _loop("end", end)),
        {name: size for name, size in sizes.items() if size and name not in own},
        inner.tables,
    )


def _loop(name: str, graph: Graph) -> Loop:
    """A loop that runs once, over whole arrays. Empty outputs are left out."""
    outputs = tuple(array for array in graph.outputs if array.size)
    reads, writes = ({x.name: whole(x.name, x.size) for x in some} for some in (graph.inputs, outputs))
    return Loop(name, replace(graph, outputs=outputs), reads, writes)


def _needed(line: Graph, outputs: Iterable[Output], known: Collection[int]) -> set[int]:
    """The nodes on which outputs depend, without those on which only known nodes depend."""
    found = {k for output in outputs for k in output.elements}
    for k in range(len(line.nodes) - 1, -1, -1):
        if k in found and k not in known:
            found.update(line.nodes[k].args)
    return found


def _arrays(line: Graph, nodes: Iterable[int]) -> set[str]:
    """The input arrays of which elements are among the nodes."""
    inputs = (line.nodes[k].value for k in nodes if line.nodes[k].op == "input")
    return {line.input_element(int(value))[0] for value in inputs}


def _part(line: Graph, outputs: Sequence[Output], kept: Mapping[int, int]) -> Graph:
    """The nodes for these outputs, in the order of the line. Nodes in `kept` are read from an array."""
    needed = _needed(line, outputs, kept)
    names = _arrays(line, needed)
    arrays = [array for array in line.inputs if array.name in names]
    arrays += [Input(KEPT, len(kept))] if kept else []
    sizes = [0, *accumulate(array.size for array in arrays)]
    firsts = dict(zip((array.name for array in arrays), sizes, strict=False))
    at: dict[int, int] = {}
    nodes: list[Node] = []
    for k in sorted(needed):
        op, args, value = line.nodes[k]
        if k in kept:
            node = Node("input", value=float(firsts[KEPT] + kept[k]))
        elif op == "input":
            name, element = line.input_element(int(value))
            node = Node("input", value=float(firsts[name] + element))
        else:
            node = Node(op, tuple(at[x] for x in args), value)
        at[k] = len(nodes)
        nodes.append(node)
    own = tuple(Output(x.name, x.shape, tuple(at[k] for k in x.elements)) for x in outputs)
    labels = {at[k]: label for k, label in line.labels.items() if k in at and k not in kept}
    return Graph(tuple(arrays), tuple(nodes), own, labels)
