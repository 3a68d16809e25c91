"""Functions of robots whose numbers stay inputs, at values other than those of the file.

For each robot of the kinds below, some parameters are drawn that stay inputs: masses, centres of mass,
inertias, lengths, gravity, damping, friction, springs and rotors, all of a kind or some components. Functions
are designed as for a user, in the chosen form or in one that is drawn. They are evaluated for three sets of
values, each at its own state: values near those of the file, values far from them, and special values (zeros,
equal ones, opposite ones). One function at one set of values is a case.

A result is right if it agrees with the textbook's form for a robot whose description has these values.
`rnea_dparams` and `aba_dparams` are compared with complex steps through inverse and forward dynamics and
their table, and, along a direction, with differences between robots with changed descriptions. Errors of up
to 1e-9 of the largest element always pass; a larger one is excused if changes of the inputs by 1e-13 change
the right result as much.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from support.complex_step import Derivatives
from support.forms import FunctionForm, run_on_floats
from support.functions import OF_TRAJECTORIES, SECOND

from campaigns.anew import described
from campaigns.built import KINDS as ROBOTS
from campaigns.built import random_robot
from campaigns.verdicts import Array, ByRobots, Inputs, Verdict, Verdicts, excuse_of, largest, perturb
from rbdgen.emit.package import FunctionSource
from rbdgen.errors import OptionError
from rbdgen.functions.differentiated import MODES
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup, rows_of
from rbdgen.graph.programs.run import run as interpreted
from rbdgen.model.build import Robot
from rbdgen.model.parameters import Parameter, all_parameters, asked_parameters
from rbdgen.options import Options
from rbdgen.pipeline.design import design_function, design_table, with_update
from rbdgen.pipeline.request import Request
from rbdgen.runtime.sparsity import dense_of
from rbdgen.selection.axes import search

KINDS = ROBOTS

SIZE = 2000

SMALL = 2

ALWAYS = ("rnea_dparams", "aba_dparams", "rnea", "aba")

OTHERS = 4
"""The number of functions that are drawn for each robot, in addition to `ALWAYS`."""

SETS = ("near", "far", "special")

LARGEST = 8_000
"""The largest estimated number of operations; larger functions are only tried on smaller robots."""

GOOD = 1e-9

NEVER_NEGATIVE = ("damping", "friction", "stiffness", "armature")

STENCIL = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))


def _of_robot(seed: int, number: int, traces: Collection[int]) -> Verdicts:
    subject = Subject(seed, number, traces)
    return lambda trace: list(subject.verdicts(subject.names[trace]))


CAMPAIGN = ByRobots("parameters", KINDS, len(ALWAYS) + OTHERS, len(SETS), _of_robot)
run, run_case = CAMPAIGN.run, CAMPAIGN.run_case


@dataclass(frozen=True)
class Values:
    """The parameters, and their values p (sets, parameters)."""

    parameters: Sequence[Parameter]
    p: Array

    def named(self, k: int, change: Array | float = 0.0) -> dict[str, float]:
        """The values of set k by name, plus this change."""
        names = [parameter.name for parameter in self.parameters]
        return dict(zip(names, (self.p[k] + change).tolist(), strict=True))


class Subject:
    """A robot with drawn parameters, its functions with these numbers, and robots with changed values."""

    def __init__(self, seed: int, number: int, traces: Collection[int]) -> None:
        self.kind = list(KINDS)[number % len(KINDS)]
        rng = np.random.default_rng([seed, number, 1])
        self.recipe = random_robot(self.kind, rng, most=int(rng.choice([1, 2, 3])))
        self.robot = self.recipe.robot()
        self.asked = drawn(self.robot, rng)
        # with other lengths, loops may have no position in which they are closed
        near = ("xyz",) if self.kind == "closed_loops" else ()
        self.values = some_values(asked_parameters(self.robot, self.asked), rng, near)
        self.names = [*ALWAYS, *self._others(rng)]
        self.forms = {name: self._form(name, rng) for name in self.names[len(ALWAYS) :]}
        order = rng.permutation(len(self.names))
        self.names = [self.names[k] for k in order]
        self.rng = rng
        self.sources: dict[str, FunctionSource] = {}
        self._design(traces, savings=bool(rng.random() < 0.6), lean=bool(rng.random() < 0.5))
        self.changed = [described(self.recipe, self.values.named(k)) for k in range(len(SETS))]
        self.inputs = self._states()

    def _others(self, rng: np.random.Generator) -> list[str]:
        model = self.robot.model
        names = [*rows_of(model), *SECOND, *OF_TRAJECTORIES]
        names = [
            name
            for name in names
            if name not in ALWAYS
            and lookup(name, model).basis is None
            and lookup(name, model).estimate(model) < LARGEST
        ]
        chosen = [str(name) for name in rng.permutation(names)[:OTHERS]]
        packed = [any(y.packed for y in lookup(x, model).signature.outputs) for x in chosen]
        return [
            x if whole or rng.random() < 0.8 else f"{x}_{rng.choice(list(MODES)[:2])}"
            for x, whole in zip(chosen, packed, strict=True)
        ]

    def _form(self, name: str, rng: np.random.Generator) -> str | None:
        forms = lookup(name, self.robot.model).forms_for(self.robot.model)
        straight = [form.name for form in forms if form.loops is None]
        return str(rng.choice(straight)) if rng.random() < 0.6 else None

    def _design(self, traces: Collection[int], *, savings: bool, lean: bool) -> None:
        """Designs the functions as for a user; a derivative that is always 0 is replaced by its function.

        If `lean`, the table only has the columns that the functions read, as on small machines.
        """
        names = {k: self.names[k] for k in traces}
        variants = {name: form for name, form in self.forms.items() if form is not None}
        options = Options(
            functions=tuple(self.names), params=self.asked, variants=variants, engine="graph", savings=savings
        )
        axes = search(self.robot.model) if savings else None
        table = design_table(Request(self.robot, options), axes)

        def designed(name: str) -> FunctionSource:
            own = {of: form for of, form in variants.items() if of == name}
            alone = replace(options, functions=(name,), variants=own)
            return design_function((Request(self.robot, alone), axes, table, {}))

        made: dict[str, FunctionSource] = {}
        for k, name in names.items():
            try:
                made[name] = designed(name)
            except OptionError as error:
                if "constant; leave it out" not in str(error):
                    raise
                self.names[k] = name.rpartition("_")[0]
                made[self.names[k]] = designed(self.names[k])
            if name.endswith("_dparams"):
                of = name.removesuffix("_dparams")
                made[of] = made.get(of) or designed(of)
        *functions, update = with_update(list(made.values()), table, lean=lean)
        self.sources = dict(zip(made, functions, strict=True)) | {"update": update}

    def _states(self) -> Inputs:
        """Draws a state for every set of values: arrays (sets, size) by name."""
        model = self.robot.model
        sized = {x.name: x for name in self.names for x in lookup(name, model).sized(model, 1).inputs}
        drawn = model.manifold.random_inputs(sized.values(), self.rng, (len(SETS),))
        inputs = {name: x.reshape(len(SETS), -1) for name, x in drawn.items()}
        for name, x in sized.items():
            if x.kind == "velocity":
                inputs[name] = inputs[name] + 0.1 * np.sign(inputs[name])
            elif x.kind == "nonnegative":
                inputs[name] = inputs[name] + 0.05
        if "active" in inputs:
            inputs["active"] = (self.rng.random(inputs["active"].shape) < 0.7) * 1.0
        return {**inputs, "p": self.values.p}

    def outputs(self, name: str, inputs: Mapping[str, NDArray[np.generic]]) -> list[NDArray[Any]]:
        """The outputs of the function as dense arrays (states, size); p is one of the inputs."""
        (table,) = interpreted(self.sources["update"].program, {"p": inputs["p"]}).values()
        source = self.sources[name]
        given = {**inputs, "table": table}
        found = interpreted(source.program, {x.name: given[x.name] for x in source.signature.inputs})
        return [dense_of(y, found[y.name]).reshape(len(inputs["p"]), -1) for y in source.signature.outputs]

    def right(self, name: str, inputs: Inputs) -> list[Array]:
        """The right outputs (states, size), from robots whose descriptions have the values."""
        rows = []
        for k, robot in enumerate(self.changed):
            state = {x: values[k : k + 1] for x, values in inputs.items()}
            row = lookup(name, robot.model)
            rows.append([y.reshape(1, -1) for y in _textbook(row, robot, state)])
        return [np.concatenate(parts) for parts in zip(*rows, strict=True)]

    def verdicts(self, name: str) -> Iterator[Verdict]:
        """Yields one verdict for each set of values."""
        ours = self.outputs(name, self.inputs)
        slopes = name.endswith("_dparams")
        right = self.slopes(name, self.inputs) if slopes else self.right(name, self.inputs)
        excuse = None
        for k in range(len(SETS)):
            pairs = list(zip(ours, right, strict=True))
            worst = max(largest(x[k] - y[k]) for x, y in pairs)
            scale = max(largest(y[k]) for _, y in pairs)
            what = f"{self.kind}, {name}, form {self.sources[name].form}, {SETS[k]} {' '.join(self.asked)}"
            if slopes and (off := self._off_differences(name, ours[0], k)) is not None:
                yield Verdict(f"{what}: off differences by {off:.1e}", wrong=True)
            elif worst <= GOOD * max(scale, 1.0):
                yield Verdict()
            else:
                excuse = self._excuse(name, right) if excuse is None else excuse
                excused = worst <= GOOD * max(scale, 1.0) + excuse[k] or not np.isfinite(scale)
                words = f"{what}: error {worst:.1e} of {scale:.1e}, {excuse[k]:.1e} excused"
                yield Verdict(ill_conditioned=True) if excused else Verdict(words, wrong=True)

    def _excuse(self, name: str, right: Sequence[Array]) -> Array:
        rng = np.random.default_rng(0)
        inputs = perturb(self.inputs, rng)
        changed = self.slopes(name, inputs) if name.endswith("_dparams") else self.right(name, inputs)
        sets = range(len(SETS))
        return np.array([excuse_of([x[k] for x in changed], [y[k] for y in right]) for k in sets])

    def slopes(self, name: str, inputs: Inputs) -> list[Array]:
        """The derivatives of the function by every parameter, by complex steps through its table."""
        of, count, h = name.removesuffix("_dparams"), inputs["p"].shape[1], 1e-40
        every = np.repeat(np.eye(count), len(SETS), axis=0)
        tiled = {x: np.tile(y, (count, 1)) + 0j for x, y in inputs.items()}
        (y,) = self.outputs(of, {**tiled, "p": tiled["p"] + 1j * h * every})
        rates = y.imag.reshape(count, len(SETS), -1) / h
        return [np.moveaxis(rates, 0, -1).reshape(len(SETS), -1)]

    def _off_differences(self, name: str, ours: Array, k: int) -> float | None:
        """The error of derivatives along a direction, compared with differences; None if it is small."""
        of, p = name.removesuffix("_dparams"), self.values.p[k]
        way = np.random.default_rng(k).normal(size=len(p)) * np.maximum(np.abs(p), 1e-3)
        way[
            [
                x.kind in NEVER_NEGATIVE and value == 0
                for x, value in zip(self.values.parameters, p, strict=True)
            ]
        ] = 0
        state = {x: values[k : k + 1] for x, values in self.inputs.items()}
        found: list[Array] = []
        for width in (1e-3, 5e-4):
            parts = []
            for step, weight in STENCIL:
                robot = described(self.recipe, self.values.named(k, step * width * way))
                (y,) = _textbook(lookup(of, robot.model), robot, state)
                parts.append(weight / width * y.ravel())
            found.append(np.sum(parts, axis=0))
        error = largest(ours[k].reshape(-1, len(p)) @ way - found[1])
        good = 1e-6 * max(largest(found[1]), 1e-3) + 10 * largest(found[0] - found[1])
        return None if error <= good or not np.isfinite(good) else error


def _textbook(row: Function, robot: Robot, state: Inputs) -> list[Array]:
    made = row.differentiated
    if made is not None:
        exact = Derivatives(robot.model, made.of, made.by)
        return [*(exact.rates(state) if made.mode == "jvp" else exact.gradients(state))]
    return [*run_on_floats(FunctionForm(row, row.forms_for(robot.model)[0]), robot.model, state)]


# ---- random parameters and values


def drawn(robot: Robot, rng: np.random.Generator) -> tuple[str, ...]:
    """Draws names of parameters: patterns of some kinds, single components, or both."""
    known = [x for x in all_parameters(robot) if x.linear is None]  # those that the C has
    kinds = list(dict.fromkeys(x.kind for x in known))
    inertial = ("ten",) if rng.random() < 0.4 else ("mass", "com", "inertia")
    chosen: list[str] = []
    for kind in kinds:
        of_links = kind in ("mass", "com", "inertia", "ten")
        if (of_links and kind not in inertial) or rng.random() < 0.5:
            continue
        some = [x for x in known if x.kind == kind]
        single = [some[i].name for i in rng.permutation(len(some))[:2]]
        every = "gravity" if kind == "gravity" else f"{kind}:*"
        whole = any(x.default != 0 for x in some) and rng.random() < 0.6
        chosen += [every] if whole else single
    return tuple(chosen) or ("mass:*",)


def some_values(
    parameters: Sequence[Parameter], rng: np.random.Generator, near: Collection[str] = ()
) -> Values:
    """Draws the sets of values: near the defaults, far from them, and special ones.

    Parameters that must be positive stay positive, and those of the kinds `near` stay near the defaults.
    """
    rows = [[_value(x, "near" if x.kind in near else name, rng) for x in parameters] for name in SETS]
    return Values(parameters, np.array(rows))


def _value(x: Parameter, of: str, rng: np.random.Generator) -> float:
    """Draws a value. Masses and moments of inertia grow and products of inertia shrink, so that inertias stay
    physical.
    """
    moment = x.kind in ("inertia", "ten") and x.component[-2:] in ("xx", "yy", "zz")
    first = x.kind == "ten" and x.component in ("mx", "my", "mz")
    product = x.kind in ("inertia", "ten") and not moment and x.component != "m"
    positive = moment or x.kind == "mass" or x.component == "m"
    shrinking = product or first
    if of == "near":
        return x.default * float(rng.uniform(1, 1.1) if positive else rng.uniform(0.9, 1))
    if positive:
        return x.default * float(rng.choice([1, 3, 40]) if of == "far" else 1)
    if shrinking:
        return x.default * float(rng.uniform(-0.5, 0.5) if of == "far" else rng.choice([0, 1, -1]))
    if x.kind in NEVER_NEGATIVE:
        return float(rng.uniform(0, 3)) if of == "far" else float(rng.choice([0, x.default, 1]))
    return float(rng.uniform(-3, 3)) if of == "far" else float(rng.choice([0, -x.default, 0.5]))
