"""The motion of contacts: differences, exact identities, zeros, choices of axes, and counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.contacts import MAKERS, robot_with_contacts, with_contacts
from support.forms import FunctionForm, run_on_floats
from support.functions import OF_CONTACTS
from support.rationals import Rationals
from support.states import random_inputs

from rbdgen.functions.form import Form
from rbdgen.functions.function import Function
from rbdgen.model.contacts import Contact
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import reduce
from rbdgen.pipeline.design import count
from rbdgen.sweeps.inputs import State, coordinates

Array = NDArray[np.float64]

POSE, JACOBIAN, MOTION = (OF_CONTACTS[f"contact_{name}"] for name in ("pose", "jacobian", "motion"))

each_robot = pytest.mark.parametrize("name", MAKERS)


def first(row: Function, model: Model, inputs: dict[str, Array]) -> list[Array]:
    return run_on_floats(FunctionForm(row, row.forms[0]), model, inputs)


def rate(row: Function, model: Model, inputs: dict[str, Array], output: int) -> Array:
    """Differentiates an output along v by central differences."""
    ends = []
    for t in (1e-5, -1e-5):
        moved = {**inputs, "q": model.manifold.integrate(inputs["q"], t * inputs["v"])}
        ends.append(first(row, model, moved)[output][0])
    return (ends[0] - ends[1]) / 2e-5


def linear_rows(model: Model) -> list[int]:
    starts = np.cumsum([0, *(contact.rows for contact in model.contacts)])
    return [int(start) + k for start in starts[:-1] for k in range(3)]


@each_robot
def test_motion_is_the_rate_of_the_pose_and_drift_the_rate_of_motion(name: str) -> None:
    """This also holds for open loops, whose rows are in the axes of the body that carries both ends."""
    model = robot_with_contacts(name).model
    inputs = random_inputs(model, MOTION.signature, 1, 3)
    velocity, drift = (output[0] for output in first(MOTION, model, inputs))
    np.testing.assert_allclose(velocity[linear_rows(model)], rate(POSE, model, inputs, 0).ravel(), atol=1e-8)
    np.testing.assert_allclose(drift, rate(MOTION, model, inputs, 0), rtol=1e-7, atol=1e-6)
    turning, rotations = rate(POSE, model, inputs, 1), first(POSE, model, inputs)[1][0]
    start = 0
    for contact, dR, R in zip(model.contacts, turning, rotations, strict=True):
        if contact.kind == "frame" and contact.second is None:
            w = np.cross(R.T, dR.T).sum(axis=0) / 2
            np.testing.assert_allclose(velocity[start + 3 : start + 6], w, atol=1e-8)
        start += contact.rows


@pytest.mark.parametrize("tree", [((WORLD, 0, 1, 1, 0), "FRRPR"), ((WORLD, 0, 1, 2, 2, 4), "RPSHLR")])
def test_exactly(tree: tuple[tuple[int, ...], str]) -> None:
    """In every form, velocities are J v, drifts are quadratic in v, and rotations are orthogonal."""
    numbers = Rationals(2)
    model = with_contacts(numbers.model(*tree), 2, 4)
    q, v = numbers.coordinates(model), numbers.numbers(model.nv)
    for position_form in POSE.forms:
        for R in np.array(POSE.trace(position_form, model, State(q))[1], object).reshape(-1, 3, 3):
            assert (np.eye(3, dtype=int) == R @ R.T).all()
    for jacobian in JACOBIAN.forms:
        J = np.array(JACOBIAN.trace(jacobian, model, State(q))[0], object).reshape(-1, model.nv)
        for motion in MOTION.forms:
            velocity, drift = MOTION.trace(motion, model, State(q, v))
            twice = MOTION.trace(motion, model, State(q, [2 * x for x in v]))[1]
            assert (J @ v == velocity).all()
            assert list(twice) == [4 * x for x in drift]


@pytest.mark.parametrize("form", JACOBIAN.forms, ids=lambda form: form.name)
def test_what_does_not_move_a_contact_has_no_column(form: Form) -> None:
    """Columns of joints that do not move a contact are 0 before any simplification, also above a loop."""
    model = robot_with_contacts("closed").model
    q = coordinates(model, list(model.manifold.random(np.random.default_rng(1))), np.cos, np.sin)
    J = np.array(JACOBIAN.trace(form, model, State(q))[0], object).reshape(-1, model.nv)
    start = 0
    for contact in model.contacts:
        dofs = set(moving(model, contact))
        for k in range(model.nv):
            still = all(type(x) is int and x == 0 for x in J[start : start + contact.rows, k])
            assert still == (k not in dofs), (contact.name, k)
        start += contact.rows


def moving(model: Model, contact: Contact) -> list[int]:
    """The degrees of freedom on the path from one end of a contact to the other."""
    end = WORLD if contact.second is None else contact.second.body
    passed = [i for part in model.path(contact.first.body, end) for i in part]
    joints = [model.bodies[i].joint for i in passed]
    return [k for joint in joints for k in range(joint.idx_v, joint.idx_v + joint.nv)]


def test_any_axes() -> None:
    """Axes are rotated and shifted, and some bodies have their equations in their parents' axes; one of them
    carries a loop."""
    model = robot_with_contacts("closed").model
    rng = np.random.default_rng(4)
    turning = [body.joint.type.one_axis for body in model.bodies]
    turns, slides = (np.where(turning, rng.uniform(-1, 1, model.nbodies), 0) for _ in range(2))
    shanks = [i for i, body in enumerate(model.bodies) if body.name.endswith("shank")]
    assert model.seen_from(model.contacts[1]).body in shanks
    inputs = random_inputs(model, MOTION.signature, 1, 3)
    state = State(coordinates(model, list(inputs["q"][0]), np.cos, np.sin), list(inputs["v"][0]))
    for reduced in (
        reduce(model, turns, slides),
        reduce(model, slides=slides, parallel=shanks),
    ):
        for row in (POSE, JACOBIAN, MOTION):
            expected = first(row, model, inputs)
            for form in row.forms[1:]:
                for ours, theirs in zip(row.trace(form, reduced, state), expected, strict=True):
                    np.testing.assert_allclose(np.array(ours, float), theirs.ravel(), rtol=0, atol=1e-12)


def test_pinned_counts(golden: Any) -> None:
    """Pins the chosen forms for an arm with a contact beside its last axis: axes turn towards this point."""
    counted = count(robot_with_contacts("arm"), [MOTION.name])
    lines = [f"{function}: {form}: {cost}\n" for function, (form, cost) in counted.items()]
    golden("chosen_counts/contacts_arm.txt", "".join(lines))
