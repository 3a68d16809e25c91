"""Derivatives of dynamics in contact: differences of contact_aba, also in loops and where joints follow."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.contacts import SOLID, legs, robot_with_contacts, with_contacts
from support.forms import FunctionForm, relative_error, run_on_floats
from support.random_trees import random_tree
from support.states import random_inputs

import rbdgen
from rbdgen.functions.table import ALL
from rbdgen.model.model import Model

Array = NDArray[np.float64]

STEP = 2e-3
"""Of differences of the sixth order."""

WEIGHTS = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}


def following() -> Model:
    """A tree with a joint that follows another one, on a sole, its hand held by its trunk."""
    built = rbdgen.RobotBuilder("leader").add_body("trunk", mass=9, com=(0, 0, 0.1), inertia=(0.4, 0.3, 0.2))
    chain = ("trunk", "thigh", "shank", "foot", "hand")
    for k, (parent, name) in enumerate(pairwise(chain)):
        given: dict[str, Any] = {"parent": parent, "xyz": (0.1, 0, -0.3), "type": "revolute", **SOLID}
        axis = ((0, 1, 0), (0, 0.6, 0.8), (1, 0, 0), (0, 1, 0))[k]
        built.add_body(name, axis=axis, mimic=("thigh_joint", -0.7, 0.1) if k == 2 else None, **given)
    held = [rbdgen.Frame("sole", "foot", (0, 0.1, 0)), rbdgen.Loop("grasp", "hand", (0.1, 0, 0), "trunk")]
    return rbdgen.load_robot(built, base="floating", contacts=held).model


def tree() -> Model:
    """Joints of many types, and contacts of all kinds."""
    return with_contacts(random_tree(0, 6), 0)


def pulled() -> Model:
    """The biped on a sole, a point of it on a knee, its hand to a thigh."""
    held = [
        rbdgen.Frame("sole", "left_sole"),
        rbdgen.Point("knee", "right_shank", (0.02, 0, 0.1)),
        rbdgen.Loop("grasp", "hand", (0.1, 0, 0), "right_thigh"),
    ]
    return rbdgen.load_robot(legs(), base="floating", contacts=held).model


def differences(model: Model, inputs: dict[str, Array], name: str, of: str) -> list[Array]:
    """Of a and lambda by one input, columns last."""
    row = ALL[of]
    form = FunctionForm(row, row.forms[0])
    steps = np.eye(model.sizes["nv"])
    many = {key: np.repeat(value, len(steps), axis=0) for key, value in inputs.items()}
    total: list[Any] = [0, 0]
    for steps_ahead, weight in WEIGHTS.items():
        for sign in (1, -1):
            moved = sign * steps_ahead * STEP * steps
            at = model.manifold.integrate(many["q"], moved) if name == "q" else many[name] + moved
            found = run_on_floats(form, model, {**many, name: at})
            total = [sum_ + sign * weight / STEP * new.T for sum_, new in zip(total, found, strict=True)]
    return total


@pytest.mark.parametrize("name", ["mixed", "closed", "standing", "following", "tree", "held"])
def test_differences(name: str) -> None:
    makers = {"following": following, "tree": tree, "held": pulled}
    model = makers[name]() if name in makers else robot_with_contacts(name).model
    row = ALL[f"contact_aba_derivatives{'_held' * (name == 'held')}"]
    assert row.derivative_of
    inputs: dict[str, Any] = random_inputs(model, row.signature, 1, 3)
    expected = [differences(model, inputs, key, row.derivative_of) for key in ("q", "v", "tau")]
    wanted = [by[k] for k in (0, 1) for by in expected]
    for form in row.forms:
        outputs = run_on_floats(FunctionForm(row, form), model, inputs)
        for ours, theirs, argument in zip(outputs, wanted, row.signature.outputs, strict=True):
            error = relative_error(ours[0].reshape(theirs.shape), theirs, floor=1.0)
            assert error < 1e-8, (form.name, argument.name)
