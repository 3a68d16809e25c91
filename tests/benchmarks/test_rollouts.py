"""The measurements of `make bench-rollouts`: MuJoCo's rollout moves the same robot in the same way."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.robots import BUNDLED

import rbdgen
from benchmarks import rollouts
from benchmarks.contestants import Contest
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
