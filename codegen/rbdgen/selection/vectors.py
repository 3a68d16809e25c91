"""Programs with vectors: whether their loops fill them, and the work that they take."""

from __future__ import annotations

from dataclasses import replace

from rbdgen.graph.programs.lanes import work
from rbdgen.graph.programs.program import Program
from rbdgen.selection.limits import LIMITS


def gain(straight: Program, other: Program, lanes: int, registers: float = LIMITS.registers) -> float:
    """The estimated speed of a program with limbs as lanes, or with loops, relative to a straight line.

    `lanes` and `registers` are those of `work_in_loops`.
    """
    first, *more = other.loops
    if not more and first.kernel.lanes > 1:
        return work(straight.loops[0], 1) / work(first, first.kernel.lanes * registers / lanes)
    return straight.cost.work / work_in_loops(other, lanes, registers)


def work_in_loops(program: Program, lanes: int, registers: float = LIMITS.registers) -> float:
    """The work of a program if `lanes` runs of a loop share a vector, which fills so many registers. Limbs
    may be lanes of some loops.
    """
    total = 0.0
    for loop in program.loops:
        if loop.kernel.lanes > 1:
            total += work(loop, loop.kernel.lanes * registers / lanes)
            continue
        longer = registers / LIMITS.registers if lanes > 1 and loop.vectorised(lanes) else 1.0
        total += longer * replace(program, loops=(loop,)).work(lanes)
    return total


def fills_vectors(program: Program, lanes: int, *, limbs: bool = False) -> bool:
    """Whether single calls have vectors that are filled, and the program is not too long for a batch.

    The runs of every loop that can share vectors must fill one, unless single calls have limbs as lanes in
    another loop (`limbs`). In float, for example, 12 columns do not fill a vector of 16 lanes, and come one
    by one.
    """
    shared = (loop for loop in program.loops if loop.vectorisable)
    return not too_long_for_vectors(program) and (limbs or all(loop.count >= lanes for loop in shared))


def too_long_for_vectors(program: Program) -> bool:
    """Whether the program's loops are for vectors in one call, and too long for a batch."""
    return program.lanes_of_one_state and program.cost.total > LIMITS.longest_for_vectors
