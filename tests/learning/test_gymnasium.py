"""Environments of Gymnasium pass its own checks, are determined by seeds, and compute the library's steps."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from support.tools import need_modules

import rbdgen
import rbdgen.learning
from rbdgen.errors import BuildError, OptionError
from rbdgen.learning import Environment
from rbdgen.runtime import Library


@pytest.fixture(scope="module")
def arm() -> Library:
    need_modules("gymnasium", packages="'rbdgen[gymnasium]'")
    return rbdgen.build("double_pendulum", functions=["step"])


def swing(arm: Library, **options: Any) -> Environment:
    def start(random: np.random.Generator, leading: tuple[int, ...]) -> tuple[Any, Any]:
        return random.uniform(-1, 1, (*leading, 2)), np.zeros((*leading, 2))

    return Environment(
        arm,
        dt=0.02,
        effort=5.0,
        start=start,
        reward=lambda q, v, action: np.cos(q).sum(-1),
        done=lambda q, v: (abs(v) > 4).any(-1),
        **options,
    )


def test_gymnasiums_own_checks(arm: Library) -> None:
    from gymnasium.utils.env_checker import check_env  # noqa: PLC0415

    with pytest.warns(UserWarning, match="infinity"):  # of bounds of observations, which are unknown
        check_env(swing(arm, horizon=20).gymnasium(), skip_render_check=True)


def test_many_copies_are_single_ones(arm: Library) -> None:
    """Until an episode ends, copies move as plain calls of the step say; then they start again."""
    env = swing(arm, horizon=30).gymnasium(64)
    obs, _ = env.reset(seed=5)
    again, _ = swing(arm).gymnasium(64).reset(seed=5)
    np.testing.assert_array_equal(obs, again)
    assert env.observation_space.contains(obs)
    assert env.observation_space.shape == (64, 4)
    ended = np.zeros(64, bool)
    endings = 0
    for k in range(40):
        actions = np.random.default_rng(k).uniform(-1, 1, (64, 2))
        expected = np.concatenate(arm.step(obs[:, :2], obs[:, 2:], 5.0 * actions, 0.02), -1)
        obs, reward, terminated, truncated, info = env.step(actions)
        np.testing.assert_array_equal(obs[~ended], expected[~ended])
        np.testing.assert_array_equal(reward[~ended], np.cos(expected[~ended, :2]).sum(-1))
        assert (reward[ended] == 0).all()
        assert (obs[ended, 2:] == 0).all()
        assert not (terminated | truncated)[ended].any()
        np.testing.assert_array_equal(terminated[~ended], (abs(expected[~ended, 2:]) > 4).any(-1))
        assert info == {}
        ended = terminated | truncated
        endings += ended.sum()
    assert endings > 64  # each has ended by its horizon at least


def test_single_is_one_of_many(arm: Library) -> None:
    one, many = swing(arm).gymnasium(), swing(arm).gymnasium(1)
    np.testing.assert_array_equal(one.reset(seed=3)[0], many.reset(seed=3)[0][0])
    action = np.array([0.3, -0.2])
    obs, reward, *_ = one.step(action)
    batch = many.step(action[None])
    np.testing.assert_array_equal(obs, batch[0][0])
    assert isinstance(reward, float)
    assert reward == batch[1][0]


def test_refused(arm: Library) -> None:
    with pytest.raises(OptionError, match=r"^num_envs=0: give a positive number of copies$"):
        swing(arm).gymnasium(0)
    for env in (swing(arm).gymnasium(), swing(arm).gymnasium(2)):
        with pytest.raises(OptionError, match=r"^step: .* no state yet; call reset\(\) first$"):
            env.step(env.action_space.sample())


def test_without_gymnasium(arm: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "rbdgen.learning.in_gymnasium", raising=False)
    monkeypatch.delattr(rbdgen.learning, "in_gymnasium", raising=False)
    with pytest.raises(BuildError, match=r"^Gymnasium is missing .*; pip install -U 'rbdgen\[gymnasium\]'$"):
        swing(arm).gymnasium()
