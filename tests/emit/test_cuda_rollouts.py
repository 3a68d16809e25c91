"""Kernels of integration steps repeat them, with the bits of single steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.carts import cart_with_a_ball
from support.cuda import STATES, Array, OnCpu, interpreted, same_bits
from support.hopper import hopper
from support.own import ARM, motor_step
from support.web import states_of

import rbdgen
from rbdgen.emit.cuda import stages
from rbdgen.emit.package import FunctionSource, Sources
from rbdgen.emit.render import render
from rbdgen.emit.tools import Kernels
from rbdgen.options import Options
from rbdgen.pipeline.compilation import style
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.request import Request

STEPS = 4

CASES: Mapping[str, tuple[Callable[[], rbdgen.Robot], str, Mapping[str, Any]]] = {
    "pendulum": (lambda: rbdgen.load_robot("double_pendulum"), "step", {}),
    "cart": (lambda: rbdgen.load_robot(cart_with_a_ball()), "step_rk4", {}),
    "masses as inputs": (lambda: rbdgen.load_robot("planar3r"), "step", {"params": ["mass:*"]}),
    "hopper": (hopper, "contact_step", {}),
    "motors": (lambda: ARM, "motor_step", {}),
}


@cache
def case(name: str) -> tuple[Request, FunctionSource]:
    make, function, options = CASES[name]
    own = (motor_step.composition(ARM),) if function == "motor_step" else ()
    asked = Options.of(target="cuda", functions=[function], **options)
    request = Request(make(), asked, package=False, own=own)
    return request, design_functions(request)[0]


def written(name: str, real: Any, form: str | None = None) -> Sources:
    request, function = case(name)
    forms = {} if form is None else {function.name: form}
    emitted = replace(style(request.options, package=False), real=real, kernels=Kernels(forms=forms))
    return render(facts_of(request), [function], emitted)


def repeated(function: FunctionSource, inputs: Mapping[str, Array], each: Collection[str]) -> list[Array]:
    """The outputs of all steps, (states, steps, size) each, by the interpreter."""
    rolling = function.signature.rolling
    assert rolling is not None
    now, found = dict(inputs), list[dict[str, Array]]()
    for step in range(STEPS):
        for x in function.signature.inputs:
            if x.name in each:
                now[x.name] = inputs[x.name][:, step * x.size : (step + 1) * x.size]
        found.append(interpreted(function, now, fuse=True))
        for x, y in zip(function.signature.inputs[: rolling.state], function.signature.outputs, strict=False):
            now[x.name] = found[-1][y.name]
    return [np.stack([step[y.name] for step in found], axis=1) for y in function.signature.outputs]


@pytest.mark.parametrize(
    ("name", "real", "form"),
    [
        *(("pendulum", "float", form) for form in ("line", "warps", "stages")),
        ("cart", "float", None),
        ("cart", "double", None),
        ("masses as inputs", "double", None),
        pytest.param("hopper", "float", None, marks=pytest.mark.campaign),
        ("motors", "float", None),
    ],
)
def test_bits_of_rollouts(
    name: str, real: str, form: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "stages":
        monkeypatch.setattr(stages, "LONGEST", 10)
    _, function = case(name)
    rolling = function.signature.rolling
    assert rolling is not None
    kernels = OnCpu(written(name, real, form), tmp_path)
    names = [x.name for x in function.signature.inputs]
    further = [names[k] for k in rolling.further]
    each = {names[rolling.control], *further}
    states = [states_of(kernels.manifest, STATES, seed)[function.name] for seed in range(STEPS)]
    inputs = {x: np.hstack([own[x] for own in states]) if x in each else states[0][x] for x in names}
    wanted = repeated(function, inputs, each)
    for way in ({"last": False}, {"last": True}, {"last": False, "backwards": True}):
        found = kernels.run(function.name, inputs, steps=STEPS, each=further, **way)
        for y, expected in zip(function.signature.outputs, wanted, strict=True):
            own = expected[:, -1] if way["last"] else expected.reshape(STATES, -1)
            assert same_bits(found[y.name], own), (way, y.name)


def test_inputs_of_all_states_and_of_all_steps(tmp_path: Path) -> None:
    """Rows that all states share are read at a distance of 0, and values of all steps likewise."""
    _, function = case("hopper")
    kernels = OnCpu(written("hopper", "float"), tmp_path)
    drawn, random = states_of(kernels.manifest, STATES)["contact_step"], np.random.default_rng(1)
    controls = random.uniform(-1, 1, STEPS * drawn["tau"].shape[1])
    shared = {name: drawn[name][0] for name in ("v", "dt", "ground")} | {"tau": controls}
    friction = {"friction": random.uniform(0, 1, (STATES, STEPS * drawn["friction"].shape[1]))}
    given = drawn | friction | shared
    found = kernels.run("contact_step", given, steps=STEPS, last=False, each=["friction"])
    spread = {name: np.tile(row, (STATES, 1)) for name, row in shared.items()}
    inputs = {name: array.astype(np.float32) for name, array in (given | spread).items()}
    wanted = repeated(function, inputs, {"tau", "friction"})
    for y, expected in zip(function.signature.outputs, wanted, strict=True):
        assert same_bits(found[y.name], expected.reshape(STATES, -1)), y.name


def test_a_kernel_names_its_arguments() -> None:
    facts = written("hopper", "float").manifest["functions"]["contact_step"]["cuda"]
    of_steps = [[name, f"{name}_step", f"{name}_each"] for name in ("ground", "friction", "law")]
    assert facts["arguments"] == [
        *("states", "steps", "last"),
        *("q", "q_step", "v", "v_step", "tau", "tau_step", "dt", "dt_step"),
        *chain.from_iterable(of_steps),
        *("q_next", "v_next", "impulse", "residual"),
    ]
