"""Energies are exact: v^T M v / 2, gravity as their slope, and the balance of power; scalars in C."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.forms import FunctionForm, forms_of, parametrize
from support.rationals import Rationals
from support.trees import some

import rbdgen
from rbdgen.checks.check import check
from rbdgen.errors import ArrayValueError
from rbdgen.model.joints import Angle, Coordinate, Pose
from rbdgen.model.model import Model
from rbdgen.resources import robot_root
from rbdgen.runtime import Library
from rbdgen.spatial.ops import ZERO, Vector
from rbdgen.spatial.quaternion import rotation_of
from rbdgen.sweeps.inputs import State

TREES = some("arm", "two arms", "slides", "floating arms")


@pytest.fixture(params=TREES, scope="module")
def case(request: pytest.FixtureRequest) -> tuple[Model, State]:
    numbers = Rationals(11)
    model = numbers.model(*TREES[request.param])
    q = numbers.coordinates(model)
    v, a, tau = (numbers.numbers(model.nv) for _ in range(3))
    return model, State(q, v, a, tau)


def energy(form: FunctionForm, model: Model, state: State) -> Any:
    ((value,),) = form.trace(model, state)
    return value


@parametrize("kinetic_energy")
def test_half_of_v_M_v(form: FunctionForm, case: tuple[Model, State]) -> None:
    model, state = case
    (M,) = forms_of("crba")[0].trace(model, state)
    n = model.nv
    expected = sum(state.v[i] * M[n * i + j] * state.v[j] for i in range(n) for j in range(n)) / 2
    assert energy(form, model, state) == expected > 0


@parametrize("potential_energy")
def test_all_forms_are_equal(form: FunctionForm, case: tuple[Model, State]) -> None:
    """All forms are exactly equal, with the constant of the masses that base parameters move to parents."""
    assert energy(form, *case) == energy(forms_of("potential_energy")[0], *case)


@parametrize("potential_energy")
def test_a_mass_by_hand(form: FunctionForm) -> None:
    """A mass m at c on a slide along x: U = -m g . (p + R (c + q x))."""
    numbers = Rationals(5)
    model = numbers.model((-1,), "P")
    (body,) = model.bodies
    q = Fraction(3, 7)
    R, p = body.placement
    mass = body.inertia.mass
    center = body.inertia.first_moment * (Fraction(1) / mass) + body.joint.axis * q
    expected = -mass * model.gravity.dot(p + R.apply(center))
    assert energy(form, model, State([q])) == expected


def displaced(q: Coordinate, dof: int, h: Fraction) -> Coordinate:
    """The coordinate moved along a degree of freedom, exactly on the manifold, about h far."""
    cayley = Angle((1 - h * h / 4) / (1 + h * h / 4), h / (1 + h * h / 4))
    if isinstance(q, Angle):
        return q + cayley
    if not isinstance(q, Pose):
        return q + h
    axis = Vector(*(Fraction(int(k == dof % 3)) for k in range(3)))
    if dof < 3:
        return Pose(q.position + rotation_of(q.quaternion).apply(axis * h), q.quaternion)
    half = Angle((1 - h * h / 16) / (1 + h * h / 16), (h / 2) / (1 + h * h / 16))
    u, w = Vector(*q.quaternion[:3]), q.quaternion[3]
    r = axis * half.sin
    return Pose(q.position, (*(u * half.cos + r * w + u.cross(r)), w * half.cos - u.dot(r)))


@parametrize("potential_energy")
def test_gravity_is_the_slope(form: FunctionForm, case: tuple[Model, State]) -> None:
    """Central differences in rationals have no rounding error, only the truncation error of order h^2."""
    model, state = case
    (gravity,) = forms_of("gravity")[0].trace(model, state)
    h = Fraction(1, 10**6)
    for i, body in enumerate(model.bodies):
        for dof in range(body.joint.nv):
            ends = []
            for step in (h, -h):
                q = list(state.q)
                q[i] = displaced(q[i], dof, step)
                ends.append(energy(form, model, replace(state, q=q)))
            slope = (ends[0] - ends[1]) / (2 * h)
            assert abs(slope - gravity[body.joint.idx_v + dof]) < 1e-9


@parametrize("kinetic_energy")
def test_the_balance_of_power(form: FunctionForm, case: tuple[Model, State]) -> None:
    """dT/dt = v . (tau - g): the kinetic energy changes by the power of the torques that exceed gravity."""
    model, state = case
    (tau,) = forms_of("rnea")[0].trace(model, state)
    (gravity,) = forms_of("gravity")[0].trace(model, state)
    power = sum(v * (t - g) for v, t, g in zip(state.v, tau, gravity, strict=True))
    h = Fraction(1, 10**6)
    ends = []
    for step in (h, -h):
        q: list[Coordinate] = list(state.q)
        for i, body in enumerate(model.bodies):
            for dof, rate in enumerate(body.joint.slice(state.v)):
                q[i] = displaced(q[i], dof, step * rate)
        v = [rate + step * a for rate, a in zip(state.v, state.a, strict=True)]
        ends.append(energy(form, model, replace(state, q=q, v=v)))
    assert abs((ends[0] - ends[1]) / (2 * h) - power) < 1e-6 * abs(power)


@parametrize("kinetic_energy", "potential_energy")
def test_nothing_moves_at_rest_in_no_field(form: FunctionForm, case: tuple[Model, State]) -> None:
    model, state = case
    resting = replace(state, v=[0] * model.nv)
    assert energy(form, replace(model, gravity=ZERO), resting) == 0


@pytest.fixture(scope="module", params=["double", "float"])
def library(request: pytest.FixtureRequest) -> Library:
    robot = rbdgen.load_robot(robot_root() / "double_pendulum.urdf", "floating")
    return rbdgen.build(robot, ["kinetic_energy", "potential_energy", "crba"], real=request.param)


def test_scalars_from_c(library: Library) -> None:
    """One state gives an array of no axes, and several give one number each, by every way of calling C."""
    tolerance = 1e-5 if library.manifest["real"] == "float" else 1e-13
    generator = np.random.default_rng(0)
    q = library.random(generator, (3, 40))
    v = generator.standard_normal((3, 40, library.manifest["nv"])).astype(q.dtype)
    T, M = library.kinetic_energy(q, v), library.crba(q)
    assert T.shape == (3, 40)
    np.testing.assert_allclose(T, np.einsum("...i,...ij,...j", v, M, v) / 2, rtol=tolerance)
    single = library.kinetic_energy(q[1, 2], v[1, 2])
    assert (single.shape, single.dtype) == ((), q.dtype)
    np.testing.assert_allclose(single, T[1, 2], rtol=tolerance)
    np.testing.assert_allclose(
        float(library.kinetic_energy(q[1, 2].tolist(), v=v[1, 2])), T[1, 2], rtol=tolerance
    )
    out = np.empty((3, 40), q.dtype)
    assert library.kinetic_energy(q, v, out=out, threads=2) is out
    np.testing.assert_array_equal(out, T)
    one = np.empty((), q.dtype)
    library.potential_energy(q[0, 0], out=one)
    bound = library.potential_energy.bind(np.ascontiguousarray(q[0, 0]))
    bound()
    np.testing.assert_array_equal(bound.out, one)
    with pytest.raises(ArrayValueError, match=r"out for T has shape \(2,\), expected \(\)"):
        library.kinetic_energy(q[0, 0], v[0, 0], out=np.empty(2, q.dtype))


def test_the_folder_checks_itself(library: Library) -> None:
    """The self-test, batches, v^T M v / 2 = T and Pinocchio agree for a folder with scalars."""
    findings = check(library.folder)
    assert all(finding.passed for finding in findings)
    assert {"v^T M v / 2 = T", "potential_energy = Pinocchio's"} <= {finding.what for finding in findings}
