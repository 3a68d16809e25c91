"""Servos and stops act at the end of a step."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from support.few import few
from support.friction import crouched, outputs, quadruped, step

import rbdgen
from rbdgen.model.model import Model

SERVO = "contact_step_servo"


@pytest.mark.parametrize("form", ["composite", "articulated"])
def test_in_flight_they_are_the_implicit_law(form: str) -> None:
    """(M + dt kd + dt^2 kp) (v_next - v) = dt (tau + kp (target - q - dt v) - kd v - h) in the joints."""
    model, rng, dt = quadruped(), np.random.default_rng(0), 0.01
    q = crouched()
    q[2] += 5
    v, tau, target = rng.normal(size=18), rng.normal(size=18), rng.normal(size=12)
    kp, kd = rng.uniform(10, 50, 12), rng.uniform(0.1, 2, 12)
    gains = {"kp": kp, "kd": kd, "target": target, "stops": np.zeros(2)}
    found = step(model, form, SERVO, q=q, v=v, tau=tau, dt=dt, **gains)
    (M,), (h,) = outputs(model, "crba", q=q), outputs(model, "nle", q=q, v=v)
    M, h, joints = np.array(M[0]), h[0], np.arange(6, 18)
    M[joints, joints] += dt * kd + dt * dt * kp
    torque = tau - h
    torque[joints] += kp * (target - q[7:] - dt * v[joints]) - kd * v[joints]
    np.testing.assert_allclose(found.v[0], v + dt * np.linalg.solve(M, torque), rtol=0, atol=1e-10)
    still = {**gains, "kp": 0 * kp, "kd": 0 * kd}
    plain = step(model, form, q=q, v=v, tau=tau, dt=dt)
    np.testing.assert_allclose(
        step(model, form, SERVO, q=q, v=v, tau=tau, dt=dt, **still).v, plain.v, atol=1e-12
    )


@pytest.mark.parametrize("dt", few([5e-3, 1e-2], [1e-3, 5e-3, 1e-2]))
def test_a_quadruped_with_light_legs_stands(dt: float) -> None:
    """The feet carry the weight at all time steps."""
    model, q, v = quadruped(), crouched(), np.zeros(18)
    gains: dict[str, Any] = {
        "kp": np.full(12, 40.0),
        "kd": np.ones(12),
        "target": q[7:],
        "stops": np.zeros(2),
    }
    height, seconds = q[2], 0.3
    for _ in range(round(seconds / dt)):
        found = step(model, "composite", SERVO, q=q, v=v, dt=dt, **gains)
        q, v = found.q[0], found.v[0]
    assert abs(q[2] - height) < 0.1
    assert np.abs(v).max() < 1
    assert found.residual[0] < 1e-9


def test_the_same_torques_as_inputs_diverge_at_5_ms() -> None:
    """From joints that are 0.05 rad from their targets."""
    q, v, target = crouched(), np.zeros(18), crouched()[7:]
    q[7:] += 0.05
    for _ in range(40):
        tau = np.concatenate([np.zeros(6), 40 * (target - q[7:]) - v[6:]])
        with np.errstate(all="ignore"):
            found = step(quadruped(), q=q, v=v, tau=tau, dt=5e-3)
        q, v = found.q[0], found.v[0]
    assert not np.abs(v).max() < 10


@cache
def swing() -> Model:
    """An arm that falls to a limit of its joint, with a contact that never touches."""
    built = rbdgen.RobotBuilder("swing").add_body("base")
    solid: dict[str, Any] = {"mass": 1.0, "com": (0.3, 0, 0), "inertia": (1e-2, 1e-2, 1e-2)}
    built.add_body("arm", parent="base", type="revolute", axis=(0, 1, 0), limit=(-0.5, 0.4), **solid)
    return rbdgen.load_robot(built, contacts=[rbdgen.Point("tip", "arm", (0.1, 0, 0))]).model


@pytest.mark.parametrize("stops", [(1e5, 100.0), (0.0, 0.0)])
def test_stops_hold_at_limits(stops: tuple[float, float]) -> None:
    """The arm falls past its upper limit by less than a milliradian; without stops it falls on."""
    q, v, furthest = np.zeros(1), np.zeros(1), 0.0
    none = {"kp": [0.0], "kd": [0.0], "target": [0.0], "ground": [0, 0, 1, -10.0]}
    for _ in range(600):
        found = step(swing(), "composite", SERVO, q=q, v=v, stops=np.array(stops), **none)
        q, v = found.q[0], found.v[0]
        furthest = max(furthest, float(q[0]))
    if any(stops):
        assert 0.4 <= furthest < 0.401
        assert abs(v[0]) < 1e-3
    else:
        assert furthest > 1
