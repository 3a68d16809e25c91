"""The law of contact holds: in recorded motions and random states, by functions that know no solver."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from support.friction import (
    Array,
    Stepped,
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


def test_it_holds_in_recorded_motions() -> None:
    """In every step of a quadruped that stands, drops, slides, trots, and stands on nearly straight legs."""
    motions = recorded()
    assert motions.residual.max() < 1e-9
    found = step(quadruped(), **motions.inputs)
    errors = checked(quadruped(), found, **motions.inputs)
    for name, error in errors._asdict().items():
        assert np.max(error) < 1e-12, name
    touching = (found.impulse.reshape(-1, 4, 3)[:, :, 2] > 0).sum(1)
    assert set(touching) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("wild", [False, True])
def test_random_states(wild: bool) -> None:
    """All errors of the law are as small as the residual says; nearly all states are solved."""
    inputs = random_states(4096, wild)
    found = step(quadruped(), **inputs)
    residual = found.residual[:, 0]
    assert all(np.isfinite(output).all() for output in found)
    assert (residual < 1e-6).mean() >= 0.995
    solved = residual < 1e-12
    errors = checked(quadruped(), found, **inputs)
    assert errors.motion < 1e-12
    assert errors.integration.max() < 1e-14
    assert errors.cone.max() < 1e-12
    for error in (errors.complementarity, errors.slip):
        assert error[solved].max() < 1e-11
        assert (error < 10 * residual + 1e-11).all()
        assert error[~solved].max() > 1e-9  # the residual does not cry wolf


def test_a_longer_plan_solves_more() -> None:
    inputs = random_states(2048, True)
    plans = [(3, 0, 0), (3, 1, 0), (3, 2, 0), (3, 3, 1)]
    solved = [(step(quadruped(plan), **inputs).residual < 1e-6).mean() for plan in plans]
    assert all(less < more for less, more in pairwise(solved))


def kinetic_energy(q: Array, v: Array) -> Array:
    (M,) = outputs(quadruped(), "crba", q=q)
    return 0.5 * np.einsum("si,sij,sj->s", v, M, v)


@pytest.mark.parametrize("wild", [False, True])
def test_impulses_add_no_energy(wild: bool) -> None:
    """Without restitution, and if nothing is below the ground, also where the solver has not converged."""
    inputs = random_states(4096, wild, lowest=0.0)
    found = step(quadruped(), **inputs)
    (a,) = outputs(quadruped(), "aba", **{x: inputs[x] for x in ("q", "v", "tau")})
    before = kinetic_energy(inputs["q"], inputs["v"] + inputs["dt"] * a)
    after = kinetic_energy(inputs["q"], found.v)
    assert ((after - before) <= 1e-12 * before).all()
    assert (after < 0.99 * before).mean() > 0.3


def test_standing_forces_sum_to_the_weight() -> None:
    """A quadruped whose torques hold it at rest stays at rest, and the ground carries its weight."""
    q, dt = crouched(), 2e-3
    found = step(quadruped(), q=q, tau=standing_torques(q), dt=dt, law=law(softness=0))
    force = found.impulse.reshape(4, 3).sum(0) / dt
    mass = outputs(quadruped(), "crba", q=q)[0][0, 0, 0]
    assert np.abs(found.v).max() < 1e-12
    np.testing.assert_allclose(force, [0, 0, mass * 9.81], rtol=0, atol=1e-9 * mass * 9.81)
    assert (found.impulse[0, 2::3] > 0).all()


# ---- symmetries


def _solved(count: int = 512) -> dict[str, Array]:
    """Random states that are solved up to rounding."""
    inputs = random_states(count, False)
    solved = step(quadruped(), **inputs).residual[:, 0] < 1e-13
    assert solved.mean() > 0.9
    return {name: values[solved] for name, values in inputs.items()}


def _close(found: Stepped, expected: Stepped) -> None:
    for one, other in zip(found[:3], expected[:3], strict=True):
        error = np.abs(one - other).max(1) / np.maximum(1, np.abs(other).max(1))
        assert np.quantile(error, 0.98) < 1e-12  # a few are ill-conditioned
        assert error.max() < 1e-9


def test_turned_about_the_vertical() -> None:
    """A turned state gives the turned motion: the law does not depend on the choice of the tangents."""
    inputs, angle = _solved(), 0.7
    expected = step(quadruped(), **inputs)
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])

    def turned(q: Array) -> Array:
        x, y, z, w = q[:, 3:7].T
        a, b = np.sin(angle / 2), np.cos(angle / 2)
        attitude = np.stack([b * x - a * y, b * y + a * x, b * z + a * w, b * w - a * z], 1)
        return np.hstack([q[:, :3] @ R.T, attitude, q[:, 7:]])

    found = step(quadruped(), **{**inputs, "q": turned(inputs["q"])})
    impulse = (expected.impulse.reshape(-1, 4, 3) @ R.T).reshape(-1, 12)
    _close(found, Stepped(turned(expected.q), expected.v, impulse, expected.residual))


def test_mirrored() -> None:
    """The mirror image of a state gives the mirror image of its step; left legs change place with right
    ones, so the solver visits the contacts in another order.
    """
    order = [3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8]
    signs = np.tile([-1.0, 1, 1], 4)
    feet = [1, 0, 3, 2]

    def of_joints(x: Array) -> Array:
        return x[:, order] * signs

    def of_q(q: Array) -> Array:
        return np.hstack([q[:, :3] * [1, -1, 1], q[:, 3:7] * [-1, 1, -1, 1], of_joints(q[:, 7:])])

    def of_v(v: Array) -> Array:
        return np.hstack([v[:, :3] * [1, -1, 1], v[:, 3:6] * [-1, 1, -1], of_joints(v[:, 6:])])

    inputs = _solved()
    expected = step(quadruped(), **inputs)
    mirror = {
        "q": of_q(inputs["q"]),
        "v": of_v(inputs["v"]),
        "tau": of_v(inputs["tau"]),
        "dt": inputs["dt"],
        "ground": inputs["ground"].reshape(-1, 4, 4)[:, feet].reshape(-1, 16),
        "friction": inputs["friction"][:, feet],
    }
    impulse = (expected.impulse.reshape(-1, 4, 3)[:, feet] * [1, -1, 1]).reshape(-1, 12)
    _close(
        step(quadruped(), **mirror), Stepped(of_q(expected.q), of_v(expected.v), impulse, expected.residual)
    )
