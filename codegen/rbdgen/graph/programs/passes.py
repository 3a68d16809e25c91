"""What a program goes through on its way to C: the passes that run, in the order in which they run.

Every pass is a pure function from a program to a program of equal value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from rbdgen.graph import passes
from rbdgen.graph.cost import cost
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.program import Program, straight_line, with_kernels
from rbdgen.graph.programs.specialised import specialised
from rbdgen.graph.programs.unrolled import unrolled

Pass: TypeAlias = Callable[[Program], Program]

LONGEST_ORDERED: Final = 20_000
"""Up to this many operations a schedule is sought: for longer ones it takes seconds and gained nothing."""


def cheapest(program: Program) -> Program:
    """Fewer operations in every kernel, by other forms of sums and products."""
    return with_kernels(program, passes.cheapest)


def scheduled(program: Program) -> Program:
    """Every kernel in an order in which few values wait and chains of operations overlap."""
    return with_kernels(program, _scheduled)


def _scheduled(graph: Graph) -> Graph:
    return passes.schedule(graph) if cost(graph).total <= LONGEST_ORDERED else graph


SIMPLIFY: Final[tuple[Pass, ...]] = (cheapest,)
"""Runs on every program that competes: the one with the fewest operations after it is chosen."""

ORDER: Final[tuple[Pass, ...]] = (scheduled,)
"""Runs on the chosen program, after all that changes its nodes: it puts them in order."""

TO_C: Final[tuple[Pass, ...]] = (*SIMPLIFY, *ORDER)
"""What every program goes through before it is printed.

With sines and cosines as inputs `angles_given` follows.
"""


def straightened(program: Program) -> Program:
    """Loops for vectors inside one call as a straight line of the same operations, in which nothing is done
    with zeros, nor twice where vectors overlap: in a batch the lanes are states."""
    if not program.by_freedom:
        return program
    return straight_line(_scheduled(passes.dead(passes.once(passes.without_zeros(unrolled(program))))))


FOR_BATCHES: Final[tuple[Pass, ...]] = (straightened, specialised)
"""What the program of a batch function goes through after that. Its results are those of single calls."""


def apply(program: Program, steps: Iterable[Pass]) -> Program:
    """The program after the passes, in order."""
    for step in steps:
        program = step(program)
    return program
