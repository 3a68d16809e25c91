"""Derivatives along directions, NAME_vjp, NAME_jvp and NAME_hvp, of all functions on random robots.

Three functions are drawn for each robot of the kinds below, with three derivatives each, in the tangent space
or in coordinates, in a form that is drawn or in the cheapest one. Each derivative is judged at three states:
a random one, a special one (at rest, at right angles, along unit directions, from a configuration to itself),
and a fast one with angles of many turns. One derivative of one function at one state is a case.

The judge differentiates the textbook's form of the function by complex steps, which lose no digits; for
NAME_hvp it takes differences of such gradients. In addition, NAME_vjp must be the transpose of NAME_jvp, up
to 1e-9 of the terms of the sums that are compared. Errors of up to 1e-9 of the largest element always pass
(1e-7 for NAME_hvp). A larger error is excused if changes of the inputs by 1e-13 change the right result as
much, or if differences with two step widths differ as much. A closed loop in a singular configuration is an
example.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from support.complex_step import Derivatives
from support.functions import OF_CONFIGURATIONS, OF_TRAJECTORIES

from campaigns.built import KINDS as ROBOTS
from campaigns.built import random_robot
from campaigns.verdicts import ALLOWED, Array, ByRobots, Inputs, Verdict, Verdicts, largest, perturb
from rbdgen.errors import OptionError
from rbdgen.functions.differentiated import MODES, in_coordinates
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup, rows_of
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.run import run as interpreted
from rbdgen.selection.axes import search
from rbdgen.selection.differentiate import Chooser
from rbdgen.signature import BAR, DOT

KINDS = ROBOTS

SIZE = 10_000

SMALL = 2

STATES = ("random", "special", "fast")

FUNCTIONS = 3
"""The number of functions that are drawn for each robot."""

LARGEST = 8_000
"""The largest estimated number of operations; larger functions are only tried on smaller robots."""

CHEAPEST = 0.15
"""The share of cases in which the cheapest form is taken, as for a user, in place of a drawn one."""

GOOD = {"vjp": 1e-9, "jvp": 1e-9, "hvp": 1e-7}

TRANSPOSED = 1e-9
"""The tolerance of the sums y_bar . y_dot and x_bar . x_dot, relative to the sizes of their terms."""


def _of_robot(seed: int, number: int, traces: Collection[int]) -> Verdicts:
    del traces
    subject = Subject(seed, number)
    return lambda trace: list(subject.attempt(*subject.drawn[trace]).verdicts())


CAMPAIGN = ByRobots("directions", KINDS, FUNCTIONS * len(MODES), len(STATES), _of_robot)
run, run_case = CAMPAIGN.run, CAMPAIGN.run_case


class Subject:
    """A robot, with the functions and forms that were drawn for it."""

    def __init__(self, seed: int, number: int) -> None:
        self.seed, self.number = seed, number
        self.kind = list(KINDS)[number % len(KINDS)]
        rng = np.random.default_rng([seed, number])
        self.model = random_robot(self.kind, rng, most=int(rng.choice([1, 2, 2, 3]))).robot().model
        names = [*rows_of(self.model), *OF_CONFIGURATIONS, *OF_TRAJECTORIES]
        names = [x for x in names if lookup(x, self.model).estimate(self.model) < LARGEST]
        self.names = [str(name) for name in rng.permutation(names)[:FUNCTIONS]]
        axes = search(self.model) if rng.random() < 0.3 else None
        self.chooser = Chooser(self.model, axes, "graph")
        self.coordinates = rng.random(FUNCTIONS) < 0.25
        self.draws = rng.random((FUNCTIONS, len(MODES)))
        traces = [(function, mode) for function in range(FUNCTIONS) for mode in MODES]
        self.drawn = [traces[k] for k in rng.permutation(len(traces))]
        self._programs: dict[tuple[str, bool, str | None], Program | None] = {}

    def attempt(self, function: int, mode: str) -> Attempt:
        coordinates = bool(self.coordinates[function])
        row = lookup(f"{self.names[function]}_{mode}", self.model)
        forms = [form.name for form in row.forms_for(self.model)]
        drawn = self.draws[function, list(MODES).index(mode)]
        form = None if drawn < CHEAPEST else forms[int((drawn - CHEAPEST) / (1 - CHEAPEST) * len(forms))]
        return Attempt(self, in_coordinates(row) if coordinates else row, mode, form, coordinates)

    def outputs(self, row: Function, form: str | None, inputs: Inputs) -> list[Array]:
        """Computes a derivative: arrays (states, size); zeros if rbdgen refuses it because it is always 0."""
        key = row.name, bool(row.differentiated and row.differentiated.coordinates), form
        if key not in self._programs:
            try:
                self._programs[key] = self.chooser.choose(row, form).program
            except OptionError as error:
                if "its results are 0" not in str(error):
                    raise
                self._programs[key] = None
        program, signature = self._programs[key], row.sized(self.model)
        if program is None:
            return [np.zeros((len(STATES), y.size)) for y in signature.outputs]
        found = interpreted(program, {x.name: inputs[x.name] for x in signature.inputs})
        return [found[y.name].reshape(len(STATES), -1) for y in signature.outputs]


@dataclass(frozen=True)
class Attempt:
    """One derivative of a function of a robot, at all states."""

    subject: Subject
    row: Function
    mode: str
    form: str | None
    coordinates: bool

    def __str__(self) -> str:
        return f"{self.row.name}{' in coordinates' * self.coordinates}, form {self.form or 'chosen'}"

    def verdicts(self) -> Iterator[Verdict]:
        """Yields one verdict for each state."""
        inputs = self.inputs
        ours = self.subject.outputs(self.row, self.form, inputs)
        right, errors = self._right(inputs)
        turned = self._transposed(ours) if self.mode == "vjp" else np.zeros(len(STATES))
        excuse = None
        for k, state in enumerate(STATES):
            worst = max(largest(x[k] - y[k]) for x, y in zip(ours, right, strict=True))
            scale = max(largest(y[k]) for y in right)
            size = max(scale, 1.0)
            if worst <= GOOD[self.mode] * size and turned[k] <= TRANSPOSED:
                yield Verdict()
                continue
            excuse = self._excuse(inputs, right, errors) if excuse is None else excuse
            if not np.isfinite(scale):
                yield Verdict(ill_conditioned=True)
            elif not worst <= GOOD[self.mode] * size + excuse[k]:
                words = f"{self}, {state}: error {worst:.1e} of {scale:.1e}, {excuse[k]:.1e} excused"
                yield Verdict(words, wrong=True)
            elif turned[k] > TRANSPOSED + excuse[k] / size:
                words = f"{self}, {state}: not transposed to the rates, {turned[k]:.1e}"
                yield Verdict(words, wrong=True)
            else:
                yield Verdict(ill_conditioned=True)

    def _excuse(self, inputs: Inputs, right: Sequence[Array], errors: Sequence[Array]) -> Array:
        """The excused error (states,): the effect of a small change of the inputs, and the estimated error of
        differences.
        """
        rng = np.random.default_rng(0)
        changed, _ = self._right(perturb(inputs, rng))
        effects = [abs(a - b) for a, b in zip(changed, right, strict=True)]
        found = [
            max(
                ALLOWED * largest(effect[k]) + 10 * largest(error[k])
                for effect, error in zip(effects, errors, strict=True)
            )
            for k in range(len(STATES))
        ]
        return np.array(found)

    def _right(self, inputs: Inputs) -> tuple[list[Array], list[Array]]:
        """Computes the right values, and estimates of their own errors."""
        made = self.row.differentiated
        assert made is not None
        exact = Derivatives(self.subject.model, made.of, made.by, self.coordinates)
        if self.mode == "hvp":
            found, errors = exact.gradient_rates(inputs)
            return found, errors
        found = exact.rates(inputs) if self.mode == "jvp" else exact.gradients(inputs)
        return found, [0 * x for x in found]

    def _transposed(self, bars: Sequence[Array]) -> Array:
        """The difference of y_bar . y_dot and x_bar . x_dot, relative to the sums of their terms."""
        made = self.row.differentiated
        assert made is not None
        jvp = self.subject.attempt(self.subject.names.index(made.of.name), "jvp")
        rates = self.subject.outputs(jvp.row, jvp.form, self.inputs)
        weights = [self.inputs[y.name + BAR] for y in made.of.signature.outputs]
        moves = [self.inputs[x.name + DOT] for x in made.by]
        terms = [
            np.hstack([a * b for a, b in zip(*pair, strict=True)])
            for pair in ((weights, rates), (bars, moves))
        ]
        size = sum(np.abs(x).sum(axis=1) for x in terms) + 1.0
        difference = np.abs(terms[0].sum(axis=1) - terms[1].sum(axis=1)) / size
        return np.where(np.isfinite(difference), difference, 0.0)

    @cached_property
    def inputs(self) -> Inputs:
        """Draws three states of all inputs of the function, with weights and rates."""
        made = self.row.differentiated
        assert made is not None
        model, subject = self.subject.model, self.subject
        index = subject.names.index(made.of.name)
        rng = np.random.default_rng([subject.seed, subject.number, index])
        rows = [subject.attempt(index, mode).row for mode in MODES]
        sized = {x.name: x for row in rows for x in row.sized(model).inputs}
        drawn = model.manifold.random_inputs(sized.values(), rng, (len(STATES),))
        inputs = {name: x.reshape(len(STATES), -1) for name, x in drawn.items()}
        for name, x in sized.items():
            own = inputs[name]
            if x.kind == "velocity":
                own += 0.1 * np.sign(own)
                own[1] *= rng.random() < 0.5 or subject.kind in ("exact_friction",)
                own[2] *= 20
            elif x.kind == "configuration":
                own[1], own[2] = self._special(own[1], rng), self._far(own[2])
            elif x.kind == "nonnegative":
                own += 0.05
            elif name.endswith((BAR, DOT)):
                own[1] = np.eye(own.shape[1])[rng.integers(own.shape[1])] if own.size else own[1]
        if "active" in inputs:
            inputs["active"] = (rng.random(inputs["active"].shape) < 0.7) * 1.0
        if "q1" in inputs:
            inputs["q1"][1] = inputs["q0"][1]
        return inputs

    def _special(self, q: Array, rng: np.random.Generator) -> Array:
        """Draws multiples of a right angle for all angles, or, in half of the cases, takes neutral ones."""
        neutral = self.subject.model.manifold.neutral()
        if rng.random() < 0.5:
            return neutral
        turned = list(self.subject.model.manifold.angles)
        neutral[turned] = rng.integers(-2, 3, len(turned)) * np.pi / 2
        return neutral

    def _far(self, q: Array) -> Array:
        """The configuration with all angles times 10, so that they are many turns."""
        q = q.copy()
        q[list(self.subject.model.manifold.angles)] *= 10
        return q
