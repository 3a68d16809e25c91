"""Alike limbs as lanes: a function is traced on a smaller robot, on which one limb stands for several.

Numbers in which the limbs differ become entries of a table with one row per lane. Equal numbers stay numbers,
including zeros that all limbs share. Values that limbs pass on to the trunk are summed over the lanes. The
program has one straight line, whose inputs and outputs for limbs have a place in every lane.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Final

from rbdgen.access import Access
from rbdgen.functions.form import Form
from rbdgen.functions.function import Function, Robot
from rbdgen.graph.programs.lanes import LIMB_CONSTANTS, counted, known, limb_by_limb, line_of_limbs, work
from rbdgen.graph.programs.passes import ORDER, SIMPLIFY, apply
from rbdgen.graph.programs.program import Loop, Program
from rbdgen.model.alike_limbs import Limbs, contact_between, limbs_in_lanes
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.selection.limb_places import accesses
from rbdgen.selection.one_limb import OneLimb
from rbdgen.spatial.scalar import Scalar


def trace_in_limbs(
    reduced: ReducedModel,
    limbs: Limbs,
    function: Function,
    form: Form,
    *,
    sums: bool = True,
    zeros_in_lanes: bool = False,
) -> Program:
    """Trace the form with alike limbs as lanes. For `sums`, see `sweeps.inputs.coordinates`.

    `zeros_in_lanes` says whether zeros of matrices between different limbs are written lane by lane.
    """
    traced = OneLimb(read_by(function, reduced), limbs, zeros_in_lanes)
    alone = replace(function, contacts=None)  # the contacts are those that the function reads
    inputs = alone.sized(traced.robots[0].model).inputs
    state = traced.state(traced.symbols(function.signature.inputs, inputs), sums=sums)
    return traced.finished(function, alone.trace(form, traced.filled(), state))


LONGEST: Final = 6500
"""The most operations of a line. It is printed in one piece, for which compilers take one or two seconds."""


def trace_loop_in_limbs(
    program: Program,
    reduced: ReducedModel,
    limbs: Limbs,
    function: Function,
    form: Form,
    *,
    sums: bool = True,
) -> Program:
    """A traced form in loops, with alike limbs as lanes in the loop that reads the function's inputs."""
    traced = OneLimb(read_by(function, reduced), limbs)
    own = function.sized(traced.robots[0].model)
    state = traced.state(traced.symbols(function.signature.inputs, own.inputs), sums=sums)
    assert form.loops is not None
    looped = form.loops(traced.filled())
    (loop,) = (loop for loop in looped.loops if loop.inputs)
    (every,) = (own for own in program.loops if own.name == loop.name)
    sizes = {x.name: x.size for x in program.outputs} | dict(program.scratch)
    found: dict[str, list[tuple[tuple[int, ...], Scalar]]] = defaultdict(list)
    for name, values in loop.trace(state).items():
        access = loop.writes[name]
        axes = looped.axes.get(access.array, ("nv",) * (1 if sizes[access.array] == reduced.nv else 2))
        if axes:
            found[access.array] += traced.placed(axes, access.elements, values)
        else:
            found[access.array] += zip(((at,) for at in every.writes[name].elements), values, strict=True)
    outputs: list[tuple[str, tuple[int, ...], Sequence[Scalar]]] = []
    writes: dict[str, Access] = {}
    for array, rows in found.items():
        done = {at for own, _ in rows for at in own}
        asked = {at for access in every.writes.values() if access.array == array for at in access.elements}
        rows += [((at,), 0) for at in sorted(asked - done)]  # between limbs
        for part, (where, elements) in accesses(array, [own for own, _ in rows]).items():
            outputs.append((part, (len(elements),), [rows[k][1] for k in elements]))
            writes[part] = where
    line = Loop(loop.name, traced.tracer.graph(outputs), traced.reads, writes)
    loops = (line if before.name == loop.name else before for before in program.loops)
    return replace(program, loops=tuple(loops), tables={**program.tables, LIMB_CONSTANTS: traced.rows})


@dataclass(frozen=True)
class InLimbs:
    """A program with lanes, the same program limb by limb, and its axes in words."""

    lanes: Program
    by_limb: Program
    axes: str


def cheapest_in_limbs(
    function: Function,
    model: Model,
    subjects: Iterable[tuple[str, ReducedModel]],
    registers: float,
    most: float = inf,
    *,
    sums: bool,
) -> InLimbs | None:
    """The form in limbs with the least work; None if it is more than `most` or there are no alike limbs.

    `registers` is the number of registers that a value takes per lane.
    """
    form = function.in_limbs
    if form is None or not form.does(model):
        return None
    trace = partial(trace_in_limbs, function=function, form=form, sums=sums)
    return cheapest_traced(function, model, subjects, registers, most, trace)


def cheapest_traced(
    function: Function,
    model: Model,
    subjects: Iterable[tuple[str, ReducedModel]],
    registers: float,
    most: float,
    trace: Callable[[ReducedModel, Limbs], Program],
) -> InLimbs | None:
    """The cheapest of the programs that `trace` makes of a function, from a reduced model and the limbs that
    are lanes. Other arguments and the result are those of `cheapest_in_limbs`.
    """
    traced = [
        (known(trace(reduced, limbs)), words, limbs.lanes * registers)
        for words, reduced in subjects
        for limbs in limbs_in_lanes(model)
        if contact_between(read_by(function, model), limbs) is None
    ]
    return _cheapest(traced, most)


def read_by(function: Function, robot: Robot) -> Robot:
    """The robot with only the contacts that the function reads."""
    return function.held_by(robot) if function.of_contacts else robot.with_contacts(())


def cheapest_loop_in_limbs(
    program: Program,
    function: Function,
    form: Form,
    model: Model,
    subjects: Iterable[tuple[str, ReducedModel]],
    registers: float,
    most: float = inf,
    *,
    sums: bool,
) -> InLimbs | None:
    """The cheapest program with alike limbs as lanes in one loop of a form in loops.

    Arguments and result are those of `cheapest_in_limbs`, but `most` limits the work of that loop alone.
    """
    traced = [
        (
            known(trace_loop_in_limbs(program, reduced, limbs, function, form, sums=sums)),
            words,
            limbs.lanes * registers,
        )
        for words, reduced in subjects
        for limbs in limbs_in_lanes(model)
        if contact_between(read_by(function, model), limbs) is None
    ]
    return _cheapest(traced, most)


def _cheapest(traced: Iterable[tuple[Program, str, float]], most: float) -> InLimbs | None:
    """The cheapest of some programs, each given with its axes in words and the registers of a value."""
    short = [row for row in traced if len(line_of_limbs(row[0]).kernel) <= LONGEST]
    if not short:
        return None
    plain, words, width = min(short, key=lambda row: work(line_of_limbs(row[0]), row[2]))
    best = known(apply(plain, SIMPLIFY))
    if work(line_of_limbs(best), width) > most:
        return None
    return InLimbs(apply(best, ORDER), apply(limb_by_limb(best), ORDER), f"{words}; {counted(best)}")
