"""World-aligned velocities of a floating base: M and bias forces are exact, and agree with others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.forms import FunctionForm, forms_of, relative_error, run_on_floats
from support.functions import OF_FLOATING_BASES
from support.mimic import Projection, with_mimics
from support.mujoco_oracle import MujocoOracle
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.random_trees import on_a_base, resisting_tree
from support.random_urdf import robots
from support.rationals import Rationals
from support.robots import PATHS, robot
from support.states import random_inputs
from support.trees import some

import rbdgen
from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import OptionError
from rbdgen.functions.table import TABLE, rows_of
from rbdgen.pipeline.design import count
from rbdgen.spatial.ops import Vector
from rbdgen.spatial.quaternion import rotation_of
from rbdgen.sweeps.inputs import State

FORMS = [FunctionForm(row, form) for row in OF_FLOATING_BASES.values() for form in row.forms]

every_form = pytest.mark.parametrize("form", FORMS, ids=str)

TREES = some("floating body", "floating fork", "all")


def of_world(name: str) -> list[FunctionForm]:
    return [form for form in FORMS if form.function.name == name]


@pytest.mark.parametrize("tree", TREES)
def test_equation_of_motion(tree: str) -> None:
    """M_w dnu/dt + h_w = T tau for the same motion; M_w is symmetric, and its linear block is the mass."""
    numbers = Rationals(len(tree))
    model = numbers.model(*TREES[tree])
    n = model.nv
    state = State(numbers.coordinates(model), numbers.numbers(n), numbers.numbers(n))
    base: Any = state.q[0]
    R = rotation_of(base.quaternion)

    def turned(x: Any) -> list[Any]:
        return [*R.apply(Vector(*x[:3])), *R.apply(Vector(*x[3:6])), *x[6:]]

    ((*tau,),) = FunctionForm(TABLE["rnea"], TABLE["rnea"].forms[0]).trace(model, state)
    classical = Vector(*state.a[:3]) + Vector(*state.v[3:6]).cross(Vector(*state.v[:3]))
    rate = turned([*classical, *state.a[3:]])
    mass = sum(body.inertia.mass for body in model.bodies)
    for crba in of_world("crba_world"):
        (flat,) = crba.trace(model, state)
        M = [flat[k : k + n] for k in range(0, n * n, n)]
        assert [list(column) for column in zip(*M, strict=True)] == M
        assert [list(row[:3]) for row in M[:3]] == [[mass, 0, 0], [0, mass, 0], [0, 0, mass]]
        for nle in of_world("nle_world"):
            (h,) = nle.trace(model, state)
            force = [
                sum(m * x for m, x in zip(row, rate, strict=True)) + own
                for row, own in zip(M, h, strict=True)
            ]
            assert force == turned(tau), (str(crba), str(nle))


@every_form
def test_mujoco(form: FunctionForm) -> None:
    """MuJoCo's M and bias are the same, except that angular parts are in base axes."""
    model = robot("quadruped12", "floating").model
    oracle = MujocoOracle(PATHS["quadruped12"].read_text(), model, "floating")
    inputs = random_inputs(model, TABLE["nle"].signature, 5)
    (ours,) = run_on_floats(form, model, inputs)
    arguments = [inputs[argument.name] for argument in form.function.signature.inputs]
    answer = getattr(oracle, form.function.name)
    theirs = np.stack([answer(*state) for state in zip(*arguments, strict=True)])
    assert relative_error(ours, theirs) < 1e-11


@settings(max_examples=40, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees(seed: int) -> None:
    """Trees of joints of all types, with damping, friction, springs and rotors, agree with Pinocchio."""
    model = on_a_base(resisting_tree(seed, 5))
    oracle = PinocchioOracle(model_of_numbers(model), model)
    for form in FORMS:
        inputs = random_inputs(model, form.function.signature, 3, seed)
        (ours,), (theirs,) = run_on_floats(form, model, inputs), oracle(form.function.name, inputs)
        assert relative_error(ours, theirs, floor=1.0) < 1e-11, (seed, str(form))


@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(robots(max_joints=6), st.integers(0, 2**32 - 1))
def test_joints_that_follow_others_fold(text: str, seed: int) -> None:
    projection = Projection.of(with_mimics(parse_urdf(text), np.random.default_rng(seed)), "floating")
    model = projection.coupled.model
    for form in FORMS:
        inputs = random_inputs(model, form.function.signature, 3, seed)
        (ours,), (theirs,) = run_on_floats(form, model, inputs), projection.outputs(form.function, inputs)
        assert relative_error(ours, theirs.reshape(ours.shape), floor=1.0) < 1e-12, str(form)


def test_no_more_operations_than_turning_M_and_nle() -> None:
    """The rotation of M uses the zeros of its blocks."""
    names = ("crba", "crba_world", "nle", "nle_world")
    costs = count(rbdgen.load_robot("quadruped12", base="floating"), names)
    total = {name: cost.total for name, (_, cost) in costs.items()}
    # R takes 30; J 31 + 28 in place of 74; h 15; 12 columns of a force and a moment, 15 each.
    assert total["crba_world"] <= total["crba"] + 30 + 74 + 15 + 12 * 30
    assert total["nle_world"] <= total["nle"] + 30 + 30


def test_only_robots_with_a_floating_base_have_them() -> None:
    arm = rbdgen.load_robot("double_pendulum")
    assert not set(OF_FLOATING_BASES) & set(rows_of(arm.model))
    said = "'crba_world' needs a floating base, which 'double_pendulum' does not have; give base='floating'"
    for use in (lambda: rbdgen.build(arm, functions=["crba_world"]), lambda: rbdgen.trace(arm, "crba_world")):
        with pytest.raises(OptionError, match=said) as caught:
            use()
        assert "\n" not in str(caught.value)
    floating = rbdgen.load_robot("double_pendulum", base="floating")
    assert set(OF_FLOATING_BASES) <= set(rows_of(floating.model))


def test_a_form_in_loops_is_refused_by_name() -> None:
    floating = rbdgen.load_robot("double_pendulum", base="floating")
    with pytest.raises(
        OptionError, match="'nle_world' has no form 'looped'; choose from: newton_euler, class"
    ):
        rbdgen.build(floating, functions=["nle_world"], variants={"nle_world": "looped"})
    assert all(form.function.smallest is None for form in forms_of("com", "centroidal_matrix"))
