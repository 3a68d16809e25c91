"""Centre of mass, centroidal momentum and Coriolis matrix: exact rates by dual numbers, counts, and the C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.dual import Dual, moving, rate_of, value_of
from support.few import few
from support.forms import FORMS, FunctionForm, forms_of, parametrize, run_on_floats
from support.momentum import MOMENTUM
from support.rationals import Rationals
from support.robots import robot
from support.states import random_inputs
from support.trees import some
from trees.check import in_loops

import rbdgen
from rbdgen.checks.check import check
from rbdgen.errors import ModelError
from rbdgen.model.build import Base
from rbdgen.model.inertia import Inertia
from rbdgen.model.model import WORLD, Model
from rbdgen.pipeline.design import count
from rbdgen.resources import robot_root
from rbdgen.spatial.ops import ZERO, Vector
from rbdgen.sweeps.inputs import State

TREES = some("arm", "two arms", "slides", "floating arms", "screws", "in a plane", "ball", "all")

Rows = list[list[Any]]


@pytest.fixture(params=TREES, scope="module")
def case(request: pytest.FixtureRequest) -> tuple[Model, State]:
    numbers = Rationals(len(request.param))
    model = numbers.model(*TREES[request.param])
    q = numbers.coordinates(model)
    v, a, tau = (numbers.numbers(model.nv) for _ in range(3))
    return model, State(q, v, a, tau)


def vector(form: FunctionForm, model: Model, state: State) -> list[Any]:
    if (form.form.for_size or form.form.name == "freedoms") and not in_loops(model):
        form = textbook(form.function.name)
    (output,) = form.trace(model, state)
    return list(output)


def matrix(form: FunctionForm, model: Model, state: State) -> Rows:
    flat, n = vector(form, model, state), model.nv
    return [flat[k : k + n] for k in range(0, len(flat), n)]


def textbook(function: str) -> FunctionForm:
    return forms_of(function)[0]


def product(A: Rows, x: Any) -> list[Any]:
    return [sum(a * b for a, b in zip(row, x, strict=True)) for row in A]


def along(model: Model, state: State) -> State:
    """The state with its rates: q moves by v, v by a."""
    v = [Dual(x, rate) for x, rate in zip(state.v, state.a, strict=True)]
    return replace(state, q=moving(model, state.q, state.v), v=v)


def rates(form: FunctionForm, case: tuple[Model, State]) -> list[Any]:
    """The rates of a form's output along the motion; its values are those without dual numbers."""
    model, state = case
    found = vector(form, model, along(model, state))
    assert [value_of(x) for x in found] == vector(form, model, state)
    return [rate_of(x) for x in found]


RATES = {
    "com_velocity": "com",
    "com_acceleration": "com_velocity",
    "centroidal_matrix_rate": "centroidal_matrix",
}


@parametrize(*RATES)
def test_rates(form: FunctionForm, case: tuple[Model, State]) -> None:
    """The result of each form is the rate of another function, in all forms of that one."""
    for slower in forms_of(RATES[form.function.name]):
        assert vector(form, *case) == rates(slower, case), str(slower)


@parametrize("coriolis")
def test_rate_of_M_and_nonlinear_effects(form: FunctionForm, case: tuple[Model, State]) -> None:
    """dM/dt = C + C^T and C v = nle - gravity."""
    model, state = case
    C, n = matrix(form, model, state), model.nv
    Mdot = rates(textbook("crba"), case)
    assert Mdot == [C[i][j] + C[j][i] for i in range(n) for j in range(n)]
    nle, gravity = (vector(textbook(name), model, state) for name in ("nle", "gravity"))
    assert product(C, state.v) == [x - y for x, y in zip(nle, gravity, strict=True)]


@parametrize("coriolis")
def test_the_Coriolis_matrix_is_linear_in_v(form: FunctionForm, case: tuple[Model, State]) -> None:
    model, state = case
    twice = matrix(form, model, replace(state, v=[2 * x for x in state.v]))
    assert twice == [[2 * x for x in row] for row in matrix(form, model, state)]


@parametrize("centroidal_matrix")
def test_momentum(form: FunctionForm, case: tuple[Model, State]) -> None:
    """A_g v = h_g, and its linear rows are those of the centre of mass times the mass."""
    model, state = case
    A = matrix(form, model, state)
    for momentum in forms_of("centroidal_momentum"):
        assert product(A, state.v) == vector(momentum, model, state)
    mass = sum(body.inertia.mass for body in model.bodies)
    for jacobian in forms_of("com_jacobian"):
        J = matrix(jacobian, model, state)
        assert A[:3] == [[mass * x for x in row] for row in J]
        assert product(J, state.v) == vector(textbook("com_velocity"), model, state)


@parametrize("kinetic_energy")
def test_power(form: FunctionForm, case: tuple[Model, State]) -> None:
    """dT/dt = v . (tau - gravity), exactly."""
    model, state = case
    tau, gravity = (vector(textbook(name), model, state) for name in ("rnea", "gravity"))
    power = sum(v * (x - g) for v, x, g in zip(state.v, tau, gravity, strict=True))
    assert rates(form, case) == [power]


