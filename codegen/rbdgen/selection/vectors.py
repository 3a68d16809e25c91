"""Programs with vectors: whether their loops fill them, and the work that they take."""

from __future__ import annotations

from dataclasses import replace

from rbdgen.graph.programs.lanes import work
from rbdgen.graph.programs.program import Program
from rbdgen.selection.limits import LIMITS


def gain(straight: Program, other: Program, lanes: int) -> float:
    """The estimated speed of a program with limbs as lanes, or with loops, relative to a straight line."""
    first, *more = other.loops
    if not more and first.kernel.lanes > 1:
        return work(straight.loops[0], 1) / work(first, first.kernel.lanes * LIMITS.registers / lanes)
    return straight.cost.work / work_in_loops(other, lanes)


def work_in_loops(program: Program, lanes: int) -> float:
    """The work of a program if `lanes` runs of a loop share a vector. Limbs may be lanes of some loops."""
    total = 0.0
    for loop in program.loops:
        width = loop.kernel.lanes * LIMITS.registers / lanes
        total += work(loop, width) if loop.kernel.lanes > 1 else replace(program, loops=(loop,)).work(lanes)
    return total


def fills_vectors(program: Program, lanes: int) -> bool:
    """Whether the runs of every loop that can share vectors fill one, and the program is not too long for a
    batch.
    """
    shared = (loop for loop in program.loops if loop.vectorisable)
    return not too_long_for_vectors(program) and all(loop.count >= lanes for loop in shared)


def too_long_for_vectors(program: Program) -> bool:
    """Whether the program's loops are for vectors in one call, and too long for a batch."""
    return program.lanes_of_one_state and program.cost.total > LIMITS.longest_for_vectors
