"""Elements of arrays that straight-line code must read before it writes to them."""

from __future__ import annotations

from rbdgen.graph.cost import readers_in_order
from rbdgen.graph.programs.program import Loop


def read_early(loop: Loop) -> set[tuple[str, int]]:
    """The elements that must be read before the first statement because a run of the loop also writes to
    them.

    A statement stores its result at once, so an element that a later statement still reads would be lost. An
    element is safe if the statement that overwrites it is the only one that reads it, as in x[3] = x[3] + y.
    """
    stores: dict[tuple[str, int], int] = {
        (output.name, position): node
        for output in loop.kernel.outputs
        for position, node in enumerate(output.elements)
    }
    readers = readers_in_order(loop.kernel)
    reads = {
        loop.kernel.input_element(int(node.value)): set(readers[index])
        for index, node in enumerate(loop.kernel.nodes)
        if node.op == "input" and readers[index]
    }
    early = set()
    for run in range(loop.count):
        written = {
            (loop.writes[name].array, loop.writes[name].address(run, k)): node
            for (name, k), node in stores.items()
        }
        for (name, k), nodes in reads.items():
            access = loop.reads[name]
            at = (access.array, access.address(run, k))
            if at in written and nodes != {written[at]}:
                early.add((name, k))
    return early


def early_name(array: str, position: int) -> str:
    """The name of the local variable that holds an element which is read early."""
    return f"{array}_{position}_before"
