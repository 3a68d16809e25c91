"""Count and choose: trace a function in several forms and axes, and keep the cheapest.

Forms are listed in the rows of the catalogue. The cheap ones are traced in the axes that the search found,
with the equations of parallel-axis chains in one frame or in several, and with different lengths as the unit.
Forms in loops are compared with the cheapest straight line if neighbouring runs can share a vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from rbdgen.errors import OptionError
from rbdgen.functions.form import LIMB_LOOPS, LIMBS, Form
from rbdgen.functions.function import Function
from rbdgen.graph.cost import Cost
from rbdgen.graph.engine import GraphEngine
from rbdgen.graph.programs.lanes import work
from rbdgen.graph.programs.passes import ORDER, SIMPLIFY, TO_C, apply
from rbdgen.graph.programs.program import Program, straight_line
from rbdgen.model.alike_limbs import limbs_in_lanes
from rbdgen.model.angles import ZERO_ANGLE
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.selection.axes import CLASSICAL, BodyAxes, operations, search, unmoved
from rbdgen.selection.choice import Choice, faster_by_limbs
from rbdgen.selection.collection import collection_paused
from rbdgen.selection.limb_loops import smallest_in_limb_loops
from rbdgen.selection.limbs import LONGEST, InLimbs, cheapest_in_limbs, cheapest_loop_in_limbs
from rbdgen.selection.limits import LIMITS
from rbdgen.selection.parameter_table import Table
from rbdgen.selection.trace import Subject, trace_graph, trace_on, trace_program
from rbdgen.selection.vectors import fills_vectors, work_in_loops
from rbdgen.wording import option


@dataclass(frozen=True)
class Candidate:
    """One way to trace a function, and the cost of its plain trace."""

    form: Form
    subject: Subject
    axes: str
    """The choice of axes, in words."""
    cost: Cost
    start: BodyAxes | None
    """The axes with which a further search begins."""


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
    least = max(LIMITS.least_unit * max(lengths), LIMITS.least_unit)
    counts = Counter(round(length, 12) for length in lengths if length > least)
    return sorted(counts, key=lambda length: (-counts[length], length))[: LIMITS.tried_lengths]


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
    registers: float = LIMITS.registers,
    limbs: bool = True,
    apart: bool = False,
) -> Choice:
    """The cheapest form after the passes. Raises OptionError for an unknown form.

    Forms are counted in up to four sets of axes; the cheapest form then gets a search of its own and is
    counted on all models of `subjects`. Forms for size are chosen only if forced.

    `axes` are those that the search found, or None to keep the model's own. `forced` names the form to take.
    `sums` is that of `subjects`. `lanes` is the number of values of a vector that neighbouring runs of a loop
    may share (1 for none), and `registers` the number of registers that this vector fills. `limbs` says
    whether alike limbs may be the lanes of vectors. `apart` says whether batches may have a program of their
    own.
    """
    return _Choosing(function, model, axes, engine, forced, sums, lanes, registers, limbs, apart).choice()


@dataclass(frozen=True)
class _Choosing:
    """One choice: the arguments of `choose`, and the steps by which it is made."""

    function: Function
    model: Model
    axes: BodyAxes | None
    engine: str
    forced: str | None
    sums: bool
    lanes: int
    registers: float
    limbs: bool
    apart: bool

    def choice(self) -> Choice:
        """The cheapest form: count straight lines, compare with loops, search axes for the best line."""
        starts = _starts(self.function, self.model, self.axes)
        plainly = {start: next(self._subjects(start)) for start in starts}
        tried = self._counted_lines(plainly)
        alternatives: dict[str, Cost] = {}
        for count in tried:
            alternatives.setdefault(count.form.name, count.cost)
        looped = self._in_loops(*plainly[self.axes], tried, alternatives)
        if looped is None:
            return self._in_a_line(plainly, tried, alternatives)
        if not self.apart or not tried or tried[0].cost.total > LIMITS.longest_apart:
            return looped
        line = replace(self, limbs=False)._in_a_line(plainly, tried, alternatives, searched=False)
        return replace(looped, apart=line.program)

    def _forms(self) -> list[Form]:
        if self.forced is not None:
            return [self.function.form_for(self.model, self.forced)]
        return [form for form in self.function.forms_for(self.model) if not form.for_size]

    def _subjects(self, axes: BodyAxes | None) -> Iterator[tuple[str, ReducedModel]]:
        return subjects(self.model, axes, sums=self.sums)

    def _counted(self, form: Form, start: BodyAxes | None, subject: tuple[str, ReducedModel]) -> Candidate:
        """A form with the operations of its plain trace."""
        words, reduced = subject
        on: Subject = reduced if form.reduced else self.model
        tracer = GraphEngine()
        outputs = trace_on(tracer, on, self.function, form, sums=self.sums, named=False)
        return Candidate(form, on, words if form.reduced else "as given", tracer.cost(outputs), start)

    def _counted_lines(self, plainly: Mapping[BodyAxes | None, tuple[str, ReducedModel]]) -> list[Candidate]:
        """The straight lines in the first axes, the cheapest first."""
        tried = [
            self._counted(form, start, subject)
            for start, subject in plainly.items()
            for form in self._forms()
            if form.loops is None and (form.reduced or start == self.axes)
        ]
        return sorted(tried, key=_operations)

    def _in_loops(
        self, words: str, plain: ReducedModel, tried: Sequence[Candidate], alternatives: dict[str, Cost]
    ) -> Choice | None:
        """The form in loops that takes the least work, if it takes less than all straight lines.

        The costs of all forms in loops are added to `alternatives`.
        """
        if self.lanes == 1 and self.forced is None:
            return None
        programs = [
            (trace_program(plain, self.function, form, self.engine, sums=self.sums), form)
            for form in self._forms()
            if form.loops is not None
        ]
        alternatives |= {form.name: program.cost for program, form in programs}
        choices = [self._with_limbs(Choice(program, form.name, words), form) for program, form in programs]
        faster = [
            choice
            for choice, (_, form) in zip(choices, programs, strict=True)
            if not tried
            or (
                fills_vectors(choice.program, self.lanes, limbs=choice.lanes is not None)
                and self._work(choice) < form.most_work * tried[0].cost.work
            )
        ]
        if not faster:
            return None
        best = min(faster, key=self._work)
        if tried and self.limbs and self._over_limbs(iter([(words, plain)]), self._work(best)):
            return None  # a straight line with alike limbs as lanes takes less
        program = best.program if best.lanes else apply(best.program, TO_C)
        return replace(best, program=program, alternatives=alternatives)

    def _with_limbs(self, choice: Choice, form: Form) -> Choice:
        """The choice in loops, with alike limbs as lanes in one of the loops if that is clearly faster."""
        before, on, sums = choice.program, self._subjects(self.axes), self.sums
        if self.lanes == 1 or not self.limbs or not form.can_use_limbs or self._too_long(before):
            return choice
        most = LIMITS.most_work * sum(work(loop, 1) for loop in before.loops if loop.count == 1)
        found = cheapest_loop_in_limbs(
            before, self.function, form, self.model, on, self._registers, most, sums=sums
        )
        if found is None or found.by_limb.cost.total > LIMITS.most_batch_loss * before.cost.total:
            return choice
        return replace(choice, program=found.by_limb, axes=found.axes, lanes=found.lanes)

    def _too_long(self, program: Program) -> bool:
        """Whether a straight line of the program would be too long even if all its operations had lanes."""
        lanes = max((limbs.lanes for limbs in limbs_in_lanes(self.model)), default=0)
        return any(loop.count == 1 and len(loop.kernel) > LONGEST * lanes for loop in program.loops)

    def _work(self, choice: Choice) -> float:
        """The work of the program that single calls run."""
        return work_in_loops(choice.lanes or choice.program, self.lanes, self.registers)

    @property
    def _registers(self) -> float:
        """The number of registers that a value takes per lane."""
        return self.registers / self.lanes

    def _over_limbs(self, on: Iterator[tuple[str, ReducedModel]], most: float) -> InLimbs | None:
        """The straight line with alike limbs as lanes that takes the least work, if that is at most
        `most`.
        """
        return cheapest_in_limbs(self.function, self.model, on, self._registers, most, sums=self.sums)

    def _in_a_line(
        self,
        plainly: Mapping[BodyAxes | None, tuple[str, ReducedModel]],
        tried: list[Candidate],
        alternatives: dict[str, Cost],
        *,
        searched: bool = True,
    ) -> Choice:
        """The cheapest straight line after a search for its axes, over alike limbs if that is faster.

        `searched` says whether there is a search. It takes half of the time of the choice, and saves a line
        for batches alone less than one per cent of its operations.
        """
        best, start = tried[0].form, tried[0].start
        starts, also = [start], list[Candidate]()
        if best.reduced:
            if start is not None and searched:
                parallel = _parallel_worth(self.function, tried[0], plainly[start][1], self.sums)
                found = _refined(self.function, best, self.model, start, parallel)
                starts.append(found)
                also = self._unturned(best, start, found)
            tried += [self._counted(best, starts[-1], subject) for subject in self._subjects(starts[-1])]
            tried.sort(key=_operations)
        tried_on = (subject for axes in dict.fromkeys(starts) for subject in self._subjects(axes))
        if self.forced == LIMB_LOOPS:
            program, words = smallest_in_limb_loops(self.function, self.model, tried_on, sums=self.sums)
            return Choice(program, LIMB_LOOPS, words, alternatives)
        simple, chosen = _cheapest(self.function, tried, self.engine, self.sums, also)
        line = Choice(simple, chosen.form.name, chosen.axes, alternatives, tried=tuple(starts))
        if self.limbs and self.lanes > 1 and self.forced in (None, LIMBS):
            find = partial(self._over_limbs, tried_on)
            faster = faster_by_limbs(line, find, self.function, self.forced, apart=self.apart)
            if faster is not None:
                return faster if faster.apart is None else replace(faster, apart=apply(simple, ORDER))
        return replace(line, program=apply(simple, ORDER))

    def _unturned(self, form: Form, start: BodyAxes, found: BodyAxes) -> list[Candidate]:
        """The candidate with the slides that were found and the turns of the start. Many turns save only
        negations, which the passes save anyway.
        """
        if found.turns == start.turns:
            return []
        slid = BodyAxes(start.turns, found.slides)
        return [self._counted(form, slid, next(self._subjects(slid)))]


def _starts(function: Function, model: Model, axes: BodyAxes | None) -> list[BodyAxes | None]:
    """Axes with which a search begins.

    Axes found for inverse dynamics are adapted to inertias, which frames and contacts do not have. They also
    differ from the joints' own frames, in which some functions are given.
    """
    if axes is None:
        return [axes]
    own = unmoved(model)
    if function.composition is not None and function.measure is not None:
        function, _ = function.measure
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
    return search(model, measure, measured, axes, LIMITS.refinement, parallel)


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
    return parallel if together < (1 - LIMITS.least_gain) * plainly.cost.total else ()


def _cheapest(
    function: Function,
    tried: Sequence[Candidate],
    engine: str,
    sums: bool,
    also: Sequence[Candidate] = (),
) -> tuple[Program, Candidate]:
    """The cheapest program after the passes, among the first candidates and those in `also`."""
    contenders = [*tried[: LIMITS.contenders], *also] if tried[0].cost.total < LIMITS.large else tried[:1]
    results = []
    for count in {(count.form.name, count.start, count.axes): count for count in contenders}.values():
        traced = trace_graph(count.subject, function, count.form, engine, sums=sums)
        results.append((apply(straight_line(traced), SIMPLIFY), count))
    return min(results, key=lambda result: result[0].cost.total)


def _operations(candidate: Candidate) -> tuple[int, bool]:
    """The sort key of a candidate. Of two equally cheap ones, the one whose axes may be searched comes
    first.
    """
    return candidate.cost.total, not candidate.form.reduced
