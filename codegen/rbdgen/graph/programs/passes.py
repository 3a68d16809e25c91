"""The passes that a program goes through on its way to C, in the order in which they run.

Every pass is a pure function from a program to a program of equal value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, TypeAlias

from rbdgen.graph import passes
from rbdgen.graph.cost import cost
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.distinct_runs import one_by_one
from rbdgen.graph.programs.joined import joined
from rbdgen.graph.programs.program import Program, straight_line, with_kernels, without_unused_arrays
from rbdgen.graph.programs.specialised import specialised
from rbdgen.graph.programs.unrolled import begun_with, unrolled

Pass: TypeAlias = Callable[[Program], Program]

LONGEST_ORDERED: Final = 20_000
"""Longer kernels are not scheduled, because this takes seconds and gained nothing."""


def cheapest(program: Program) -> Program:
    """Reduce the operations of every kernel by other forms of sums and products."""
    return with_kernels(program, passes.cheapest)


def scheduled(program: Program) -> Program:
    """Reorder every kernel so that few values are live and chains of operations overlap."""
    return with_kernels(program, _scheduled)


def _scheduled(graph: Graph) -> Graph:
    return passes.schedule(graph) if cost(graph).total <= LONGEST_ORDERED else graph


def released(program: Program) -> Program:
    """Remove marks of values that derivatives take as constants. It is the first pass after the last
    differentiation.
    """
    return with_kernels(program, passes.released)


def for_latency(program: Program) -> Program:
    """Reorder every kernel so that more operations of one run overlap."""
    return with_kernels(program, _for_latency)


def _for_latency(graph: Graph) -> Graph:
    return passes.scheduled_for_latency(graph) if cost(graph).total <= LONGEST_ORDERED else graph


def cheaper(program: Program) -> Program:
    """Reduce the operations of every kernel by one round of other forms of sums and products."""
    return with_kernels(program, lambda graph: passes.pairs(passes.factor(passes.sign(graph))))


SIMPLIFY: Final[tuple[Pass, ...]] = (cheapest,)
"""The passes that run on every program that is tried. The program that then has the fewest operations is
chosen.
"""

ORDER: Final[tuple[Pass, ...]] = (scheduled,)
"""The passes that run on the chosen program, after all passes that change its nodes."""

TO_C: Final[tuple[Pass, ...]] = (*SIMPLIFY, *ORDER)
"""The passes that run on a program before it is printed.

If sines and cosines are inputs, `angles_given` follows.
"""


ONCE: Final[tuple[Pass, ...]] = (cheaper, *ORDER)
"""The passes that run on a long program in place of `TO_C`."""


def straightened(program: Program) -> Program:
    """Replace loops for vectors in one call by a straight line of the same operations, for batches, whose
    lanes are states.

    Operations with zeros are left out, and so are those that overlapping vectors repeat. Loops over columns
    stay loops, without columns that are zero or repeated, because their straight lines would be long.
    """
    if not program.lanes_of_one_state:
        return program
    first = next((k for k, loop in enumerate(program.loops) if loop.distinct_runs), None)
    if first is None:
        return straight_line(_once(unrolled(program)))
    return one_by_one(replace(begun_with(program, first, _once), lanes_of_one_state=False))


def _once(graph: Graph) -> Graph:
    return _scheduled(passes.dead(passes.once(passes.without_zeros(graph))))


FOR_BATCHES: Final[tuple[Pass, ...]] = (straightened, specialised, joined, without_unused_arrays)
"""The passes for the program of a batch function, after `TO_C`. Its results equal those of single calls."""


FOR_CALLS: Final[tuple[Pass, ...]] = (for_latency,)
"""The last passes for the program of a single call on a processor that runs operations out of order. Batches
are made from the program before them: their lanes are bounded by the number of operations and of live values.
"""


def apply(program: Program, steps: Iterable[Pass]) -> Program:
    """The program after these passes, in order."""
    for step in steps:
        program = step(program)
    return program
