"""A straight line around other programs.

Some outputs of the line are inputs of the inner programs, whose outputs are inputs of the line. The line is
cut into parts: all that an inner program reads is computed before it, and the rest after the last one. Values
that later parts read are stored in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from rbdgen.access import whole
from rbdgen.errors import GraphError
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.programs.program import Loop, Program, Result


def around(line: Graph, inner: Sequence[Program], outputs: Sequence[Result]) -> Program:
    """The program that runs the line and, where their inputs are known, the inner programs.

    Args:
        line: it has the inputs of the whole program, and all outputs of inner programs that it reads.
        inner: the inner programs in the order in which they run. Their inputs are outputs of the line or of
            earlier inner programs.
        outputs: those of the whole program, each of the line or of an inner program.

    Raises:
        GraphError: if the inputs of an inner program depend on its own outputs, or on those of a later one.
    """
    parts = _cut(line, inner)
    begin, *others = (_loop(f"part{k}", part) for k, part in enumerate(parts, 1))
    loops = [begin]
    for program, part in zip(inner, others, strict=True):
        loops += [*program.loops, part]
    found = {array.name: array.size for program in inner for array in program.outputs}
    sizes = found | {array.name: array.size for part in parts for array in part.outputs}
    sizes |= {name: size for program in inner for name, size in program.scratch.items()}
    own = {output.name for output in outputs}
    return Program(
        tuple(array for array in line.inputs if array.name not in found),
        tuple(outputs),
        tuple(loop for loop in loops if loop.writes),
        {name: size for name, size in sizes.items() if size and name not in own},
        {name: table for program in inner for name, table in program.tables.items()},
        any(program.lanes_of_one_state for program in inner),
    )


def _loop(name: str, graph: Graph) -> Loop:
    """A loop that runs once, over whole arrays. Empty outputs are left out."""
    outputs = tuple(array for array in graph.outputs if array.size)
    reads, writes = ({x.name: whole(x.name, x.size) for x in some} for some in (graph.inputs, outputs))
    return Loop(name, replace(graph, outputs=outputs), reads, writes)


@dataclass(frozen=True)
class _Part:
    """Nodes of the line that are computed one after the other."""

    outputs: Sequence[Output]
    computed: set[int]
    """The operations among the nodes."""


def _cut(line: Graph, inner: Sequence[Program]) -> list[Graph]:
    """The parts of the line before, between and after the inner programs."""
    parts = _parts(line, inner)
    where = {node: k for k, part in enumerate(parts) for node in part.computed}
    read = [_operands(line, part) for part in parts]
    name = _kept_name(line, inner)
    kept: list[dict[int, tuple[str, int]]] = []
    for k in range(len(parts)):
        later = {node for nodes in read[k + 1 :] for node in nodes if where.get(node) == k}
        kept.append({node: (f"{name}{k + 1}", place) for place, node in enumerate(sorted(later))})
    every = {node: place for places in kept for node, place in places.items()}
    return [_graph(line, part, kept[k], every) for k, part in enumerate(parts)]


def _kept_name(line: Graph, inner: Sequence[Program]) -> str:
    """The beginning of the names of arrays of stored values, with which no other array begins."""
    own = [array.name for array in line.inputs] + [array.name for array in line.outputs]
    own += [name for program in inner for name in (*program.scratch, *program.tables)]
    name = "kept"
    while any(other.startswith(name) for other in own):
        name = f"more_{name}"
    return name


def _parts(line: Graph, inner: Sequence[Program]) -> list[_Part]:
    """The outputs and nodes of each part: the outputs that the next inner program reads, then all others."""
    given = {array.name: k for k, program in enumerate(inner, 1) for array in program.outputs}
    levels = _levels(line, given)
    asked: set[str] = set()
    parts: list[_Part] = []
    known: set[int] = set()
    for k in range(len(inner) + 1):
        names = {array.name for array in inner[k].inputs} if k < len(inner) else None
        outputs = [x for x in line.outputs if x.name not in asked and (names is None or x.name in names)]
        if any(levels[node] > k for output in outputs for node in output.elements):
            raise GraphError("an inner program of a straight line needs its own results")
        needed = _needed(line, outputs, known)
        parts.append(_Part(outputs, {node for node in needed if line.nodes[node].args} - known))
        known |= parts[-1].computed
        asked |= names or set()
    return parts


def _levels(line: Graph, given: Mapping[str, int]) -> list[int]:
    """For every node, the number of inner programs that must have run before it."""
    levels: list[int] = []
    for node in line.nodes:
        if node.op == "input":
            levels.append(given.get(line.input_element(int(node.value))[0], 0))
        else:
            levels.append(max((levels[k] for k in node.args), default=0))
    return levels


def _needed(line: Graph, outputs: Iterable[Output], known: Collection[int]) -> set[int]:
    """The nodes on which outputs depend, without those on which only known nodes depend."""
    found = {k for output in outputs for k in output.elements}
    for k in range(len(line.nodes) - 1, -1, -1):
        if k in found and k not in known:
            found.update(line.nodes[k].args)
    return found


def _operands(line: Graph, part: _Part) -> set[int]:
    """The nodes that a part reads or gives."""
    return {k for node in part.computed for k in line.nodes[node].args} | {
        k for output in part.outputs for k in output.elements
    }


def _graph(
    line: Graph, part: _Part, kept: Mapping[int, tuple[str, int]], every: Mapping[int, tuple[str, int]]
) -> Graph:
    """A part as a graph. Operations of earlier parts are read from arrays, as `every` says."""
    nodes = sorted(_operands(line, part) | part.computed)
    read = {node: every[node] for node in nodes if line.nodes[node].args and node not in part.computed}
    for node in nodes:
        if line.nodes[node].op == "input":
            read[node] = line.input_element(int(line.nodes[node].value))
    sizes = {array.name: array.size for array in line.inputs} | Counter(name for name, _ in every.values())
    names = sorted({name for name, _ in read.values()}, key=list(sizes).index)
    firsts = dict(zip(names, accumulate((sizes[name] for name in names), initial=0), strict=False))
    at = {node: k for k, node in enumerate(nodes)}
    made = [
        Node("input", value=float(firsts[read[node][0]] + read[node][1]))
        if node in read
        else line.nodes[node]._replace(args=tuple(at[k] for k in line.nodes[node].args))
        for node in nodes
    ]
    outputs = [Output(x.name, x.shape, tuple(at[k] for k in x.elements)) for x in part.outputs]
    if kept:
        name = next(iter(kept.values()))[0]
        outputs.append(Output(name, (len(kept),), tuple(at[node] for node in kept)))
    labels = {at[k]: label for k, label in line.labels.items() if k in part.computed}
    arrays = tuple(Input(name, sizes[name]) for name in names)
    return Graph(arrays, tuple(made), tuple(outputs), labels)
