"""The contestants of `make bench-batch` have rbdgen's results; the chart shows the measurements."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.robots import BUNDLED

import rbdgen
from benchmarks import batch
from benchmarks.peers import frax_batch, mujoco_loop
from benchmarks.presentation import batch_ratio, draw_batches
from benchmarks.states import States, random_states
from benchmarks.toolchain import ToolError
from rbdgen.model.build import Base, Robot
from rbdgen.runtime import Library

URDF = BUNDLED["double_pendulum"]
BASES: tuple[Base, ...] = ("fixed", "floating")


def built(base: Base) -> tuple[Robot, Library, States]:
    robot = rbdgen.load_robot(URDF, base)
    states = random_states(robot.model.nv, floating=base == "floating", count=20)
    return robot, rbdgen.build(robot, functions=["rnea", "aba"]), states


def assert_joints_agree(results: Any, expected: Any, base: Base) -> None:
    """Asserts that the parts for joints agree; those for the base are in other axes."""
    first = 6 if base == "floating" else 0
    scale = np.abs(expected).max()
    np.testing.assert_allclose(results[:, first:], expected[:, first:], rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("base", BASES)
def test_mujoco_computes_the_same(base: Base) -> None:
    pytest.importorskip("mujoco")
    robot, lib, states = built(base)
    calls = mujoco_loop.MujocoLoop(URDF.read_text(), robot).calls(states)
    assert_joints_agree(calls["rnea"](), lib.rnea(states.q, states.v, states.a), base)
    assert_joints_agree(calls["aba"](), lib.aba(states.q, states.v, states.tau), base)
    times = mujoco_loop.measure(URDF.read_text(), robot, states, 1)
    assert times.keys() == {"rnea", "aba"}
    assert all(100 < ns < 1e7 for ns in times.values())


@pytest.mark.skipif(find_spec("frax") is None, reason="frax is not installed")
@pytest.mark.filterwarnings("ignore:.*performance settings:UserWarning")
@pytest.mark.parametrize("base", BASES)
def test_frax_computes_the_same(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in frax_batch.SETTINGS.items():
        monkeypatch.setenv(name, value)
    robot, lib, states = built(base)
    joints = [joint.name for joint in robot.joints]
    calls = frax_batch.calls(URDF, joints, states, floating=base == "floating")
    assert_joints_agree(np.asarray(calls["rnea"]()), lib.rnea(states.q, states.v, states.a), base)
    assert_joints_agree(np.asarray(calls["aba"]()), lib.aba(states.q, states.v, states.tau), base)


def test_frax_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frax_batch, "find_spec", lambda name: None)
    with pytest.raises(ToolError, match="frax is not installed"):
        frax_batch.measure(URDF, rbdgen.load_robot(URDF), 8, 1)


def test_every_way_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "STATES", 64)
    monkeypatch.setattr(batch, "LONG_OPERATIONS", 20_000)
    _, lib, _ = built("floating")
    times = batch.time_double(lib, "aba", 1)
    assert times.keys() == {"bound", "batch", "long", "threads", "batch_threads"}
    assert all(1 < ns < 1e6 for ns in times.values())


def report(robot: str, **peers: float | None) -> dict[str, Any]:
    ours = {"bound": 100.0, "batch": 10.0, "float": 5.0, "long": 10.0, "threads": 5.5}
    row = {"pinocchio": 400.0, "mujoco": None, "frax": None, "batch_function": True, **ours, **peers}
    return {"robot": robot, "machine": "", "states": 1024, "functions": {"rnea": row}}


def test_ratios_need_both_sides() -> None:
    row = report("arm7")["functions"]["rnea"]
    assert batch_ratio(row, "batch") == 40.0
    assert batch_ratio(row, "mujoco") is None
    assert batch_ratio({**row, "pinocchio": None}, "batch") is None


def test_the_chart(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw_batches(tmp_path, tmp_path / "none.svg")
    assert not (tmp_path / "none.svg").exists()
    for robot, peers in (
        ("arm7", {"mujoco": 3000.0}),
        ("humanoid30", {}),
        ("quadruped12", {"pinocchio": None}),
    ):
        (tmp_path / f"batch_{robot}.json").write_text(json.dumps(report(robot, **peers)))
    charts = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for chart in charts:
        draw_batches(tmp_path, chart)
    text = charts[0].read_text()
    assert text == charts[1].read_text()
    for word in ("arm7", "humanoid30", "MuJoCo", "a batch in float", ">40<"):
        assert word in text
    assert "frax" not in text
