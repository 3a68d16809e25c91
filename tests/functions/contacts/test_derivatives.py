"""Derivatives of dynamics in contact agree with automatic ones of the traced contact_aba, also in loops,
and with differences for other types of joints and for followers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import casadi
import numpy as np
import pytest
from numpy.typing import NDArray
from support.contacts import SOLID, legs, robot_with_contacts, with_contacts
from support.forms import FunctionForm, relative_error, run_on_floats, watched
from support.random_trees import random_tree
from support.states import random_inputs
from support.tangent import tangent_map

import rbdgen
from rbdgen.functions.function import Function
from rbdgen.functions.table import ALL
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.selection.trace import trace_expression
from rbdgen.sweeps.inputs import state_of

Array = NDArray[np.float64]

STEP = 2e-3
"""The width of differences of the sixth order."""

WEIGHTS = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}


def following() -> Model:
    """A robot that stands on a sole; one joint follows another, and a loop connects its hand to its trunk."""
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
    """The biped with contacts at its left sole, at its right shank, and between its hand and a thigh."""
    held = [
        rbdgen.Frame("sole", "left_sole"),
        rbdgen.Point("knee", "right_shank", (0.02, 0, 0.1)),
        rbdgen.Loop("grasp", "hand", (0.1, 0, 0), "right_thigh"),
    ]
    return rbdgen.load_robot(legs(), base="floating", contacts=held).model


def differences(model: Model, inputs: dict[str, Array], name: str, of: str) -> list[Array]:
    """Finite differences of a and lambda by one input, with columns as the last axis."""
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


def automatic(model: Model, inputs: dict[str, Array], of: str) -> list[Array]:
    """Computes CasADi's derivatives of a by q, v and tau, then those of lambda."""
    row = ALL[of]
    traced = trace_expression(model, row, row.forms[0], "casadi")
    symbols = [casadi.SX.sym(traced.name_in(k), traced.size1_in(k)) for k in range(traced.n_in())]
    found = [casadi.jacobian(output, x) for output in traced(*symbols) for x in symbols[:3]]
    state = [inputs[traced.name_in(k)][0] for k in range(traced.n_in())]
    jacobians = casadi.Function("jacobians", symbols, found)(*state)
    by_q = tangent_map(model, inputs["q"][0])
    return [J.full() if k % 3 else J.full() @ by_q for k, J in enumerate(jacobians)]


@pytest.mark.parametrize("name", ["mixed", "closed", "standing", "held"])
def test_automatic_differentiation(name: str) -> None:
    model = pulled() if name == "held" else robot_with_contacts(name).model
    row = ALL[f"contact_aba_derivatives{'_held' * (name == 'held')}"]
    assert row.derivative_of
    inputs: dict[str, Any] = random_inputs(model, row.signature, 1, 3)
    compare(model, row, inputs, automatic(model, inputs, row.derivative_of), 1e-9)


def compare(
    model: Model, row: Function, inputs: dict[str, Array], wanted: list[Array], tolerance: float
) -> None:
    """Compares the derivatives by every form with the wanted ones, at one state."""
    for form in (form for form in row.forms if form.does(model)):
        outputs = run_on_floats(FunctionForm(row, form), model, inputs)
        for ours, theirs, argument in zip(outputs, wanted, row.signature.outputs, strict=True):
            error = relative_error(ours[0].reshape(theirs.shape), theirs, floor=1.0)
            assert error < tolerance, (form.name, argument.name)


@pytest.mark.parametrize("name", ["following", "tree"])
def test_differences(name: str) -> None:
    model = following() if name == "following" else tree()
    row = ALL["contact_aba_derivatives"]
    inputs: dict[str, Any] = random_inputs(model, row.signature, 1, 3)
    expected = [differences(model, inputs, key, "contact_aba") for key in ("q", "v", "tau")]
    compare(model, row, inputs, [by[k] for k in (0, 1) for by in expected], 1e-8)


@pytest.mark.parametrize("name", ["mixed", "closed", "following", "held"])
def test_declared_zeros_are_zero(name: str) -> None:
    """Columns that do not affect a contact are zero, also with loops between limbs and followers."""
    model = {"following": following, "held": pulled}.get(name, lambda: robot_with_contacts(name).model)()
    row = ALL[f"contact_aba_derivatives{'_held' * (name == 'held')}"]
    inputs = random_inputs(model, row.signature, 1, 3)
    arrays = [(x, list(inputs[x.name][0])) for x in row.sized(model).inputs]
    for form in (form for form in row.forms if form.loops is not None and form.does(model)):
        seen = set[str]()
        assert form.loops is not None
        watched(form.loops(reduce(model)), seen).run(state_of(model, arrays, np.cos, np.sin))
        # a robot that is one limb has no zeros in columns of tau
        assert seen == {"solve", *(["invert"] if form.name == "columns" and name != "following" else [])}


@pytest.mark.parametrize("suffix", ["", "_held"])
@pytest.mark.parametrize("make", [following, pulled])
def test_values_come_with_derivatives(make: Callable[[], Model], suffix: str) -> None:
    """In all forms, the results are those of contact_aba, followed by its derivatives."""
    model = make()
    names = (f"contact_aba{suffix}", f"contact_aba_derivatives{suffix}")
    both = ALL[f"contact_aba_and_derivatives{suffix}"]
    inputs = random_inputs(model, both.sized(model), 3)
    for k, form in enumerate(form for form in both.forms if form.does(model)):
        apart = (FunctionForm(ALL[name], ALL[name].forms[k if name == names[1] else 0]) for name in names)
        expected = [y for one in apart for y in run_on_floats(one, model, inputs)]
        found = run_on_floats(FunctionForm(both, form), model, inputs)
        for x, y in zip(found, expected, strict=True):
            assert relative_error(x, y) < 1e-11
