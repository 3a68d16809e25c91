"""The loops of a program that compute in vectors, as a golden file lists them."""

from __future__ import annotations

from rbdgen.graph.programs.program import Program
from rbdgen.machine import lanes


def loops_listed(program: Program) -> str:
    """A line for every name of a loop, in the order in which they run: whether its runs share vectors."""
    width = lanes("double")
    rows = [f"{loop.name}: {'vectors' if loop.vectorised(width) else 'one by one'}" for loop in program.loops]
    return "".join(f"{row}\n" for row in dict.fromkeys(rows))
