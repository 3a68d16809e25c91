"""Derivatives of dynamics in contact: differences of contact_aba everywhere, also in loops and where joints follow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.contacts import legs, robot_with_contacts
from support.forms import FunctionForm, relative_error, run_on_floats
from support.states import random_inputs

import rbdgen
from rbdgen.functions.table import ALL
from rbdgen.model.model import Model

Array = NDArray[np.float64]

STEP = 2e-3
"""Of differences of the sixth order: what they leave out and what rounding adds are alike."""

WEIGHTS = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}


def following() -> Model:
    """A biped whose right knee follows the left one, on a sole, with a hand held by a thigh."""
    held = [rbdgen.Frame("sole", "left_sole"), rbdgen.Loop("grasp", "hand", (0.1, 0, 0), "right_thigh")]
    robot = legs()
    return rbdgen.load_robot(robot, base="floating", contacts=held).model


def differences(model: Model, inputs: dict[str, Array], name: str) -> list[Array]:
    """Of a and lambda by one input, columns last."""
    row = ALL["contact_aba"]
    form = FunctionForm(row, row.forms[0])
    total: list[Array] = []
    for weight, sign in ((w, s) for w in WEIGHTS.items() for s in (1, -1)):
        moved = sign * weight[0] * STEP * np.eye(model.sizes["nv"])
        many = {key: np.repeat(value, len(moved), axis=0) for key, value in inputs.items()}
        old = many[name]
        many[name] = (
            np.array([model.manifold.integrate(q, d) for q, d in zip(old, moved, strict=True)])
            if name == "q"
            else old + moved
        )
        found = run_on_floats(form, model, many)
        parts = [sign * weight[1] / STEP * output.T for output in found]
        total = [a + b for a, b in zip(total, parts, strict=True)] if total else parts
    return total


@pytest.mark.parametrize("name", ["mixed", "closed", "standing", "arm"])
def test_differences(name: str) -> None:
    model = robot_with_contacts(name).model
    row = ALL["contact_aba_derivatives"]
    inputs: dict[str, Any] = random_inputs(model, row.signature, 1, 3)
    expected = [differences(model, inputs, key) for key in ("q", "v", "tau")]
    wanted = [by[k] for k in (0, 1) for by in expected]
    for form in row.forms:
        outputs = run_on_floats(FunctionForm(row, form), model, inputs)
        for ours, theirs, argument in zip(outputs, wanted, row.signature.outputs, strict=True):
            assert relative_error(ours[0].reshape(theirs.shape), theirs, floor=1.0) < 1e-9, (
                form.name,
                argument.name,
            )
