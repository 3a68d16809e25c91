"""Every form of every function agrees with Pinocchio, by the graph's interpreter, on real and random robots.

Without snapping, the reference is Pinocchio's own reading of the same URDF. With snapping, Pinocchio gets the
same snapped numbers, as the snapped angles alone would differ by 5e-12.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from support import random_urdf
from support.few import examples, few
from support.forms import FORMS, Form, every_form, graph_of, interpreted, relative_error, run_on_floats
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers, model_of_urdf
from support.robots import BASES, PATHS, robot
from support.states import random_inputs

from rbdgen.description.urdf import parse_urdf
from rbdgen.model.build import DEFAULT_SNAP, Base, build_robot

STATES = 100

ARMS = ("arm7", "double_pendulum", "planar3r", "puma560", "ur5", "panda")
"""The robots of the tests on a fixed base."""

OWN_BASES = [(name, "fixed" if name in ARMS else "floating") for name in PATHS]

BY_DEFAULT = [("arm7", "fixed"), ("planar3r", "floating"), ("quadruped12", "floating")]
"""Robots with snapping: an arm, one with parallel axes, and one with branches."""

AS_WRITTEN = [("panda", "fixed"), ("ur5", "fixed")]
"""Robots without snapping: one with odd angles and a sliding gripper, and one with rounded right angles."""

INVERTED = ("aba", "minv")
"""The beginnings of names of functions that invert a matrix; others differ only by rounding."""


@cache
def oracle(name: str, base: Base, snap: float) -> PinocchioOracle:
    model = robot(name, base, snap).model
    if snap == 0:
        return PinocchioOracle(model_of_urdf(PATHS[name].read_text(), base), model)
    return PinocchioOracle(model_of_numbers(model), model)


def assert_agreement(form: Form, name: str, base: Base, snap: float, engine: str, tolerance: float) -> None:
    inputs = random_inputs(robot(name, base, snap).model, form.function.signature, STATES)
    ours = interpreted(form, graph_of(form, name, base, snap, engine), inputs)
    reference = oracle(name, base, snap)(form.function.name, inputs)
    names = [argument.name for argument in form.function.signature.outputs]
    errors = {o: relative_error(x, y) for o, x, y in zip(names, ours, reference, strict=True)}
    assert max(errors.values()) < tolerance, errors


@pytest.mark.parametrize(("name", "base"), few(BY_DEFAULT, product(PATHS, BASES)))
@every_form
def test_by_default(form: Form, name: str, base: Base) -> None:
    """The cheap forms are traced straight into the graph, which is quicker; test_tracing compares engines."""
    engine = "graph" if form.form.reduced else "casadi"
    assert_agreement(form, name, base, DEFAULT_SNAP, engine, 1e-10)


@pytest.mark.parametrize(("name", "base"), few(AS_WRITTEN, OWN_BASES))
@every_form
def test_as_written(form: Form, name: str, base: Base) -> None:
    """The functions with `--snap 0`, traced straight into the graph."""
    tolerance = 1e-10 if form.function.name.startswith(INVERTED) else 1e-12
    assert_agreement(form, name, base, 0.0, "graph", tolerance)


@pytest.mark.parametrize("base", BASES)
@settings(max_examples=examples(6, 40), deadline=None)
@given(text=random_urdf.robots())
def test_random_robots(base: Base, text: str) -> None:
    model = build_robot(parse_urdf(text), base=base, snap=0.0).model
    reference = PinocchioOracle(model_of_urdf(text, base), model)
    for form in FORMS:
        inputs = random_inputs(model, form.function.signature, 3)
        ours, theirs = run_on_floats(form, model, inputs), reference(form.function.name, inputs)
        errors = [relative_error(x, y, floor=0.1) for x, y in zip(ours, theirs, strict=True)]
        assert max(errors) < 1e-10, form
