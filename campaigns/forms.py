"""Every form of the functions of random robots, as `--variant` forces it, interpreted and partly compiled.

For each robot, functions are drawn, and all forms of each are tried: the textbooks' forms, cheap ones, loops
over bodies and over alike limbs, and limbs as the lanes of vectors. A third of the functions are derivatives
along directions. Some robots have searched axes or packed results, or compute in float. A case is one form of
one function of one robot; a form that is refused for the robot does not count.

The designed program is interpreted, and must agree with the textbook's form on floats at several states: at
rest, without velocity, fast, and random. Errors of up to 1e-9 of the largest element always pass; a larger
one is excused if changes of the inputs by 1e-13 change the right result as much. A quarter of the forms, half
of those that few robots have, and all derivatives along directions are also compiled by gcc, unless they are
too long. Single calls must give the interpreter's bits, and so must batches, except for the sign of a zero;
every element must be written, and nothing beyond.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from support.forms import FunctionForm, run_on_floats
from support.functions import OF_CONFIGURATIONS, OF_TRAJECTORIES, SECOND
from support.limbs import with_limbs

from campaigns.built import KINDS as BUILT
from campaigns.built import random_robot
from campaigns.emitted import Emitted
from campaigns.paths import STATES
from campaigns.verdicts import ALLOWED, ByRobots, Verdict, Verdicts
from rbdgen.emit.package import FunctionSource
from rbdgen.errors import ModelError, OptionError
from rbdgen.functions.differentiated import MODES
from rbdgen.functions.function import Function
from rbdgen.functions.needs import FRAMES
from rbdgen.functions.table import ALL, lookup, rows_of
from rbdgen.graph.programs.run import run as interpreted
from rbdgen.machine import Real
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.design import design_function
from rbdgen.pipeline.request import Request
from rbdgen.selection.axes import BodyAxes, search
from rbdgen.selection.differentiate import Chooser
from rbdgen.signature import SizedArgument

KINDS = {**BUILT, "limbs": "two to four alike limbs, on both bases"}

SIZE = 6000

SMALL = len(KINDS)

CASES = 60
"""The largest number of cases per robot."""

COMPILED = 4
"""One of so many cases is also compiled: one of half as many for functions that few robots have, and all
cases for derivatives along directions.
"""

LARGEST = 12_000
"""The largest estimated number of operations; larger functions are only tried on smaller robots."""

LONGEST = 4_000
"""The largest number of operations of a function that is compiled."""

GOOD = 1e-9

MODES_IN_TURN = ("", "vjp", "", "", "jvp", "", "", "hvp", "")
"""The order in which a function and its derivatives along directions take turns from robot to robot."""

COMMON = [name for name, row in ALL.items() if row.needs in ((), (FRAMES,))]
"""Functions that all robots of this campaign have; others need a floating base, contacts or loops."""

SOONER = 0.3
"""Functions are sorted by a random place, below 1 for common ones, and below this number for all others."""

Array = NDArray[Any]


def _of_robot(seed: int, number: int, traces: Collection[int]) -> Verdicts:
    subject = Subject(seed, number)
    attempts = dict(enumerate(islice(subject.attempts(), max(traces) + 1)))
    short = [attempts[k] for k in traces if k in attempts and attempts[k].is_compiled]
    sources = [(x.source, subject.states(x.row)) for x in short if isinstance(x.source, FunctionSource)]
    emitted = Emitted(subject.robot, subject.real, subject.native, sources)
    compiled = dict(zip(short, emitted.verdicts(), strict=True))

    def verdicts(trace: int) -> Sequence[Verdict]:
        if trace not in attempts or attempts[trace].source is None:
            return []
        attempt = attempts[trace]
        return [attempt.verdict(compiled.get(attempt))]

    return verdicts


CAMPAIGN = ByRobots("forms", KINDS, CASES, 1, _of_robot)
run, run_case = CAMPAIGN.run, CAMPAIGN.run_case


def _covered() -> Mapping[str, Sequence[str]]:
    """The names of all forms of functions, and of their derivatives along directions, by list.

    Functions by parameters are left out, as no robot here has parameters.
    """
    names = [name for name, row in ALL.items() if not row.by_parameters]
    along = [f"{x}_{mode}" for x in names for mode in MODES if _has(f"{x}_{mode}")]
    lists = {"forms of functions": names, "forms of derivatives along directions": along}
    forms = {
        what: [f"{x}-{form.name}" for x in some for form in lookup(x).all_forms]
        for what, some in lists.items()
    }
    compiled = {f"{what}, compiled": [f"{x} compiled" for x in every] for what, every in forms.items()}
    return {**forms, **compiled}


def _has(name: str) -> bool:
    try:
        return bool(lookup(name))
    except OptionError:
        return False


COVERED = _covered()

PLACES = {x: k for k, x in enumerate([x for every in COVERED.values() for x in every])}


class Subject:
    """A robot, with the options that were drawn for it."""

    def __init__(self, seed: int, number: int) -> None:
        self.number = number
        self.kind = list(KINDS)[number % len(KINDS)]
        self.rng = np.random.default_rng([seed, number, 7])
        self.robot = self._robot()
        self.real: Real = "float" if self.rng.random() < 0.5 else "double"
        self.packed = bool(self.rng.random() < 0.25)
        self.native = bool(self.rng.random() < 0.5)
        self.axes: BodyAxes | None = search(self.robot.model) if self.rng.random() < 0.4 else None
        self.seed = int(self.rng.integers(1 << 30))

    def __str__(self) -> str:
        words = [self.kind, self.real, *["packed"] * self.packed, *["searched"] * (self.axes is not None)]
        return ", ".join(words)

    def _robot(self) -> Robot:
        if self.kind != "limbs":
            return random_robot(self.kind, self.rng, most=int(self.rng.choice([1, 1, 2, 3]))).robot()
        limb = [str(x) for x in self.rng.choice(["revolute", "prismatic"], self.rng.integers(1, 4))]
        floating, seed = self.rng.random() < 0.5, int(self.rng.integers(1000))
        base = "floating" if floating else "fixed"
        robot: Robot = with_limbs([limb] * int(self.rng.integers(2, 5)), base, seed)
        return robot

    @property
    def rows(self) -> list[Function]:
        """The functions in a random order, in which those that few robots have tend to come first.

        Some are replaced by their derivatives along directions.
        """
        model, rng = self.robot.model, np.random.default_rng(self.seed)
        names = [*rows_of(model), *SECOND, *OF_CONFIGURATIONS, *OF_TRAJECTORIES]
        places = {x: rng.random() * (1 if self.every(x) in COMMON else SOONER) for x in names}
        rows = [self._row(x) for x in sorted(names, key=places.__getitem__)]
        return [row for row in rows if row.estimate(model) < LARGEST]

    def _row(self, name: str) -> Function:
        """The function or one of its derivatives, which take turns from robot to robot."""
        mode = MODES_IN_TURN[(list(ALL).index(self.every(name)) + self.number) % len(MODES_IN_TURN)]
        along = f"{name}_{mode}"
        return lookup(along if mode and _has(self.every(along)) else name, self.robot.model)

    def every(self, name: str) -> str:
        """The function's name without the suffix of a set of contacts."""
        for chosen in self.robot.model.contact_sets:
            name = name.replace(f"_{chosen.name}", "")
        return name

    def attempts(self) -> Iterator[Attempt]:
        """Yields all forms of the functions, one function after another."""
        for row in self.rows:
            for form in row.all_forms:
                if form.does(self.robot.model):
                    yield Attempt(self, row, form.name)

    @cached_property
    def _states(self) -> dict[str, dict[str, Array]]:
        return {}

    def states(self, row: Function) -> dict[str, Array]:
        """Inputs (STATES, size) of a function: at rest, without velocity, fast, and at random."""
        if row.name not in self._states:
            self._states[row.name] = self._drawn(row)
        return self._states[row.name]

    def _drawn(self, row: Function) -> dict[str, Array]:
        manifold, rng = self.robot.model.manifold, np.random.default_rng(self.seed)
        signature = row.sized(self.robot.model)
        drawn = manifold.random_inputs(signature.inputs, rng, (STATES,))
        inputs = {name: x.reshape(STATES, -1) for name, x in drawn.items()}
        for x in signature.inputs:
            own = inputs[x.name]
            if x.kind == "configuration":
                own[0] = manifold.neutral()
            elif x.kind == "velocity":
                own += 0.1 * np.sign(own)
                own[:2], own[2] = 0, own[2] * 20
            elif x.kind == "nonnegative":
                own += 0.05
        if "active" in inputs:
            inputs["active"] = (rng.random(inputs["active"].shape) < 0.7) * 1.0
        if "q1" in inputs:  # no attitudes half a turn apart, where `difference` is not unique
            q0, v = inputs["q0"], 0.5 * rng.normal(size=(STATES, manifold.nv))
            inputs["q1"] = manifold.integrate(q0, v)
        return inputs

    def right(self, row: Function, inputs: dict[str, Array]) -> list[Array]:
        """The right outputs: of the textbook's form on floats, or of its program for derivatives along
        directions.
        """
        first, model = row.forms_for(self.robot.model)[0], self.robot.model
        if row.differentiated is None:
            with np.errstate(all="ignore"):
                return [*run_on_floats(FunctionForm(row, first), model, inputs)]
        program = Chooser(model, None, "graph").choose(row, first.name).program
        found = interpreted(program, inputs)
        return [found[y.name] for y in row.signature.outputs]


