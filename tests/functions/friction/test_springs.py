"""Contacts with springs and dampers: their forces, rest, and oscillations."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.friction import CORNERS, Array, law, near_ground, on_points, placed, quadruped, simulate, step

import rbdgen
from rbdgen import Point, Sole
from rbdgen.errors import OptionError
from rbdgen.model.model import Model

G, MASS, DT = 9.81, 2.0, 1e-3


@cache
def ball(*extras: str) -> Model:
    """A free body of 2 kg with one contact at its centre of mass."""
    built = rbdgen.RobotBuilder("ball").add_body("ball", mass=MASS, inertia=(1, 1, 1))
    return rbdgen.load_robot(
        built, "floating", contacts=[Point("at", "ball", (0, 0, 0))], contact_with=extras
    ).model


@cache
def box() -> Model:
    """A free body on the sole below it, with springs at its corners."""
    built = rbdgen.RobotBuilder("box").add_body("box", mass=MASS, inertia=(0.01, 0.015, 0.02))
    sole = Sole("sole", "box", (0.2, 0.2), (0, 0, -0.05))
    return rbdgen.load_robot(built, "floating", contacts=[sole], contact_with=["elastic"]).model


def at_heights(heights: Any) -> Array:
    return placed(ball("elastic"), np.outer(heights, [0, 0, 1]))


GAINS = [(3e3, 0.0), (0.0, 40.0), (3e3, 40.0), (1e6, 1e3), (1e-3, 0.0)]


@pytest.mark.parametrize("form", ["composite", "articulated"])
def test_forces(form: str) -> None:
    """Below the ground the force at the end of the step is k p + d dp/dt, but it does not pull. Above it, the
    penetration at the end of the step is made in this step.
    """
    heights = np.array([-3e-3, -1e-4, 1e-4, 9e-4, 2e-3, 1.0])
    for k, d in GAINS:
        for down in (-0.5, 0.0, 1.0, 3.0):
            v = np.tile([0, 0, -down, 0, 0, 0], (len(heights), 1))
            found = step(ball("elastic"), form, q=at_heights(heights), v=v, springs=(k, d))
            depth, rate = -found.q[:, 2], -found.v[:, 2]
            rate = np.where(heights > 0, np.maximum(depth, 0) / DT, rate)
            force = np.maximum(k * depth + d * rate, 0)
            np.testing.assert_allclose(found.impulse[:, 2], DT * force, rtol=1e-9, atol=1e-12)
            assert found.residual.max() < 1e-12


def test_no_gains_are_the_law() -> None:
    """With 0 and 0, steps are those of contacts without springs, also where they bounce."""
    model = quadruped()
    sprung = replace(model, contact_with=("elastic",))
    state = near_ground(model, 15) | {"law": law(restitution=0.5, pull=0.7)}
    for one, other in zip(step(model, **state), step(sprung, **state), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-11)


def test_each_contact_has_its_own() -> None:
    """A block that is pushed in evenly has the forces of each corner's spring, and rigid ones elsewhere."""
    model = on_points(CORNERS, contact_solver=(5, 8, 2), contact_with=["elastic"]).model
    springs = np.array([(100.0, 1.0), (200.0, 0.5), (100.0, 1.0), (200.0, 0.5)])
    q = placed(model, (0, 0, 0.05 - 1e-3))
    found = step(model, q=q, springs=springs.ravel(), friction=np.zeros(4))
    depth = 0.05 - (found.q[0, 2] + found.v[0, 2] * 0)
    assert found.residual.max() < 1e-9
    mean = DT * (springs[:, 0] * depth - springs[:, 1] * found.v[0, 2])
    assert found.impulse[0, 2::3].sum() == pytest.approx(mean.sum(), rel=1e-3)
    mixed = step(model, q=q, springs=np.array([(100.0, 1.0), (0, 0), (100.0, 1.0), (0, 0)]).ravel())
    assert (mixed.impulse[0, [5, 11]] > 10 * mixed.impulse[0, [2, 8]]).all()


def test_rest() -> None:
    """A body comes to rest where the springs carry its weight, on a point and on a sole."""
    k, d, dt = 5e3, 200.0, 1e-2
    found = simulate(ball("elastic"), 60, q=at_heights([0.0]), springs=(k, d), dt=dt)[-1]
    assert found.q[0, 2] == pytest.approx(-MASS * G / k, rel=1e-6)
    depth = MASS * G / (4 * k)
    q = placed(box(), (0, 0, 0.05 - 0.8 * depth))
    found = simulate(box(), 8, q=q, springs=np.tile((k, d), 4), dt=0.1)[-1]
    assert found.q[0, 2] == pytest.approx(0.05 - depth, rel=1e-4)
    np.testing.assert_allclose(found.impulse[0, 2::3], 0.1 * MASS * G / 4, rtol=2e-2)


def test_a_ball_leaves_a_spring_after_half_a_period() -> None:
    """With w = sqrt(k / m), it is in contact for (pi + 2 atan(g / (w v))) / w. Steps take energy."""
    k, dt, down = 2e4, 5e-4, 0.5
    v = np.array([[0, 0, -down, 0, 0, 0]])
    found = simulate(ball("elastic"), 80, q=at_heights([0.0]), v=v, springs=(k, 0.0), dt=dt)
    touching = sum(x.impulse[0, 2] > 0 for x in found) * dt
    w = np.sqrt(k / MASS)
    assert touching == pytest.approx((np.pi + 2 * np.arctan(G / (w * down))) / w, rel=0.02)
    after = max(x.v[0, 2] for x in found)
    assert 0.8 * down < after < down


def test_friction_is_as_stiff_as_without_springs() -> None:
    """A soft spring does not let a contact creep: it sticks within the cone."""
    tilted = (0.2, 0, np.sqrt(1 - 0.04), 0)
    found = simulate(
        ball("elastic"), 60, q=at_heights([0.0]), springs=(2e3, 100.0), ground=tilted, friction=[0.5]
    )[-1]
    assert abs(found.v[0, :3] @ (np.sqrt(1 - 0.04), 0, -0.2)) < 1e-6  # along the slope


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            ["spring"],
            "contact_with=['spring'] is not known; choose from: elastic, anisotropic, limits, friction",
        ),
        ("elastic", "contact_with 'elastic' is not a list; give a list of some of: elastic, anisotropic,"),
        (3, "contact_with 3 is not a list"),
        ([None], "contact_with=[None] is not known"),
    ],
)
def test_mistakes(given: Any, told: str) -> None:
    with pytest.raises(OptionError) as error:
        rbdgen.load_robot("quadruped12", "floating", contact_with=given)
    assert told in str(error.value)


@pytest.mark.parametrize("extra", ["elastic", "anisotropic"])
def test_they_need_contacts(extra: str) -> None:
    with pytest.raises(OptionError) as error:
        rbdgen.load_robot("quadruped12", "floating", contact_with=[extra])
    told = "there are no contacts at points or soles; give contacts=['NAME=LINK']"
    assert str(error.value) == f"contact_with=['{extra}']: {told}"
