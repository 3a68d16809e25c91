"""Environments compute what plain calls of the step compute, in batches and in JAX, and refuse bad tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.tools import need_modules

import rbdgen
from rbdgen.errors import OptionError
from rbdgen.learning import Environment
from rbdgen.runtime import Library

DT = 0.01


@pytest.fixture(scope="module")
def arm() -> Library:
    return rbdgen.build("double_pendulum", functions=["step"])


@pytest.fixture(scope="module")
def jumper() -> Library:
    """A trunk and a leg that move along the vertical, and a foot above the ground."""
    upright: dict[str, Any] = {"type": "prismatic", "axis": (0, 0, 1)}
    built = rbdgen.RobotBuilder("jumper").add_body("rail")
    built.add_body("trunk", parent="rail", mass=2.0, inertia=(0.01, 0.01, 0.01), **upright)
    built.add_body("leg", parent="trunk", mass=0.3, inertia=(1e-3, 1e-3, 1e-3), **upright)
    robot = rbdgen.load_robot(built, contacts=[rbdgen.Point("foot", "leg", (0, 0, -0.4))])
    return rbdgen.build(robot, functions=["contact_step"])


@pytest.fixture(scope="module")
def jax() -> Iterator[Any]:
    need_modules("jax", packages="'rbdgen[jax]'")
    import jax  # noqa: PLC0415

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def drawn(random: np.random.Generator, leading: tuple[int, ...]) -> tuple[Any, Any]:
    return random.uniform(-1, 1, (*leading, 2)), random.uniform(-1, 1, (*leading, 2))


def pendulum(arm: Library, **options: Any) -> Environment:
    """A task whose reward is the negative square of the angles, and which ends beyond 2.5 rad."""
    return Environment(
        arm,
        dt=DT,
        effort=[3.0, 2.0],
        start=drawn,
        reward=lambda q, v, action: -(q**2).sum(-1),
        done=lambda q, v: (abs(q) > 2.5).any(-1),
        **options,
    )


def test_a_step_is_the_librarys(arm: Library) -> None:
    """The state, the observation, the reward and the ends, for 50 copies and with two substeps."""
    env = pendulum(arm, substeps=2, horizon=3)
    state = env.reset(7, (50,))
    q, v = drawn(np.random.default_rng(7), (50,))
    np.testing.assert_array_equal(state.q, q)
    for k in range(1, 4):
        action = np.random.default_rng(k).uniform(-1.5, 1.5, (50, 2))
        state = env.step(state, action)
        for _ in range(2):
            q, v = arm.step(q, v, np.clip(action, -1, 1) * [3.0, 2.0], DT)
        np.testing.assert_array_equal(state.q, q)
        np.testing.assert_array_equal(state.obs, np.concatenate([q, v], -1))
        np.testing.assert_array_equal(state.reward, -(q**2).sum(-1))
        np.testing.assert_array_equal(state.done, (abs(q) > 2.5).any(-1))
        assert (state.steps == k).all()
        assert (state.truncated == (k == 3)).all()


def test_seeds_determine_everything(arm: Library) -> None:
    env = pendulum(arm)
    ends = [env.step(env.reset(seed, (4,)), np.ones((4, 2))) for seed in (3, 3, 4)]
    np.testing.assert_array_equal(ends[0].q, ends[1].q)
    assert not np.array_equal(ends[0].q, ends[2].q)


def test_a_number_that_is_not_finite_ends_an_episode(arm: Library) -> None:
    env = pendulum(arm)
    state = env.reset(0, (3,))
    v = state.v.copy()
    v[1] = np.nan
    state = env.step(state._replace(v=v), np.zeros((3, 2)))
    assert state.done.tolist() == [False, True, False]
    assert state.reward[1] == 0
    renewed = env.select(state.done, env.reset(1, (3,)), state)
    assert np.isfinite(renewed.v).all()
    np.testing.assert_array_equal(renewed.q[0], state.q[0])


def test_contacts_with_friction(jumper: Library) -> None:
    """Steps with friction have further results, the impulses of contacts among them."""
    inputs = {"friction": [1.0]}
    env = Environment(jumper, dt=4e-3, substeps=5, inputs=inputs, joints=["leg_joint"], effort=20.0)
    assert env.actions == 1
    state = env.reset(0, (8,))
    actions = np.random.default_rng(0).uniform(-1, 1, (20, 8, 1))
    q, v, strongest = state.q, state.v, 0.0
    for action in actions:
        state = env.step(state, action)
        for _ in range(5):
            tau = np.concatenate([np.zeros((8, 1)), 20 * action], -1)
            q, v, *results = jumper.contact_step(q, v, tau, 4e-3, friction=[1.0])
        np.testing.assert_array_equal(state.q, q)
        for found, expected in zip(state.results, results, strict=True):
            np.testing.assert_array_equal(found, expected)
        strongest = max(strongest, state.results[0].max())
    assert strongest > 0


def test_jax(jax: Any, jumper: Library) -> None:
    """The functional environment under jit, vmap, scan and grad is that of NumPy; its slope is exact."""
    options: dict[str, Any] = {
        "dt": 4e-3,
        "substeps": 2,
        "inputs": {"friction": [1.0]},
        "joints": ["leg_joint"],
        "effort": 20.0,
        "start": (np.array([0.45, 0.0]), np.zeros(2)),
        "reward": lambda q, v, action: q[..., 0] - 0.01 * (action**2).sum(-1),
    }
    plain, traced = (Environment(jumper, framework=name, **options) for name in ("numpy", "jax"))
    actions = np.random.default_rng(0).uniform(-1, 1, (10, 3, 1))

    def total(actions: Any) -> Any:
        start = traced.reset(None, actions.shape[1:-1])
        end, rewards = jax.lax.scan(
            lambda state, action: ((state := traced.step(state, action)), state.reward), start, actions
        )
        return rewards.sum(), end

    state, rewards = plain.reset(None, (3,)), []
    for action in actions:
        state = plain.step(state, action)
        rewards.append(state.reward)
    value, end = jax.jit(total)(actions)
    np.testing.assert_allclose(value, np.sum(rewards), rtol=1e-12)
    np.testing.assert_array_equal(end.q, state.q)
    one = jax.vmap(traced.step)(traced.reset(None, (3,)), actions[0])
    np.testing.assert_array_equal(one.q, plain.step(plain.reset(None, (3,)), actions[0]).q)
    slope = jax.grad(lambda actions: total(actions)[0])(actions)
    way = np.random.default_rng(1).standard_normal(actions.shape)
    sides = [total(actions + sign * 1e-6 * way)[0] for sign in (1, -1)]
    np.testing.assert_allclose((slope * way).sum(), (sides[0] - sides[1]) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": "aba"}, "step='aba': is no integration step of q and v; there are: contact_step"),
        ({"dt": 0.0}, "dt=0.0, substeps=1: give a positive time in s and number of steps"),
        (
            {"inputs": {}},
            "inputs: contact_step needs friction (1,), the coefficient of friction of each point "
            "or corner; give inputs={'friction': ...}",
        ),
        (
            {"inputs": {"frict": 1}},
            "inputs: contact_step has no further input 'frict'; did you mean 'friction'?",
        ),
        ({"joints": ["knee"]}, "joints: there is no joint 'knee'; choose from: trunk_joint, leg_joint"),
        ({"effort": None}, "joint 'trunk_joint' has no limit of effort in the description; give effort=..."),
        ({"effort": [1, 2, 3]}, "effort=[1, 2, 3]: give a number, or 2 of them"),
        ({"framework": "torch"}, "framework='torch': is not known; take 'numpy' or 'jax'"),
    ],
    ids=["step", "dt", "missing", "unknown", "joint", "limit", "efforts", "framework"],
)
def test_refused(jumper: Library, options: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"dt": DT, "inputs": {"friction": [1.0]}, "effort": 1.0}
    with pytest.raises(OptionError) as caught:
        Environment(jumper, **{**good, **options})
    assert str(caught.value) == message


def test_a_library_without_steps() -> None:
    library = rbdgen.build("double_pendulum", functions=["gravity"])
    with pytest.raises(OptionError, match=r"^step: name one; there are: none; generate functions=\['step'\]"):
        Environment(library, dt=DT)