@parametrize("centroidal_momentum")
def test_forces_from_outside_change_the_momentum(form: FunctionForm) -> None:
    """For a floating robot, the wrench on its base is all that acts except gravity, about any point."""
    numbers = Rationals(4)
    model = numbers.model(*TREES["floating arms"])
    state = State(numbers.coordinates(model), numbers.numbers(model.nv), numbers.numbers(model.nv))
    state = replace(state, a=vector(textbook("aba"), model, replace(state, tau=[0] * model.nv)))
    mass = sum(body.inertia.mass for body in model.bodies)
    assert rates(form, (model, state)) == [*(model.gravity * mass), 0, 0, 0]


@parametrize(*MOMENTUM[1:])
def test_far_from_the_origin_of_the_world(form: FunctionForm) -> None:
    """The position of a floating robot changes c only, and the cheap forms lose no digits."""
    model = robot("quadruped12", "floating").model
    inputs = random_inputs(model, form.function.signature, 2)
    away = inputs["q"] + np.r_[1e7, -3e7, 2e7, np.zeros(model.nq - 3)]
    if form.form.reduced:
        (near,), (far,) = (run_on_floats(form, model, {**inputs, "q": q}) for q in (inputs["q"], away))
        np.testing.assert_array_equal(near, far)


def test_momentum_across_a_fixed_axis() -> None:
    """A body on a fixed axis has angular momentum normal to it, on which no joint torque depends."""
    numbers = Rationals(2)
    model = numbers.model((WORLD,), "R")
    (body,) = model.bodies
    for form in forms_of("centroidal_momentum"):
        linear_and_angular = vector(form, model, State([numbers.coordinate(body.joint.type)], [1]))
        axis = body.placement.rotation.apply(body.joint.axis)
        across = Vector(*linear_and_angular[3:]).cross(axis)
        assert across != ZERO


@pytest.mark.parametrize("name", MOMENTUM)
def test_no_mass_has_no_centre(name: str) -> None:
    """Bodies without mass, which rotational inertia makes movable, are refused in one line."""
    model = robot("double_pendulum").model
    turning = Inertia(0, ZERO, model.bodies[0].inertia.rotational)
    model = replace(model, bodies=tuple(replace(body, inertia=turning) for body in model.bodies))
    for form in forms_of(name):
        inputs = random_inputs(model, form.function.signature, 1)
        with pytest.raises(ModelError, match=r"'double_pendulum': its moving bodies have no mass") as caught:
            run_on_floats(form, model, inputs)
        assert "\n" not in str(caught.value)


WORLD_ALIGNED = ("crba_world", "nle_world")

PINNED: dict[str, tuple[str, Base, tuple[str, ...]]] = {
    "momentum_arm7": ("arm7", "fixed", (*MOMENTUM, "coriolis")),
    "world_aligned_quadruped12": ("quadruped12", "floating", WORLD_ALIGNED),
    "momentum_quadruped12": ("quadruped12", "floating", (*MOMENTUM, "coriolis")),
}

AT_MOST = {"com_jacobian": 135, "centroidal_matrix": 414}
"""The largest counts of the arm."""


@pytest.mark.parametrize("table", few(list(PINNED)[:2], PINNED))
def test_pinned_counts(table: str, golden: Callable[[str, str], None]) -> None:
    """Pins the operations of the chosen forms."""
    name, base, functions = PINNED[table]
    lines = []
    for function, (form, cost) in count(robot(name, base), functions).items():
        lines.append(f"{name} {function}: {form}: {cost.total}")
        if name == "arm7":
            assert cost.total <= AT_MOST.get(function, cost.total)
    golden(f"chosen_counts/{table}.txt", "\n".join(lines) + "\n")


def test_compiled_and_checked(tmp_path: Any) -> None:
    """Checks the C with batches, self-test, Pinocchio and every identity, with none left out."""
    described = rbdgen.load_robot(robot_root() / "double_pendulum.urdf", "floating")
    functions = [*MOMENTUM, "joint_momentum", "coriolis", *WORLD_ALIGNED, "crba", "rnea", "nle", "gravity"]
    functions += ["rnea_derivatives", "kinetic_energy"]
    folder = rbdgen.generate(described, tmp_path, functions=functions)
    findings = check(folder)
    assert all(finding.passed for finding in findings), findings
    told = {finding.what for finding in findings}
    rows = [row for form in FORMS if (row := form.function).name in functions]
    assert {identity.what for row in rows for identity in row.identities} <= told
    lib = rbdgen.load(folder)
    q, v = lib.random(3, (4,)), np.ones((4, lib.manifest["nv"]))
    assert lib.com(q).shape == (4, 3)
    assert lib.centroidal_matrix(q[0]).shape == (6, lib.manifest["nv"])
    np.testing.assert_allclose(
        np.einsum("kij,kj->ki", lib.com_jacobian(q), v), lib.com_velocity(q, v), atol=1e-13
    )
