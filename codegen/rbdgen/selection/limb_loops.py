"""The form that loops over alike limbs, for small memories: the code that limbs share is written once."""

from __future__ import annotations

from collections.abc import Iterable

from rbdgen.functions.function import Function
from rbdgen.graph.cost import cost
from rbdgen.graph.programs.lanes import known
from rbdgen.graph.programs.limb_loops import loops_over_limbs
from rbdgen.graph.programs.passes import ORDER, SIMPLIFY, apply
from rbdgen.graph.programs.program import Program
from rbdgen.model.alike_limbs import limbs_in_turn
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.selection.limbs import trace_in_limbs


def smallest_in_limb_loops(
    function: Function, model: Model, subjects: Iterable[tuple[str, ReducedModel]], *, sums: bool
) -> tuple[Program, str]:
    """The program of loops over limbs that takes the least flash memory, and its axes in words."""
    form = function.in_limb_loops
    assert form is not None
    traced = [
        (known(trace_in_limbs(reduced, limbs, function, form, sums=sums, zeros_in_lanes=True)), words)
        for words, reduced in subjects
        for limbs in limbs_in_turn(model)
    ]
    plain, words = min(traced, key=lambda row: _written(row[0]))
    program = apply(loops_over_limbs(known(apply(plain, SIMPLIFY))), ORDER)
    return program, f"{words}; {_counted(program)}"


def _written(program: Program) -> int:
    """Operations and numbers that are written down, which is about the number of words of flash memory."""
    return program.length + sum(map(len, program.tables.values()))


def _counted(program: Program) -> str:
    """A text with the number of operations for limbs and for the trunk."""
    of_limbs = sum(cost(loop.kernel).total for loop in program.loops if loop.count > 1)
    (limbs,) = {loop.count for loop in program.loops if loop.count > 1}
    return f"{of_limbs} operations for each of {limbs} limbs, {program.length - of_limbs} for the trunk"