@dataclass(frozen=True, eq=False)
class Attempt:
    """A form of a function of a robot."""

    subject: Subject
    row: Function
    form: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.row.name}, form {self.form}"

    @property
    def label(self) -> str:
        return f"{self.subject.every(self.row.name)}-{self.form}"

    @property
    def is_compiled(self) -> bool:
        """Whether this form is also compiled; forms take turns from robot to robot."""
        own = self.subject.every(self.row.name)
        turns = 1 if self.row.differentiated else COMPILED if own in COMMON else COMPILED // 2
        turn = (PLACES[self.label] + self.subject.number) % turns == 0
        return turn and isinstance(self.source, FunctionSource) and self.source.cost.total < LONGEST

    @cached_property
    def source(self) -> FunctionSource | Exception | None:
        """The function as it is emitted; None if it is refused for this robot; an exception if one was raised
        unexpectedly.
        """
        subject, name = self.subject, self.row.name
        options = Options(
            functions=(name,),
            variants={name: self.form},
            real=subject.real,
            packed=subject.packed,
            engine="graph",
        )
        try:
            return design_function((Request(subject.robot, options), subject.axes, None, {}))
        except (OptionError, ModelError):  # loops over bodies are not possible for every tree
            return None
        except Exception as error:
            return error

    def verdict(self, compiled: Verdict | None) -> Verdict:
        """The verdict on the program, and on the compiled code if there is any.

        The program is compared with the textbook's form.
        """
        if not isinstance(self.source, FunctionSource):
            return Verdict(f"{self}: {self.source!r}", crashed=True)
        found = self._judged(self.source)
        covers = [self.label] if compiled is None else [self.label, f"{self.label} compiled"]
        if compiled is not None and not found.failed:
            found = replace(compiled, ill_conditioned=found.ill_conditioned)
        return replace(found, words=f"{self}: {found.words}", covers=tuple(covers))

    def _judged(self, source: FunctionSource) -> Verdict:
        inputs = self.subject.states(self.row)
        right, effects = self.subject.right(self.row, inputs), None
        programs = [source.program, *([source.lanes] if source.lanes else [])]
        for program in (*programs, *([source.batch] if source.batch else [])):
            found = interpreted(program, inputs)
            for k, y in enumerate(source.signature.outputs):
                ours, theirs = _alike(found[y.name], right[k], y)
                if (words := _zeros(found[y.name], y)) is not None:
                    return Verdict(words, wrong=True)
                scale = np.maximum(abs(theirs).max(axis=1, initial=0), 1.0)
                error = abs(ours - theirs).max(axis=1, initial=0)
                if (error <= GOOD * scale).all():
                    continue
                effects = self._effects(inputs, right) if effects is None else effects
                bad = ~(error <= GOOD * scale + effects[k]) & np.isfinite(theirs).all(axis=1)
                if bad.any():
                    at = int(np.argmax(bad))
                    return Verdict(
                        f"{y.name}: error {error[at]:.1e} of {scale[at]:.1e}, state {at}", wrong=True
                    )
        return Verdict(ill_conditioned=effects is not None)

    def _effects(self, inputs: dict[str, Array], right: Sequence[Array]) -> list[Array]:
        """The effects of small changes of the inputs: for each output, the excused error (states,)."""
        rng = np.random.default_rng(0)
        near = {name: x + 1e-13 * rng.normal(size=x.shape) * (1 + abs(x)) for name, x in inputs.items()}
        changed = self.subject.right(self.row, near)
        return [
            ALLOWED * abs(a - b).reshape(STATES, -1).max(axis=1, initial=0)
            for a, b in zip(changed, right, strict=True)
        ]


def _alike(ours: Array, right: Array, y: SizedArgument) -> tuple[Array, Array]:
    """Both results as (STATES, elements); for a packed output, with only the elements that it has."""
    flat = right.reshape(STATES, -1)
    return ours.reshape(STATES, -1), flat if y.dense is None else flat[:, list(y.nonzero or ())]


def _zeros(ours: Array, y: SizedArgument) -> str | None:
    """Says that an output has elements which are declared to be always 0 and are not; None if it has none."""
    if y.dense is not None or y.nonzero is None:
        return None
    others = np.delete(ours.reshape(STATES, -1), list(y.nonzero), axis=1)
    return f"{y.name}: elements that are always 0 are not" if others.any() else None
