"""Steps where other functions know the answer: rigid contacts, impacts, flight; and Pinocchio's solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.friction import (
    Array,
    checked,
    crouched,
    law,
    outputs,
    quadruped,
    random_states,
    recorded,
    standing_torques,
    step,
)

STUCK = {"friction": np.full(4, 1e6), "law": law(softness=0)}


def on_the_ground(count: int) -> dict[str, Array]:
    """States near a crouch, with a plane through each foot, so that all gaps are 0."""
    rng, model = np.random.default_rng(3), quadruped()
    q = np.tile(crouched(), (count, 1))
    q[:, 7:] += 0.1 * rng.standard_normal((count, 12))
    position = outputs(model, "contact_pose", q=q)[0].reshape(count, 4, 3)
    ground = np.tile([0.0, 0, 1, 0], (count, 4)).reshape(count, 4, 4)
    ground[:, :, 3] = position[:, :, 2]
    v = 0.3 * rng.standard_normal((count, 18))
    v[:, 2] -= 2.0
    tau = rng.standard_normal((count, 18))
    return {"q": q, "v": v, "tau": tau, "dt": np.full((count, 1), 2e-3), "ground": ground.reshape(count, 16)}


def relative(found: Array, expected: Array) -> float:
    return float((np.abs(found - expected).max(1) / np.abs(expected).max(1)).max())


@pytest.mark.parametrize("form", ["composite", "articulated"])
def test_contacts_that_stick_are_those_of_an_impact(form: str) -> None:
    """From v_free, `contact_impulse` stops all contacts at once."""
    inputs = on_the_ground(200)
    found = step(quadruped(), form, **inputs, **STUCK)
    sticks = (found.impulse[:, 2::3] > 1e-3).all(1)
    assert sticks.sum() > 100
    q, dt = inputs["q"], inputs["dt"]
    (a,) = outputs(quadruped(), "aba", q=q, v=inputs["v"], tau=inputs["tau"])
    v, impulse = outputs(
        quadruped(),
        "contact_impulse",
        q=q,
        v=inputs["v"] + dt * a,
        restitution=[0.0],
        active=np.ones(4),
        mu=[0.0],
    )
    assert relative(found.v[sticks], v[sticks]) < 1e-12
    assert relative(found.impulse[sticks], impulse[sticks]) < 1e-11


@pytest.mark.parametrize("form", ["composite", "articulated"])
def test_contacts_at_rest_are_those_of_forward_dynamics(form: str) -> None:
    """v + dt a of `contact_aba`, which pushes and pulls, where all contacts push."""
    inputs = on_the_ground(400)
    inputs["v"] = 0 * inputs["v"]
    inputs["tau"] = standing_torques(crouched()) + 0.2 * inputs["tau"]
    found = step(quadruped(), form, **inputs, **STUCK)
    sticks = (found.impulse[:, 2::3] > 1e-3).all(1)
    assert sticks.sum() > 100
    a, forces = outputs(
        quadruped(),
        "contact_aba",
        q=inputs["q"],
        v=inputs["v"],
        tau=inputs["tau"],
        active=np.ones(4),
        mu=[0.0],
    )
    dt = inputs["dt"]
    np.testing.assert_allclose(found.v[sticks], (dt * a)[sticks], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.impulse[sticks], (dt * forces)[sticks], rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", ["composite", "articulated", "moments"])
def test_a_step_in_flight_is_the_one_without_contacts(form: str) -> None:
    inputs = random_states(200, True)
    inputs["ground"].reshape(-1, 4, 4)[:, :, 3] -= 2
    found = step(quadruped(), form, **inputs)
    q, v = outputs(quadruped(), "step", **{x: inputs[x] for x in ("q", "v", "tau", "dt")})
    assert (found.impulse == 0).all()
    assert not np.signbit(found.residual).any()
    assert (found.residual == 0).all()
    scale = np.abs(inputs["v"]).max(1, keepdims=True) + np.abs(v).max(1, keepdims=True)
    if form == "composite":
        assert np.abs((found.v - v) / scale).max() < 1e-14
    assert np.abs((found.v - v) / scale).max() < 1e-13
    np.testing.assert_allclose(found.q, q, rtol=0, atol=1e-14)


def rows_of(inputs: dict[str, Array]) -> tuple[Array, Array]:
    """G + R and g of steps on level ground, with the default law."""
    model, q, v = quadruped(), inputs["q"], inputs["v"]
    (M,), (J,) = outputs(model, "crba", q=q), outputs(model, "contact_jacobian", q=q)
    (a,) = outputs(model, "aba", q=q, v=v, tau=inputs["tau"])
    gap = outputs(model, "contact_pose", q=q)[0].reshape(-1, 4, 3)[:, :, 2]
    G = J @ np.linalg.solve(M, J.transpose(0, 2, 1))
    for k in range(0, 12, 3):
        block = G[:, k : k + 3, k : k + 3]
        block += 1e-4 / 3 * np.trace(block, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    g = np.einsum("sij,sj->si", J, v + inputs["dt"] * a)
    g[:, 2::3] += np.where(gap > 0, gap, np.maximum(0.2 * gap, -inputs["dt"])) / inputs["dt"]
    return G, g


def by_admm(G: Array, g: Array, mu: Array) -> tuple[Array, bool]:
    """The impulses that Pinocchio's ADMM finds for the exact law."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for one in mu:
        point = pin.PointContactConstraintModel(model, 1)
        point.setFriction(float(one))
        models.append(pin.ConstraintModel(point))
        datas.append(models[-1].createData())
    settings, result = pin.ADMMSolverSettings(), pin.ADMMSolverResult()
    settings.max_iterations, settings.solve_ncp = 20000, True
    for kind in ("feasibility", "complementarity"):
        for of in ("absolute", "relative"):
            setattr(settings, f"{of}_{kind}_tol", 1e-13)
    solver = pin.ADMMConstraintSolver(len(g))
    done = solver.solve(pin.DelassusOperatorDense(G), g, models, datas, settings, result)
    return np.asarray(result.retrieveConstraintImpulses()), bool(done)


@pytest.mark.skipif(not hasattr(pin, "ADMMConstraintSolver"), reason="Pinocchio 4 has this solver")
def test_pinocchio_finds_the_same_impulses() -> None:
    """Recorded problems of all kinds. What ADMM does not converge on within its iterations is left out."""
    motions = recorded()
    cases = len(motions.cases)
    taken = np.array([20 * cases * k + case for k in range(6) for case in range(cases)])
    inputs: dict[str, Any] = {name: values[taken] for name, values in motions.inputs.items()}
    found = step(quadruped(), **inputs)
    assert checked(quadruped(), found, **inputs).slip.max() < 1e-12
    compared: list[float] = []
    for G, g, mu, ours in zip(*rows_of(inputs), inputs["friction"], found.impulse, strict=True):
        theirs, done = by_admm(G, g, mu)
        if done:
            compared.append(float(np.abs(G @ (theirs - ours)).max()))
    assert len(compared) > 0.8 * len(taken)
    assert np.quantile(compared, 0.9) < 1e-10
    assert max(compared) < 1e-7  # ADMM's own residual is 1e-8 on nearly straight legs
