"""Lists the loops of a program that compute in vectors, for a golden file."""

from __future__ import annotations

from rbdgen.graph.programs.program import Program
from rbdgen.machine import lanes


def loops_listed(program: Program) -> str:
    """A line for every name of a loop, in the order of execution: whether its runs share vectors."""
    width = lanes("double")
    rows = [f"{loop.name}: {'vectors' if loop.vectorised(width) else 'one by one'}" for loop in program.loops]
    return "".join(f"{row}\n" for row in dict.fromkeys(rows))
