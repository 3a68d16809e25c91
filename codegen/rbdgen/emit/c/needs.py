"""What the statements of a program need around them."""

from __future__ import annotations

from dataclasses import dataclass

from rbdgen.emit.c.printer import Style
from rbdgen.emit.c.trigonometry import TRIGONOMETRY, live_nodes
from rbdgen.graph.programs.program import Program


@dataclass(frozen=True)
class CNeeds:
    """What a file needs beside the statements of its function."""

    unused: tuple[str, ...]
    """The arguments that no statement reads."""
    math: bool
    """Whether functions of the C library's math.h are called."""
    sincos: bool
    """Whether the built-in sine and cosine are called."""


def needs_of(program: Program, style: Style) -> CNeeds:
    """The needs of a program that is printed in the given style."""
    read: set[str] = set()
    ops: set[str] = set()
    for loop in program.loops:
        for node in live_nodes(loop.kernel):
            ops.add(node.op)
            if node.op == "input":
                read.add(loop.reads[loop.kernel.input_element(int(node.value))[0]].array)
    sines = not ops.isdisjoint(TRIGONOMETRY)
    return CNeeds(
        tuple(array.name for array in program.inputs if array.name not in read),
        math="sqrt" in ops or (sines and style.sincos is None),
        sincos=sines and style.sincos is not None,
    )
