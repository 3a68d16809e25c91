"""Inverse dynamics with contacts at rest: exact in rationals, equal to a paper's equations, and compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.contacts import robot_with_contacts
from support.forms import FunctionForm, relative_error, run_on_floats
from support.mimic import Projection, with_mimics
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.random_trees import on_a_base, resisting_tree
from support.random_urdf import robots
from support.rational_robots import choices, planar
from support.rationals import Rationals, Z
from support.states import random_inputs
from support.trees import some

import rbdgen
from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import OptionError
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup, rows_of
from rbdgen.model.contacts import Contact
from rbdgen.model.frames import Frame
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import reduce
from rbdgen.pipeline.design import count
from rbdgen.selection.axes import operations
from rbdgen.spatial.ops import Matrix, Transform, Vector
from rbdgen.sweeps.inputs import State

Array = NDArray[np.float64]
Inputs = Mapping[str, Array]

BASE = 6

ROWS = _, LEAST, _ = [lookup(f"contact_{name}") for name in ("rnea", "rnea_least", "control")]

TREES = some("floating tree", "all", "beside a base", "two bases")


def touching(model: Model, seed: int, *, exact: bool = False) -> Model:
    """Contacts of all kinds: with the world at both ends, between limbs, along a limb, two on a body."""
    numbers, last = Rationals(seed), model.nbodies - 1

    def frame(body: int) -> Frame:
        joint = None if body == WORLD else model.bodies[body].joint
        R, p = numbers.placement(Z, joint.axis if joint and joint.type.one_axis else None)
        if not exact:
            R, p = Matrix(*(Vector(*map(float, row)) for row in R)), Vector(*map(float, p))
        return Frame(f"of {body}", body, Transform(R, p))

    return replace(
        model,
        contacts=(
            Contact("point", "point", frame(last)),
            Contact("loop", "frame", frame(1), frame(last)),
            Contact("frame", "frame", frame(1)),
            Contact("from the world", "point", frame(WORLD), frame(last)),
            Contact("to the world", "frame", frame(0), frame(WORLD)),
            Contact("along", "point", frame(1), frame(0)),
        ),
    )


def exact_state(numbers: Rationals, model: Model) -> State:
    n, sizes = model.nv, model.sizes
    arrays = {
        "a_joints": numbers.numbers(n - BASE),
        "forces": numbers.numbers(sizes["nc"]),
        "share": [numbers.positive() for _ in range(sizes["nshare"])],
        "tau_previous": numbers.numbers(n - BASE),
        "active": [Fraction(k % 3, 2) for k in range(sizes["ncontacts"])],
        "mu": [numbers.positive()],
    }
    return State(numbers.coordinates(model), numbers.numbers(n), arrays=arrays)


def textbook(name: str, model: Model, state: State) -> list[Any]:
    row = lookup(name)
    return [np.array(output, object) for output in row.trace(row.forms[0], model, state)]


@pytest.mark.parametrize("tree", TREES)
def test_all_forms_are_one_function(tree: str) -> None:
    """The results of all forms are equal in rational arithmetic."""
    numbers = Rationals(len(tree))
    model = touching(numbers.model(*TREES[tree]), 3, exact=True)
    reduced = reduce(model, **choices(numbers, model))
    state = exact_state(numbers, model)
    for row in ROWS:
        cheap = row.trace(row.form("composite"), reduced, state)
        assert list(map(list, cheap)) == list(map(list, textbook(row.name, model, state))), row.name


def test_parallel_axes_change_nothing() -> None:
    numbers, model = planar((WORLD, 0, 1, 2, 2), "FRRRP", (2, 3))
    model, frames = touching(model, 3, exact=True), choices(numbers, model)
    state = exact_state(numbers, model)
    for row in ROWS:
        cheap = row.trace(row.form("composite"), reduce(model, **frames, parallel=(2, 3)), state)
        assert list(map(list, cheap)) == list(map(list, textbook(row.name, model, state))), row.name


def test_equation_of_motion() -> None:
    """ID(a) = [0; tau] + J^T lambda holds exactly, with ID by the recursive Newton-Euler algorithm, which is
    independent of the M and h that these functions use."""
    numbers = Rationals(2)
    model = touching(numbers.model(*TREES["all"]), 3, exact=True)
    state = exact_state(numbers, model)
    (J,) = (x.reshape(-1, model.nv) for x in textbook("contact_jacobian", model, state))
    tau, a_base = textbook("contact_rnea", model, state)
    least_tau, forces, least_a = textbook("contact_rnea_least", model, state)
    a_joints = state.arrays["a_joints"]
    for torques, pushes, a in ((tau, state.arrays["forces"], a_base), (least_tau, forces, least_a)):
        (moved,) = textbook("rnea", model, replace(state, a=[*a, *a_joints]))
        assert list(moved - J.T @ np.array(pushes)) == [0] * BASE + list(torques)
    _, drift = textbook("contact_motion", model, state)
    left = np.repeat(state.arrays["share"], 3) * (J @ np.array([*least_a, *a_joints]) + drift)
    assert not (J[:, :BASE].T @ left).any()


# ---- by NumPy, from Pinocchio's M, h, J and drift


def assert_all_forms(model: Model, seed: int, answers: Callable[[Function, Inputs], list[Array]]) -> None:
    for row in ROWS:
        inputs = random_inputs(model, row.signature, 2, seed)
        wanted = answers(row, inputs)
        for form in row.forms_for(model):
            found = run_on_floats(FunctionForm(row, form), model, inputs)
            for ours, theirs in zip(found, wanted, strict=True):
                assert relative_error(ours, theirs, floor=1.0) < 1e-9, (seed, row.name, form.name)


@settings(max_examples=20, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees(seed: int) -> None:
    """The results agree for trees of joints of all types, with damping, friction, springs and rotors."""
    model = touching(on_a_base(resisting_tree(seed, 4)), seed)
    oracle = PinocchioOracle(model_of_numbers(model), model)
    assert_all_forms(model, seed, lambda row, inputs: oracle(row.name, inputs))


@settings(max_examples=10, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(robots(max_joints=5), st.integers(0, 2**32 - 1))
def test_joints_that_follow_others_fold(text: str, seed: int) -> None:
    """All forms agree with the projected robot, whose joints have resistance."""
    description = with_mimics(parse_urdf(text), np.random.default_rng(seed))
    first, last = description.joints[0].child, description.joints[-1].child
    held = rbdgen.Frame("sole", last, (0.1, 0, 0.2)), rbdgen.Point("heel", first, (0, 0.2, 0))
    projection = Projection.of(replace(description, contacts=held), "floating")
    assert_all_forms(projection.coupled.model, seed, projection.outputs)


# ---- as a user meets them


def test_compiled() -> None:
    """A loop between links of one leg has no force, whatever its share, as the base does not move it."""
    held = [
        rbdgen.Frame("foot", "lower", (0, 0, -0.2)),
        rbdgen.Loop("bar", "upper", (0.1, 0, 0), "lower", (0, 0.1, 0)),
    ]
    robot = rbdgen.load_robot("double_pendulum", base="floating", contacts=held)
    lib = rbdgen.build(robot, [LEAST.name])
    inputs = random_inputs(robot.model, LEAST.signature, 1, 1)
    found = lib.contact_rnea_least(*(inputs[x.name][0] for x in LEAST.signature.inputs))
    wanted = run_on_floats(FunctionForm(LEAST, LEAST.forms[0]), robot.model, inputs)
    for ours, theirs in zip(found, wanted, strict=True):
        assert relative_error(ours[None], theirs) < 1e-12
    assert list(found[1][6:]) == [0, 0, 0]


def test_few_points_hold_no_base() -> None:
    held = [rbdgen.Point("heel", "upper"), rbdgen.Point("toe", "lower")]
    robot = rbdgen.load_robot("double_pendulum", base="floating", contacts=held)
    assert "contact_rnea" in rows_of(robot.model)
    assert "contact_rnea_least" not in rows_of(robot.model)
    with pytest.raises(OptionError) as caught:
        rbdgen.build(robot, ["contact_rnea_least"])
    assert str(caught.value) == (
        "function 'contact_rnea_least' needs a floating base with joints on a frame or three points, "
        "which 'double_pendulum' does not have; give base='floating' and contacts=[Frame(NAME, LINK)], or "
        "contacts=['NAME=LINK'] for each of three points to load_robot"
    )


def test_a_base_without_joints_has_no_torques() -> None:
    brick = rbdgen.RobotBuilder("brick").add_body("brick", mass=2, inertia=(1, 1, 1))
    robot = rbdgen.load_robot(brick, base="floating", contacts=[rbdgen.Frame("side", "brick")])
    assert "contact_forces" in rows_of(robot.model)
    assert not {"contact_rnea", "contact_rnea_least"} & set(rows_of(robot.model))


def test_pinned_counts_as_traced(golden: Callable[[str, str], None]) -> None:
    """Pins the operations for two soles, before all passes."""
    humanoid = reduce(robot_with_contacts("humanoid").model)
    traced = {row.name: operations(humanoid, row, row.form("composite")) for row in ROWS}
    golden("operation_counts/contacts_inverse.txt", "".join(f"{x}: {y}\n" for x, y in traced.items()))


@pytest.mark.campaign
def test_pinned_counts(golden: Callable[[str, str], None]) -> None:
    """Pins the chosen forms for a quadruped on four points after all passes."""
    counted = count(robot_with_contacts("quadruped"), [row.name for row in ROWS])
    lines = [f"{function}: {form}: {cost}\n" for function, (form, cost) in counted.items()]
    golden("chosen_counts/contacts_inverse.txt", "".join(lines))
