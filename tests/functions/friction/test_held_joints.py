"""Limits and dry friction of joints as rows of the solver: stops, rest, energy, and what others do."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from support.friction import Array, law, outputs, simulate, step

import rbdgen
from rbdgen import Point, RobotBuilder
from rbdgen.errors import OptionError
from rbdgen.functions.friction.held import Bounds, held, impulse_of_joint
from rbdgen.model.model import Model

G, MASS, LENGTH, DT = 9.81, 1.5, 0.5, 2e-3
INERTIA = 0.02 + MASS * LENGTH**2
LOW, HIGH, FRICTION = -0.4, 0.9, 1.2
FAR: Any = (0, 0, 1, -1e3)
"""Ground that nothing touches."""

RIGID = law(softness=0)


def rod(built: RobotBuilder, **more: Any) -> RobotBuilder:
    """A pendulum about y, which hangs down at 0."""
    return built.add_body(
        "rod",
        parent="base",
        type="revolute",
        axis=(0, 1, 0),
        mass=MASS,
        com=(0, 0, -LENGTH),
        inertia=(0.02, 0.02, 0.001),
        **more,
    )


@cache
def pendulum(*extras: str) -> Model:
    """A pendulum with limits and friction, of which the extras are rows."""
    built = rod(RobotBuilder("pendulum").add_body("base"), limit=(LOW, HIGH), friction=FRICTION)
    return rbdgen.load_robot(
        built, friction="exact", contacts=[Point("tip", "rod", (0, 0, -1))], contact_with=extras
    ).model


@cache
def arm() -> Model:
    """A floating trunk with an arm of three joints, all rows, a foot, and a joint that follows another."""
    built = RobotBuilder("arm").add_body("trunk", mass=3, com=(0, 0, 0.05), inertia=(0.04, 0.03, 0.02))
    solid: dict[str, Any] = {"mass": 0.7, "com": (0.01, 0, -0.1), "inertia": (4e-3, 3e-3, 2e-3)}
    built.add_body("a", parent="trunk", type="revolute", axis=(0, 1, 0), limit=(-1, 1), friction=0.3, **solid)
    built.add_body(
        "b", parent="a", type="continuous", axis=(1, 0, 0.3), xyz=(0, 0, -0.2), friction=0.2, **solid
    )
    built.add_body("c", parent="b", type="prismatic", axis=(0, 0.6, 0.8), limit=(-0.05, 0.1), **solid)
    contacts = [Point("foot", "c", (0, 0, -0.1)), Point("back", "trunk", (0, 0, -0.1), radius=0.03)]
    return rbdgen.load_robot(
        built, "floating", friction="exact", contacts=contacts, contact_with=["limits", "friction"]
    ).model


def swung(model: Model, q: float, v: float, steps: int, **more: Any) -> tuple[Array, Array, Array]:
    """The angle, the speed and the impulse on the joint after each step."""
    inputs = {"dt": DT, "ground": FAR, "law": RIGID, **more}
    found = simulate(model, steps, q=np.array([[q]]), v=np.array([[v]]), **inputs)
    assert max(x.residual[0, 0] for x in found) < 1e-12
    return tuple(np.array([x[k][0, -1] for x in found]) for k in range(3))  # type: ignore[return-value]


@pytest.mark.parametrize("start", [(0.7, 4.0), (-0.2, -3.0), (0.89, 60.0)])
def test_a_joint_stops_at_its_limit(start: tuple[float, float]) -> None:
    """It arrives exactly there, has no energy of motion left, and never passes it."""
    q, v, impulse = swung(pendulum("limits"), *start, 40)
    limit = HIGH if start[1] > 0 else LOW
    hit = int(np.argmax(np.abs(q - limit) < 1e-12))
    assert np.abs(q - limit).min() < 1e-12
    assert q.min() >= LOW - 1e-12
    assert q.max() <= HIGH + 1e-12
    assert impulse[hit] * start[1] < 0
    assert abs(v[hit + 1]) < 1e-12 or v[hit + 1] * start[1] < 0  # gravity may take it back
    energy = 0.5 * INERTIA * v**2 + MASS * G * LENGTH * (1 - np.cos(q))
    assert np.diff(energy).max() < 2e-3 * energy[0]  # the error of the integrator
    assert energy[hit + 1] < 0.8 * energy[0]


def test_a_joint_rests_on_its_limit() -> None:
    """A torque presses it there, and the impulse holds against the torque and gravity."""
    q, v, impulse = swung(pendulum("limits"), HIGH, 0.0, 10, tau=[30.0])
    np.testing.assert_allclose(q, HIGH, atol=1e-14)
    np.testing.assert_allclose(v, 0, atol=1e-13)
    # the limit alone is a row, so the friction is that of a joint at rest, which is 0
    np.testing.assert_allclose(impulse, DT * (MASS * G * LENGTH * np.sin(HIGH) - 30.0), rtol=1e-9)


def test_a_joint_beyond_its_limit_comes_back() -> None:
    """By the part `pull` of the way in each step, and not faster than `push`."""
    q, _, _ = swung(pendulum("limits"), HIGH + 1e-3, 0.0, 5, tau=[30.0], law=law(softness=0, pull=0.2))
    np.testing.assert_allclose(q - HIGH, 1e-3 * 0.8 ** np.arange(1, 6), rtol=1e-9)
    _, v, _ = swung(pendulum("limits"), HIGH + 0.5, 0.0, 1, tau=[30.0], law=law(softness=0, push=0.7))
    assert v[0] == pytest.approx(-0.7)


def test_dry_friction_holds_up_to_its_torque() -> None:
    """Below f the pendulum does not move at all, and above it the rest of the torque accelerates it."""
    at = 0.1
    weight = MASS * G * LENGTH * np.sin(at)
    for extra in (-1.0, -0.999, 0.0, 0.5, 0.999, 1.0):
        _, v, impulse = swung(pendulum("friction"), at, 0.0, 1, tau=[weight + extra * FRICTION])
        np.testing.assert_allclose(v, 0, atol=1e-14)
        np.testing.assert_allclose(impulse, -DT * extra * FRICTION, atol=1e-14)
    for extra in (-2.0, -1.001, 1.001, 3.0):
        _, v, impulse = swung(pendulum("friction"), at, 0.0, 1, tau=[weight + extra * FRICTION])
        rest = extra - np.sign(extra)
        np.testing.assert_allclose(v, DT * rest * FRICTION / INERTIA, rtol=1e-9)
        np.testing.assert_allclose(impulse, -DT * np.sign(extra) * FRICTION, rtol=1e-12)


def test_dry_friction_stops_a_joint_for_good() -> None:
    """A joint under friction alone loses speed at f / I, and then it is at rest, where the sign of the
    velocity would jump to and fro.
    """
    weightless = rod(RobotBuilder("p").add_body("base"), friction=FRICTION)
    model = rbdgen.load_robot(
        weightless,
        gravity=(0, 0, 0),
        friction="exact",
        contacts=[Point("tip", "rod")],
        contact_with=["friction"],
    ).model
    _, v, _ = swung(model, 0.0, 0.1, 60)
    slowing = FRICTION / INERTIA * DT
    np.testing.assert_allclose(v, np.maximum(0.1 - slowing * np.arange(1, 61), 0), atol=1e-13)
    assert (v[-10:] == 0).all()


def test_creep_of_a_soft_law() -> None:
    """With the default law, dry friction creeps as contacts do: by softness times the impulse over I."""
    at = 0.1
    _, v, impulse = swung(pendulum("friction"), at, 0.0, 3, law=law())
    np.testing.assert_allclose(v, -1e-4 * impulse / INERTIA, rtol=1e-6)
    assert np.abs(v).max() < 2e-6


def test_both_are_one_row() -> None:
    """At its limit a joint has the impulse of the limit and of the friction together."""
    _, v, impulse = swung(pendulum("limits", "friction"), HIGH - 1e-3, 3.0, 1)
    free = 3.0 - DT * MASS * G * LENGTH * np.sin(HIGH - 1e-3) / INERTIA
    np.testing.assert_allclose(v, 1e-3 / DT, rtol=1e-9)
    np.testing.assert_allclose(impulse, INERTIA * (v - free), rtol=1e-9)


def test_as_mujoco() -> None:
    """A pendulum that is let go is slowed by dry friction. That of MuJoCo is soft; with its stiffest settings
    both agree.
    """
    mujoco = pytest.importorskip("mujoco")
    text = (
        f'<mujoco><option timestep="{DT}"/><worldbody><body><joint type="hinge" axis="0 1 0" '
        f'frictionloss="{FRICTION}" solimpfriction="0.9999 0.9999 0.001" solreffriction="-1 -500"/>'
        f'<inertial pos="0 0 {-LENGTH}" mass="{MASS}" diaginertia="0.02 0.02 0.001"/></body>'
        "</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = 0.8
    theirs = []
    for _ in range(120):
        mujoco.mj_step(model, data)
        theirs.append(data.qpos[0])
    ours, _, _ = swung(pendulum("friction"), 0.8, 0.0, 120, law=law())
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-3)
    assert np.ptp(ours) > 0.2


@pytest.mark.parametrize("form", ["composite", "articulated"])
def test_the_law_on_an_arm(form: str) -> None:
    """The equations of motion hold, by functions without the solver, and each joint obeys its law."""
    model, rng, count = arm(), np.random.default_rng(2), 60
    q = np.tile(model.manifold.neutral(), (count, 1))
    q[:, 7:] = np.column_stack(
        [
            rng.choice([-0.999, 0.999, 0.2], count),
            rng.normal(size=count),
            rng.choice([-0.0499, 0.0999, 0], count),
        ]
    )
    v, tau = rng.normal(size=(2, count, 9))
    v[::3, 6:] = 0
    found = step(model, form, q=q, v=v, tau=0.2 * tau, dt=DT, ground=np.tile(FAR, 2), law=RIGID)
    assert found.residual.max() < 1e-11
    joints = found.impulse[:, 6:]
    (M,), (a,) = outputs(model, "crba", q=q), outputs(model, "aba", q=q, v=v, tau=0.2 * tau)
    friction = np.array([0.3, 0.2, 0])
    a += np.linalg.solve(M, np.pad(friction * np.sign(v[:, 6:]), ((0, 0), (6, 0)))[..., None])[..., 0]
    caused = np.einsum("sij,sj->si", M, found.v - v - DT * a)
    np.testing.assert_allclose(caused[:, :6], 0, atol=1e-11)
    np.testing.assert_allclose(caused[:, 6:], joints, atol=1e-11)
    speed, most = found.v[:, 6:], DT * friction
    low = (np.array([-1, -np.inf, -0.05]) - q[:, 7:]) / DT
    high = (np.array([1, np.inf, 0.1]) - q[:, 7:]) / DT
    assert (speed >= low - 1e-9).all()
    assert (speed <= high + 1e-9).all()
    inside = (speed > low + 1e-9) & (speed < high - 1e-9)
    moving = np.abs(speed) > 1e-9
    np.testing.assert_allclose((joints + most * np.sign(speed))[inside & moving], 0, atol=1e-11)
    assert (np.abs(joints) <= most + 1e-11)[inside].all()
    assert (joints + most * np.sign(speed) >= -1e-11)[speed <= low + 1e-9].all()
    assert (joints + most * np.sign(speed) <= 1e-11)[speed >= high - 1e-9].all()
    assert min((~inside).sum(), (inside & moving).sum(), (inside & ~moving).sum()) > 5


def test_impulses_of_joints_add_no_energy() -> None:
    """Together with those of contacts that hit the ground, in the metric of M."""
    model, rng, count = arm(), np.random.default_rng(4), 60
    q = np.tile(model.manifold.neutral(), (count, 1))
    q[:, 7:] = rng.choice([-0.999, 0.999, 0.2], (count, 3)) * [1, 1, 0.05]
    v = rng.normal(size=(count, 9))
    at = outputs(model, "contact_pose", q=q)[0].reshape(count, 2, 3)[:, :, 2] - [0, 0.03]
    ground = np.zeros((count, 2, 4))
    ground[:, :, 2], ground[:, :, 3] = 1, at - rng.uniform(0, 1e-3, (count, 2))
    found = step(model, q=q, v=v, dt=DT, ground=ground.reshape(count, -1), friction=np.full((count, 2), 0.5))
    (M,), (a,) = outputs(model, "crba", q=q), outputs(model, "aba", q=q, v=v, tau=0 * v)
    friction = np.pad(np.array([0.3, 0.2, 0]) * np.sign(v[:, 6:]), ((0, 0), (6, 0)))
    free = v + DT * (a + np.linalg.solve(M, friction[..., None])[..., 0])
    before, after = (0.5 * np.einsum("si,sij,sj->s", x, M, x) for x in (free, found.v))
    assert (after <= before + 1e-9).all()


def test_p_of_a_joint() -> None:
    """P and its derivatives by differences, and the impulse of a joint alone."""
    rng = np.random.default_rng(0)
    h = 1e-7

    def velocity(rho: float, numbers: Array) -> float:
        z, *bounds = numbers
        return float(held(z, rho, Bounds(*bounds)).velocity)

    for z, rho, f, low, width in rng.uniform([-2, 0.5, 0, -1, 0], [2, 2, 0.5, 1, 2], (200, 5)):
        bounds = Bounds(f, low, low + width)
        own, numbers = held(z, rho, bounds), np.array([z, *bounds])
        steps = h * np.eye(4)
        slopes = [(velocity(rho, numbers + x) - velocity(rho, numbers - x)) / (2 * h) for x in steps]
        expected = (own.free, rho * own.way, own.at_low, own.at_high)
        np.testing.assert_allclose(slopes, [float(x) for x in expected], atol=1e-6)
        impulse = float(impulse_of_joint(rho, z, bounds))
        c = z + rho * impulse
        assert low - 1e-12 <= c <= low + width + 1e-12
        np.testing.assert_allclose(held(c - rho * impulse, rho, bounds).velocity, c, atol=1e-12)


@pytest.mark.parametrize(
    ("more", "extra", "told"),
    [
        ({}, "limits", "no joint with one coordinate of its own has limits; leave it out"),
        ({"friction": 1.0}, "friction", "the friction of joints is not used; give friction='exact' as well"),
    ],
)
def test_mistakes(more: Any, extra: str, told: str) -> None:
    built = rod(RobotBuilder("p").add_body("base"), **more)
    with pytest.raises(OptionError) as error:
        rbdgen.load_robot(built, contacts=[Point("tip", "rod")], contact_with=[extra])
    assert str(error.value) == f"contact_with=['{extra}']: {told}"


def test_friction_needs_a_joint_that_has_some() -> None:
    built = rod(RobotBuilder("p").add_body("base"))
    with pytest.raises(
        OptionError, match="no joint with one coordinate of its own has friction; leave it out"
    ):
        rbdgen.load_robot(built, friction="exact", contacts=[Point("tip", "rod")], contact_with=["friction"])
