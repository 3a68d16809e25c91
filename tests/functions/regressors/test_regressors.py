"""Regressors times inertial parameters are exact, also from C; base parameters are as many as the rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.forms import FunctionForm, forms_of, parametrize, relative_error, run_on_floats
from support.mimic import with_mimics
from support.rationals import Rationals
from support.robots import PATHS, robot
from support.states import random_inputs
from support.trees import some

import rbdgen
from rbdgen.checks.check import check
from rbdgen.description.urdf import read_urdf
from rbdgen.functions.regressors.base import base_parameters
from rbdgen.functions.table import lookup
from rbdgen.graph.programs.run import run
from rbdgen.model.build import build_robot
from rbdgen.model.inertial_parameters import UNIT_INERTIAS, inertia_of, parameters_of
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.options import Options
from rbdgen.pipeline.design import count, design_functions
from rbdgen.pipeline.request import Request
from rbdgen.runtime import Library
from rbdgen.selection.axes import operations, search
from rbdgen.sweeps.inputs import State

Array = NDArray[np.float64]

TREES = some("arm", "two arms", "floating arms", "all", "on an arm")


@pytest.mark.parametrize("tree", TREES)
@parametrize("regressor")
def test_torques_in_rationals(form: FunctionForm, tree: str) -> None:
    """Y pi = ID holds exactly."""
    numbers = Rationals(3)
    model = numbers.model(*TREES[tree])
    state = State(numbers.coordinates(model), numbers.numbers(model.nv), numbers.numbers(model.nv))
    (Y,) = form.trace(model, state)
    (tau,) = forms_of("rnea")[0].trace(model, state)
    pi = [x for body in model.bodies for x in parameters_of(body.inertia)]
    n = len(pi)
    assert [sum(y * x for y, x in zip(Y[n * k : n * k + n], pi, strict=True)) for k in range(model.nv)] == tau


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("energy", ["kinetic", "potential"])
def test_energies_in_rationals(energy: str, tree: str) -> None:
    numbers = Rationals(4)
    model = numbers.model(*TREES[tree])
    state = State(numbers.coordinates(model), numbers.numbers(model.nv))
    ((expected,),) = forms_of(f"{energy}_energy")[0].trace(model, state)
    pi = [x for body in model.bodies for x in parameters_of(body.inertia)]
    for form in forms_of(f"{energy}_regressor"):
        (row,) = form.trace(model, state)
        assert sum(y * x for y, x in zip(row, pi, strict=True)) == expected


def test_parameters_there_and_back() -> None:
    inertia = Rationals(1).inertia()
    assert inertia_of(parameters_of(inertia)) == inertia
    assert [parameters_of(unit).index(1) for unit in UNIT_INERTIAS] == list(range(10))


def base_forms() -> list[FunctionForm]:
    row = lookup("regressor_base")
    return [FunctionForm(row, form) for form in row.forms]


def run_base(form: FunctionForm, model: Model, inputs: Mapping[str, Array]) -> Array:
    """Computes base regressors (states, nv, nbase)."""
    (element,) = run_on_floats(form, model, inputs)
    return element


ROBOTS = {
    "arm7": ("arm7", "fixed", 43),
    "puma560": ("puma560", "fixed", 36),
    "planar3r": ("planar3r", "fixed", None),
    "quadruped12": ("quadruped12", "floating", 10 + 12 * 7),
    "panda": ("panda", "fixed", None),
    "floating panda": ("panda", "floating", None),
}


@pytest.fixture(scope="module", params=[*ROBOTS, "mimic", "all joints"])
def subject(request: pytest.FixtureRequest) -> tuple[Model, int | None]:
    if request.param == "mimic":
        description = with_mimics(read_urdf(PATHS["panda"]), np.random.default_rng(1))
        return build_robot(description, "floating").model, None
    if request.param == "all joints":
        from support.random_trees import in_floats  # noqa: PLC0415

        model = Rationals(8).model((-1, 0, 1, 2, 0, 4, 5), "RSHLRPR")
        bodies = tuple(map(in_floats, model.bodies))
        gravity = type(model.gravity)(*map(float, model.gravity))
        return Model(model.name, bodies, gravity), None
    name, base, count = ROBOTS[request.param]
    return robot(name, base).model, count  # type: ignore[arg-type]


def test_base_parameters(subject: tuple[Model, int | None]) -> None:
    """Yb (R pi) = Y pi for any pi, in every form; the columns are as many as the rank at other states."""
    model, count = subject
    base = base_parameters(model)
    R = np.array(base.matrix)
    assert R.shape == (len(base.columns), model.sizes["ninertial"])
    inputs = random_inputs(model, lookup("regressor").signature, 80, seed=7)
    (Y,) = run_on_floats(forms_of("regressor")[0], model, inputs)
    pi = np.random.default_rng(2).normal(size=model.sizes["ninertial"])
    for form in base_forms():
        Yb = run_base(form, model, inputs)
        assert relative_error(Yb @ (R @ pi), Y @ pi) < 1e-11, str(form)
        np.testing.assert_allclose(Yb, Y[:, :, base.columns], rtol=0, atol=1e-11 * np.abs(Y).max())
    stacked = Y.reshape(-1, Y.shape[-1])
    lengths = np.linalg.norm(stacked, axis=0)
    scaled = stacked / np.where(lengths > 1e-9 * lengths.max(), lengths, np.inf)
    rank = np.linalg.matrix_rank(scaled, 1e-10)
    assert rank == np.linalg.matrix_rank(scaled[:, base.columns], 1e-10) == len(base.columns)
    if count is not None:
        assert rank == count


def test_names_and_khalils_rules() -> None:
    """For a revolute joint about z, Iyy, m c_z and m merge with those of the parent; Ixx - Iyy does not."""
    model = robot("quadruped12", "floating").model
    base = base_parameters(model)
    R, ten = np.array(base.matrix), ["m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"]
    assert base.names[:10] == tuple(f"{name}:trunk" for name in ten)
    total = R[0]
    assert set(np.flatnonzero(total)) == {10 * k for k in range(model.nbodies)}
    assert np.all(total[total != 0] == pytest.approx(1))


REGRESSORS = ("regressor", "regressor_base", "kinetic_regressor", "potential_regressor")


def test_pinned_operations() -> None:
    """The operations for the arm, in the axes that the search finds for inverse dynamics."""
    model = robot("arm7").model
    axes = search(model)
    reduced = reduce(model, axes.turns, axes.slides)
    rows = map(lookup, REGRESSORS)
    assert [operations(reduced, row, row.form("moments")) for row in rows] == [1356, 1201, 232, 57]


def test_pinned_as_chosen() -> None:
    """The chosen forms of the puma after the passes; there, axes close to the joints' own are cheaper."""
    counted = count(robot("puma560"), REGRESSORS)
    assert [cost.total for _, cost in counted.values()] == [948, 873, 184, 39]


