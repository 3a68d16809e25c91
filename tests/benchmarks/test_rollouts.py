"""The measurements of `make bench-rollouts`: MuJoCo's rollout moves the same robot in the same way."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from support.few import few
from support.robots import BUNDLED

import rbdgen
from benchmarks import rollouts, standing
from benchmarks.contestants import CONTESTS, Contest
from benchmarks.peers.mujoco_loop import MujocoLoop

PENDULUM = Contest("double_pendulum", BUNDLED["double_pendulum"], "fixed")


def test_mujocos_rollout_is_the_same() -> None:
    pytest.importorskip("mujoco")
    robot = rbdgen.load_robot(PENDULUM.urdf)
    lib = rbdgen.build(robot, rollouts.FUNCTIONS)
    loop = MujocoLoop(PENDULUM.urdf.read_text(), robot)
    states, tau = loop.random_states(3), np.random.default_rng(1).standard_normal((3, 20, 2))
    theirs = loop.rollout(states, tau, 1e-3, 2)()
    ours = lib.rollout(states[:, 1:3], states[:, 3:], tau, 1e-3)
    np.testing.assert_allclose(theirs[..., 1:3], ours.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(theirs[..., 3:], ours.v, rtol=0, atol=1e-10)


def test_every_way_has_a_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rollouts, "ROLLOUTS", 20)
    monkeypatch.setattr(rollouts, "STEPS", 3)
    monkeypatch.setattr(rollouts, "RESULTS", tmp_path)
    rows = rollouts.measured(PENDULUM, 1).row_count
    (written,) = tmp_path.iterdir()
    assert len(json.loads(written.read_text())["ways"]) == rows >= 5


def contest_of(name: str) -> Contest:
    return next(contest for contest in CONTESTS if contest.name == name)


@pytest.mark.parametrize(
    ("name", "corners", "near"),
    few([("quadruped12", 4, 4e-3)], [("quadruped12", 4, 4e-3), ("humanoid30", 8, 2e-3)]),
)
def test_mujoco_stands_in_the_same_way(name: str, corners: int, near: float) -> None:
    """Both robots stay on all feet; MuJoCo's sink a little, because its contacts are soft."""
    pytest.importorskip("mujoco")
    contest = contest_of(name)
    robot = standing.standing_robot(contest)
    library = standing.library_of(robot)
    begun = standing.start(library, 3, 50)
    states = standing.ours(library, begun)()
    found = standing.theirs(contest, robot, begun, 1)()
    assert isinstance(states, tuple)
    assert states._fields == ("q", "v", "impulse", "residual")
    assert (states.impulse.reshape(3, 50, corners, 3)[..., 2] > 0).mean() > 0.9
    assert np.abs(states.residual).max() < 1e-9
    height = begun.q[0, 2]
    for base in (states.q[..., :3], np.asarray(found)[..., 1:4]):
        np.testing.assert_allclose(base[..., 2], height, rtol=0, atol=0.01)
    np.testing.assert_allclose(np.asarray(found)[..., 1:4], states.q[..., :3], rtol=0, atol=near)


@pytest.mark.campaign
def test_mjx_stands_in_the_same_way() -> None:
    pytest.importorskip("mujoco.mjx")
    contest = contest_of("quadruped12")
    robot = standing.standing_robot(contest)
    begun = standing.start(standing.library_of(robot), 3, 50)
    found, theirs = (
        np.asarray(way())
        for way in (standing.by_mjx(contest, robot, begun), standing.theirs(contest, robot, begun, 1))
    )
    assert found.shape == (3, 50, 37)
    np.testing.assert_allclose(found[..., :3], theirs[..., 1:4], rtol=0, atol=4e-3)


@pytest.mark.campaign
def test_without_mjx_its_row_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(standing, "RESULTS", tmp_path)
    monkeypatch.setitem(sys.modules, "mujoco.mjx", None)
    rows = standing.measured(contest_of("quadruped12"), 1, 20, 3).row_count
    (written,) = tmp_path.iterdir()
    ways = json.loads(written.read_text())["ways"]
    assert len(ways) == rows >= 5
    assert not any("MJX" in name for name in ways)
    assert "MJX is left out: " in capsys.readouterr().out
