"""Count and choose: trace a function in several forms and axes, and keep the cheapest.

Forms are listed in the rows of the catalogue. The cheap ones are traced in the axes that the search found,
with the equations of parallel-axis chains in one frame or in several, and with different lengths as the unit.
Forms in loops are compared with the cheapest straight line if neighbouring runs can share a vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf

from rbdgen.errors import OptionError
from rbdgen.functions.function import LIMB_LOOPS, LIMBS, Form, Function
from rbdgen.graph.cost import Cost
from rbdgen.graph.engine import GraphEngine
from rbdgen.graph.programs.limbs import work
from rbdgen.graph.programs.passes import ORDER, SIMPLIFY, TO_C, apply
from rbdgen.graph.programs.program import Program, straight_line
from rbdgen.model.angles import ZERO_ANGLE
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.selection.axes import CLASSICAL, BodyAxes, operations, search, unmoved
from rbdgen.selection.collection import collection_paused
from rbdgen.selection.limb_loops import smallest_in_limb_loops
from rbdgen.selection.limbs import LONGEST, cheapest_in_limbs, cheapest_loop_in_limbs
from rbdgen.selection.table import Table
from rbdgen.selection.trace import Subject, trace_graph, trace_on, trace_program
from rbdgen.wording import option

CONTENDERS = 2
"""How many of the cheapest traces go through the passes, which seldom change their order."""

LARGE = 4000
"""From this many operations on, only the cheapest trace goes through the passes."""

REFINEMENT = 300_000
"""The number of operations that the search for body axes may trace for one function: some seconds."""

CLEARLY = 0.01
"""The fraction of operations that one frame for a parallel-axis chain must save before the search.

The search itself gains some per cent and may reverse a small difference.
"""

CLEARLY_FASTER = 0.9
"""The greatest work of a line with alike limbs as lanes, as a fraction of a straight line's work.

`make bench-forms` compares the work that the choice counts with times.
"""

BATCHES_LOSE = 1.1
"""The limit on operations of the program limb by limb, which batches run, relative to the straight line."""

LONGEST_FOR_VECTORS = 160_000
"""The limit on executed operations of loops whose lanes are degrees of freedom; loops over columns do not
count.

