"""A free base is eliminated: exact in rationals, equal to Pinocchio's Schur complement, and compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.forms import FunctionForm, relative_error, run_on_floats
from support.mimic import Projection, with_mimics
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.random_trees import on_a_base, resisting_tree
from support.random_urdf import robots
from support.rational_robots import choices
from support.rationals import Rationals
from support.robots import robot
from support.states import random_inputs
from support.trees import some

import rbdgen
from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import OptionError
from rbdgen.functions.free_base import rows as free_base
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup, rows_of
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.pipeline.design import count
from rbdgen.sweeps.inputs import State

Array = NDArray[np.float64]
Inputs = Mapping[str, Array]

BASE = 6
CRBA, NLE, RNEA = ROWS = free_base.ROWS

TREES = some("floating fork", "floating tree", "all", "beside a base")


def drawn(tree: str) -> tuple[Rationals, Model, State]:
    """A model and a state of random rationals."""
    numbers = Rationals(len(tree))
    model = numbers.model(*TREES[tree])
    arrays = {"a_joints": numbers.numbers(model.nv - BASE)}
    return numbers, model, State(numbers.coordinates(model), numbers.numbers(model.nv), arrays=arrays)


def textbook(row: Function, model: Model, state: State) -> list[Any]:
    return [np.array(output, object) for output in row.trace(row.forms[0], model, state)]


@pytest.mark.parametrize("tree", TREES)
def test_all_forms_are_one_function(tree: str) -> None:
    """The results of all forms are equal in rational arithmetic."""
    numbers, model, state = drawn(tree)
    reduced = reduce(model, **choices(numbers, model))
    for row in ROWS:
        for form in row.forms[1:]:
            cheap = row.trace(form, reduced, state)
            assert list(map(list, cheap)) == list(map(list, textbook(row, model, state))), str(form.name)


@pytest.mark.parametrize("tree", TREES)
def test_equation_of_motion(tree: str) -> None:
    """ID(a) = [0; tau] holds exactly, with ID by the recursive Newton-Euler algorithm."""
    _, model, state = drawn(tree)
    n, a_joints = model.nv - BASE, state.arrays["a_joints"]
    tau, a_base = textbook(RNEA, model, state)
    (moved,) = textbook(lookup("rnea"), model, replace(state, a=[*a_base, *a_joints]))
    assert list(moved) == [0] * BASE + list(tau)
    (Mbar,), (hbar,) = textbook(CRBA, model, state), textbook(NLE, model, state)
    Mbar = Mbar.reshape(n, n)
    assert (Mbar == Mbar.T).all()
    assert list(Mbar @ np.array(a_joints) + hbar) == list(tau)


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
    model = on_a_base(resisting_tree(seed, 4))
    oracle = PinocchioOracle(model_of_numbers(model), model)
    assert_all_forms(model, seed, lambda row, inputs: oracle(row.name, inputs))


@settings(max_examples=10, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(robots(max_joints=5), st.integers(0, 2**32 - 1))
def test_joints_that_follow_others_fold(text: str, seed: int) -> None:
    projection = Projection.of(with_mimics(parse_urdf(text), np.random.default_rng(seed)), "floating")
    assert_all_forms(projection.coupled.model, seed, projection.outputs)


def test_compiled() -> None:
    """A floating arm moves as its forward dynamics says; the error of both is that of rounding."""
    floating = rbdgen.load_robot("puma560", base="floating")
    lib = rbdgen.build(floating, ["aba", *(row.name for row in ROWS)])
    q, v = lib.random(1), np.random.default_rng(2).normal(size=12)
    a_joints = np.random.default_rng(3).normal(size=6)
    tau, a_base = lib.rnea_free_base(q, v, a_joints)
    np.testing.assert_allclose(lib.crba_free_base(q) @ a_joints + lib.nle_free_base(q, v), tau, atol=1e-11)
    a = lib.aba(q, v, np.concatenate([np.zeros(BASE), tau]))
    np.testing.assert_allclose(a, [*a_base, *a_joints], rtol=1e-10, atol=1e-10)


def test_who_has_them() -> None:
    """A fixed arm and a brick without joints have no such functions."""
    brick = rbdgen.RobotBuilder("brick").add_body("brick", mass=2, inertia=(1, 1, 1))
    for alone in (rbdgen.load_robot(brick, base="floating"), rbdgen.load_robot("arm7")):
        assert not {row.name for row in ROWS} & set(rows_of(alone.model))
        with pytest.raises(OptionError, match="'nle_free_base' needs a floating base with joints"):
            rbdgen.build(alone, ["nle_free_base"])


def test_pinned_counts(golden: Callable[[str, str], None]) -> None:
    """Pins the chosen forms after all passes."""
    counted = count(robot("quadruped12", "floating"), [row.name for row in ROWS])
    lines = [f"{function}: {form}: {cost}\n" for function, (form, cost) in counted.items()]
    golden("chosen_counts/free_base_quadruped12.txt", "".join(lines))
