"""A program as one straight line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rbdgen.access import Access, whole
from rbdgen.graph.node import Graph, Node, Output
from rbdgen.graph.programs.program import Loop, Program, Result


def unrolled(program: Program) -> Graph:
    """Write all runs of the loops as one straight line."""
    if (graph := program.straight) is not None:
        return graph
    nodes: list[Node] = []
    arrays: dict[str, list[int]] = {}

    def put(node: Node) -> int:
        nodes.append(node)
        return len(nodes) - 1

    first = 0
    for argument in program.inputs:
        positions = range(first, first + argument.size)
        arrays[argument.name] = [put(Node("input", value=float(position))) for position in positions]
        first += argument.size
    for name, values in program.tables.items():
        arrays[name] = [put(Node("const", value=value)) for value in values]
    arrays |= {name: [-1] * size for name, size in program.scratch.items()}
    arrays |= {output.name: [-1] * output.size for output in program.outputs}
    for loop in program.loops:
        for k in range(loop.count):
            read = {name: [arrays[p.array][a] for a in p.addresses(k)] for name, p in loop.reads.items()}
            flat = [element for array in loop.kernel.inputs for element in read[array.name]]
            index_of: list[int] = []
            for node in loop.kernel.nodes:
                if node.op == "input":
                    index_of.append(flat[int(node.value)])
                else:
                    index_of.append(put(Node(node.op, tuple(index_of[a] for a in node.args), node.value)))
            for output in loop.kernel.outputs:
                written = loop.writes[output.name]
                for address, element in zip(written.addresses(k), output.elements, strict=True):
                    arrays[written.array][address] = index_of[element]
    outputs = tuple(Output(o.name, o.shape, tuple(arrays[o.name])) for o in program.outputs)
    return Graph(program.inputs, tuple(nodes), outputs)


def begun_with(program: Program, first: int, change: Callable[[Graph], Graph]) -> Program:
    """The program with the loops before `first` as one straight line, which `change` may shorten."""
    before, after = program.loops[:first], program.loops[first:]
    written = {access.array for loop in before for access in loop.writes.values()}
    read = {
        (access.array, at)
        for loop in after
        for access in loop.reads.values()
        for k in range(loop.count)
        for at in access.addresses(k)
    }
    sizes = {**program.scratch, **{output.name: output.size for output in program.outputs}}
    whole_arrays = tuple(Result(name, (sizes[name],)) for name in sizes if name in written)
    graph = unrolled(replace(program, loops=before, outputs=whole_arrays, scratch={}))
    outputs, writes = [], {}
    for output in graph.outputs:
        own = output.name not in program.scratch
        kept = [k for k, at in enumerate(output.elements) if at >= 0 and (own or (output.name, k) in read)]
        if kept:
            outputs.append(Output(output.name, (len(kept),), tuple(output.elements[k] for k in kept)))
            writes[output.name] = Access(output.name, tuple(kept))
    line = Loop(
        "begin",
        change(replace(graph, outputs=tuple(outputs))),
        {array.name: whole(array.name, array.size) for array in graph.inputs},
        writes,
    )
    return replace(program, loops=(line, *after))