A batch runs these loops as one straight line with about three fifths of the operations, and compilers take
long for lines of more than 100 000 operations.
"""

REGISTERS = 2.0
"""Registers of 32 bytes, as AVX2 has them, that the longest vectors fill."""

UNITS = 4
"""How many lengths are tried as the unit, the most frequent first."""

LEAST_UNIT = 1e-9
"""No unit is shorter, in m or as a fraction of the longest length: it would be rounding, not a dimension."""


@dataclass(frozen=True)
class Candidate:
    """One way to trace a function, and what its plain trace costs."""

    form: Form
    subject: Subject
    axes: str
    """The choice of axes, in words."""
    cost: Cost
    start: BodyAxes | None
    """The axes with which a further search begins."""


@dataclass(frozen=True)
class Choice:
    """The cheapest program of a function, how it was made, and what the other forms cost."""

    program: Program
    form: str
    axes: str
    alternatives: dict[str, Cost] = field(default_factory=dict)
    lanes: Program | None = None
    """The same program with alike limbs as the lanes of vectors, if that is faster."""


def subjects(model: Model, axes: BodyAxes | None, *, sums: bool) -> Iterator[tuple[str, ReducedModel]]:
    """The reduced models on which cheap forms are tried, made one by one. The first one is the plain choice.

    `sums` says whether cosines of sums of angles are available, which the axes of parallel-axis chains need.
    """
    plain = reduce(model) if axes is None else reduce(model, axes.turns, axes.slides)
    yield "searched" if axes else "as given", plain
    turns, slides = plain.turns, plain.slides
    for length in _unit_lengths(plain) if axes is not None else ():
        scaled = plain.with_axes(turns, slides, unit_length=length)
        yield f"searched, internal length unit {length:.6g} m", scaled
    parallel = _parallel_bodies(plain)
    if sums and parallel:
        yield "searched, parallel axes", plain.with_axes(turns, slides, parallel)


def _unit_lengths(plain: ReducedModel) -> list[float]:
    """Lengths that occur in translations, the most frequent first, for robots on which a unit may be chosen.

    Lengths that are rounding beside the longest one are left out: squares in such a unit would become too
    large.
    """
    if any(not body.joint.type.turns for body in plain.bodies):
        return []
    lengths = [abs(float(value)) for body in plain.bodies for value in body.translation]
    least = max(LEAST_UNIT * max(lengths), LEAST_UNIT)
    counts = Counter(round(length, 12) for length in lengths if length > least)
    return sorted(counts, key=lambda length: (-counts[length], length))[:UNITS]


def _parallel_bodies(plain: ReducedModel) -> list[int]:
    """Revolute bodies whose axis is parallel to that of a revolute parent."""
    return [i for i, body in enumerate(plain.bodies) if body.joint.type.turns and _continues(plain, i)]


def _continues(plain: ReducedModel, i: int) -> bool:
    body = plain.bodies[i]
    if body.parent == WORLD or body.alpha != ZERO_ANGLE:
        return False
    return plain.bodies[body.parent].joint.type.turns


@collection_paused()
def choose(
    function: Function,
    model: Model,
    axes: BodyAxes | None,
    *,
    engine: str,
    forced: str | None = None,
    sums: bool = True,
    lanes: int = 1,
    limbs: bool = True,
) -> Choice:
    """The cheapest form after the passes. Raises OptionError for an unknown form.

    `axes` are those that the search found, or None to keep the model's own. All forms are counted in one or
    two sets of axes; the cheapest form then gets a search of its own and is counted in all other axes.
    `lanes` is the number of values of a vector that neighbouring runs of a loop may share (1 for none).
    `limbs` says whether alike limbs may be the lanes of vectors. Compact forms are chosen only if forced.
    """
    forms = [form for form in function.forms_for(model) if not form.compact]
    if forced is not None:
        forms = [function.form_for(model, forced)]
    plainly = {start: next(subjects(model, start, sums=sums)) for start in _starts(function, model, axes)}
    words, plain = plainly[axes]
    straight = [form for form in forms if form.loops is None]
    staged = [form for form in forms if form.loops is not None and (lanes > 1 or forced is not None)]
    tried = [
        _counted(function, form, model, start, *subject, sums)
        for start, subject in plainly.items()
        for form in straight
        if form.reduced or start == axes
    ]
    tried.sort(key=_operations)
    programs = [(trace_program(plain, function, form, engine, sums=sums), form) for form in staged]
    alternatives: dict[str, Cost] = {}
    for count in tried:
        alternatives.setdefault(count.form.name, count.cost)
    alternatives |= {form.name: program.cost for program, form in programs}
    for program, form in sorted(programs, key=lambda staged: staged[0].work(lanes)):
        if not tried or (pays(program, lanes) and program.work(lanes) < tried[0].cost.work):
            on, width, own = [(words, plain)], REGISTERS / lanes, program.work(lanes)
            if tried and limbs and cheapest_in_limbs(function, model, on, width, own, sums=sums):
                break  # a straight line with alike limbs as lanes takes less
            choice = Choice(apply(program, TO_C), form.name, words, alternatives)
            tried_on = subjects(model, axes, sums=sums)
            if limbs and form.swept and lanes > 1:
                return _in_limbs(choice, function, model, tried_on, REGISTERS / lanes, sums)
            return choice
    best, axes = tried[0].form, tried[0].start
    starts = [axes]
    also: list[Candidate] = []
    if best.reduced:
        if axes is not None:
            start, parallel = axes, _parallel_worth(function, tried[0], plainly[axes][1], sums)
            axes = _refined(function, best, model, start, parallel)
            starts.append(axes)
            also = _unturned(function, best, model, start, axes, sums)
        tried += [
            _counted(function, best, model, axes, *subject, sums)
            for subject in subjects(model, axes, sums=sums)
        ]
        tried.sort(key=_operations)
    tried_on = (subject for start in dict.fromkeys(starts) for subject in subjects(model, start, sums=sums))
    if forced == LIMB_LOOPS:
        program, words = smallest_in_limb_loops(function, model, tried_on, sums=sums)
        return Choice(program, LIMB_LOOPS, words, alternatives)
    simple, chosen = _cheapest(function, tried, engine, sums, also)
    if limbs and lanes > 1 and forced in (None, LIMBS):
        most = inf if forced else CLEARLY_FASTER * work(simple.loops[0], 1)
        found = cheapest_in_limbs(function, model, tried_on, REGISTERS / lanes, most, sums=sums)
        if found is not None and (forced or found.by_limb.cost.total <= BATCHES_LOSE * simple.cost.total):
            return Choice(found.by_limb, LIMBS, found.axes, alternatives, found.lanes)
        if forced:
            raise OptionError(
                f"{option('variants', {function.name: LIMBS})}: its straight line has more than {LONGEST} "
                f"operations, for which compilers take long; leave the choice to rbdgen"
            )
    return Choice(apply(simple, ORDER), chosen.form.name, chosen.axes, alternatives)


def _in_limbs(
    choice: Choice,
    function: Function,
    model: Model,
    tried_on: Iterator[tuple[str, ReducedModel]],
    registers: float,
    sums: bool,
) -> Choice:
    """The choice in loops, with alike limbs as lanes in one of the loops if that is clearly faster."""
    before = choice.program
    most = CLEARLY_FASTER * sum(work(loop, 1) for loop in before.loops if loop.count == 1)
    form = function.form(choice.form)
    found = cheapest_loop_in_limbs(before, function, form, model, tried_on, registers, most, sums=sums)
    if found is None or found.by_limb.cost.total > BATCHES_LOSE * before.cost.total:
        return choice
    return replace(choice, program=found.by_limb, axes=found.axes, lanes=found.lanes)


def _starts(function: Function, model: Model, axes: BodyAxes | None) -> list[BodyAxes | None]:
    """Axes with which a search begins.

    Axes found for inverse dynamics are adapted to inertias, which frames and contacts do not have. They also
    differ from the joints' own frames, in which some functions are given.
    """
    if axes is None:
        return [axes]
    own = unmoved(model)
    if function.of_frames or function.of_contacts:
        return [axes, own]
    if function.of_joint_frames:
        pairs = product((axes.turns, own.turns), (axes.slides, own.slides))
        return list(dict.fromkeys(BodyAxes(*pair) for pair in pairs))
    return [axes]


def _refined(
    function: Function, form: Form, model: Model, axes: BodyAxes, parallel: Collection[int]
) -> BodyAxes:
    """The axes that a search finds from these axes, for the function or for the smaller one that stands for
    it.
    """
    measure, measured = function, form
    if function.measure is not None:
        measure, smaller = function.measure
        measured = measure.form(smaller or form.name)
    if measured is CLASSICAL:
        return axes  # they were found for this form
    return search(model, measure, measured, axes, REFINEMENT, parallel)


def choose_tabled(
    function: Function, table: Table, *, engine: str, forced: str | None = None, sums: bool = True
) -> Choice:
    """The cheapest form after the passes if parameters of the robot are inputs.

    All functions share the parameter table, so there is one choice of axes for all. Raises OptionError for a
    form in loops, whose own tables hold plain numbers.
    """
    model = table.reduced.robot
    forms = [form for form in function.forms_for(model) if form.loops is None]
    if forced is not None:
        forms = [function.form_for(model, forced)]
        if forms[0].loops is not None:
            raise OptionError(
                f"{option('variants', {function.name: forced})}: forms in loops store numbers of the robot, "
                f"which {option('params')} turns into inputs; choose another form"
            )
    elif any(form.reduced for form in forms):
        forms = [form for form in forms if form.reduced]
    tried = sorted((_counted_tabled(function, form, table, sums) for form in forms), key=_operations)
    # reverse differentiation needs the graph engine
    simple, chosen = _cheapest(function, tried, "graph" if function.by_parameters else engine, sums)
    alternatives = {count.form.name: count.cost for count in tried}
    return Choice(apply(simple, ORDER), chosen.form.name, chosen.axes, alternatives)


def _counted_tabled(function: Function, form: Form, table: Table, sums: bool) -> Candidate:
    """A form with the operations of its plain trace, on the model for which it is written."""
    subject, axes = (
        (table.reduced, "searched, with a table") if form.reduced else (table.model, "as given, with a table")
    )
    tracer = GraphEngine()
    outputs = trace_on(tracer, subject, function, form, sums=sums, named=False)
    return Candidate(form, subject, axes, tracer.cost(outputs), None)


def _parallel_worth(
    function: Function, plainly: Candidate, plain: ReducedModel, sums: bool
) -> Collection[int]:
    """The bodies of parallel-axis chains, if the form is cheaper with their equations in one frame."""
    parallel = _parallel_bodies(plain) if sums else ()
    if not parallel:
        return ()
    together = operations(plain.with_axes(plain.turns, plain.slides, parallel), function, plainly.form)
    return parallel if together < (1 - CLEARLY) * plainly.cost.total else ()


def gain(straight: Program, other: Program, lanes: int) -> float:
    """The estimated speed of a program with limbs as lanes, or with loops, relative to a straight line."""
    first, *more = other.loops
    if not more and first.kernel.lanes > 1:
        return work(straight.loops[0], 1) / work(first, first.kernel.lanes * REGISTERS / lanes)
    return straight.cost.work / other.work(lanes)


def pays(program: Program, lanes: int) -> bool:
    """Whether the runs of every loop that can share vectors fill one, and the program is not too long for a
    batch.
    """
    shared = (loop for loop in program.loops if loop.vectorisable)
    return not too_long_for_vectors(program) and all(loop.count >= lanes for loop in shared)


def too_long_for_vectors(program: Program) -> bool:
    """Whether its loops are for vectors in one call, and too long for a batch."""
    return program.by_freedom and program.cost.total > LONGEST_FOR_VECTORS


def _unturned(
    function: Function, form: Form, model: Model, start: BodyAxes, found: BodyAxes, sums: bool
) -> list[Candidate]:
    """The axes found, with the turns undone: many a turn saves only negations, which the passes save
    anyway.
    """
    if found.turns == start.turns:
        return []
    slid = BodyAxes(start.turns, found.slides)
    return [_counted(function, form, model, slid, *next(subjects(model, slid, sums=sums)), sums)]


def _cheapest(
    function: Function,
    tried: Sequence[Candidate],
    engine: str,
    sums: bool,
    also: Sequence[Candidate] = (),
) -> tuple[Program, Candidate]:
    """The cheapest program after the passes, among the first candidates and those in `also`."""
    contenders = [*tried[:CONTENDERS], *also] if tried[0].cost.total < LARGE else tried[:1]
    results = []
    for count in contenders:
        traced = trace_graph(count.subject, function, count.form, engine, sums=sums)
        results.append((apply(straight_line(traced), SIMPLIFY), count))
    return min(results, key=lambda result: result[0].cost.total)


def _counted(
    function: Function,
    form: Form,
    model: Model,
    start: BodyAxes | None,
    axes: str,
    reduced: ReducedModel,
    sums: bool,
) -> Candidate:
    """A form with the operations of its plain trace."""
    subject: Subject = reduced if form.reduced else model
    tracer = GraphEngine()
    outputs = trace_on(tracer, subject, function, form, sums=sums, named=False)
    words = axes if form.reduced else "as given"
    return Candidate(form, subject, words, tracer.cost(outputs), start)


def _operations(candidate: Candidate) -> tuple[int, bool]:
    """The sort key of a candidate. Of two equally cheap ones, the one whose axes may be searched comes
    first.
    """
    return candidate.cost.total, not candidate.form.reduced