def test_lengths_that_stay_inputs() -> None:
    """Factors of the parent's columns are symbols then, whose magnitude is unknown."""
    pendulum = robot("double_pendulum")
    options = Options(functions=("regressor",), params=("xyz:*",))
    designed, update = design_functions(Request(pendulum, options))
    table = run(update.program, {"p": np.array(update.signature.inputs[0].default)})
    inputs = random_inputs(pendulum.model, lookup("regressor").signature, 3, seed=1)
    (expected,) = run_on_floats(forms_of("regressor")[0], pendulum.model, inputs)
    for k, Y in enumerate(expected):
        found = run(designed.program, {**{name: x[k] for name, x in inputs.items()}, **table})["Y"]
        np.testing.assert_allclose(found.reshape(Y.shape), Y, rtol=0, atol=1e-13)


FUNCTIONS = ["rnea", *REGRESSORS]


@pytest.fixture(scope="module")
def library() -> Library:
    return rbdgen.build(rbdgen.load_robot("puma560"), FUNCTIONS)


def test_from_c(library: Library) -> None:
    q = library.random(0, (5,))
    v, a = np.random.default_rng(1).normal(size=(2, 5, 6))
    tau, pi = library.rnea(q, v, a), library.inertial_parameters
    base: Any = library.base_parameters
    np.testing.assert_allclose(library.regressor(q, v, a) @ pi, tau, rtol=0, atol=1e-11 * np.abs(tau).max())
    Yb = library.regressor_base(q, v, a)
    np.testing.assert_allclose(Yb @ base.values, tau, rtol=0, atol=1e-11 * np.abs(tau).max())
    assert len(base.names) == Yb.shape[-1] == 36
    assert base.matrix.shape == (36, 60)
    assert all(finding.passed is not False for finding in check(library.folder))


def test_without_it_there_are_none() -> None:
    library = rbdgen.build(rbdgen.load_robot("double_pendulum"), ["rnea"])
    assert library.base_parameters is None
    assert library.inertial_parameters.shape == (20,)
    assert "base_parameters" not in library.manifest


def test_derivatives_of_base_regressors_can_be_built() -> None:
    """Their weights have as many columns as the robot has base parameters."""
    library = rbdgen.build("double_pendulum", ["regressor_base", "regressor_base_vjp"])
    q, v, a, step = np.random.default_rng(0).standard_normal((4, 2))
    weights = np.random.default_rng(1).standard_normal(library.regressor_base(q, v, a).shape)
    h = 1e-6
    after, before = (library.regressor_base(q + s * h * step, v, a) for s in (1, -1))
    rate = np.sum(weights * (after - before)) / (2 * h)
    np.testing.assert_allclose(library.regressor_base_vjp(q, v, a, weights).q_bar @ step, rate, rtol=1e-7)
