"""Rollouts of ES modules: the bits of those in C, and of single steps, and what is refused."""

from __future__ import annotations

import ctypes
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.web import NODE, WEB, WEBASSEMBLY, dtype_of, manifest_of, modules_of, need, node

import rbdgen
from rbdgen.machine import Real

STEPS = 150

Q, V = [0.3, -0.7], [0.1, 0.2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need(*WEBASSEMBLY, NODE)
    options: dict[str, Any] = {"target": "wasm32", "emit": ["javascript"]}
    return rbdgen.generate("double_pendulum", tmp_path_factory.mktemp("rolled"), ["step", "rnea"], **options)


def in_node(module: Path, calls: list[Any], place: Path) -> list[Any]:
    (place / "plan.json").write_text(json.dumps(calls))
    found: list[Any] = json.loads(node(WEB / "rollout.mjs", module, place / "plan.json"))
    return found


def by_gcc(folder: Path, tau: np.ndarray, dt: float, *, last: bool) -> tuple[np.ndarray, np.ndarray]:
    """q and v of the rollout in C."""
    manifest = manifest_of(folder)
    dtype, facts = dtype_of(manifest), manifest["functions"]["step"]
    library = folder.parent / "step.so"
    command = ["gcc", "-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-o", library]
    subprocess.run([*command, folder / facts["source"]], check=True, capture_output=True)
    given = [np.array(x, dtype) for x in (Q, V, tau, dt)]
    found = [np.empty((1 if last else len(tau), 2), dtype) for _ in range(2)]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*given, *found)]
    rollout = ctypes.CDLL(str(library))[f"{facts['symbol']}_rollout"]
    rollout(*pointers[:4], ctypes.c_int(len(tau)), ctypes.c_int(last), *pointers[4:])
    return found[0], found[1]


@pytest.mark.parametrize("real", ["double", "float"])
def test_bits(real: Real, folder: Path, tmp_path: Path) -> None:
    if real == "float":
        folder = rbdgen.generate("double_pendulum", tmp_path, ["step"], target="wasm32", real="float")
    dt = 0.0078125  # the same number in float
    tau = np.random.default_rng(0).uniform(-3, 3, (STEPS, 2)).astype(dtype_of(manifest_of(folder)))
    given = {"q": Q, "v": V, "tau": tau.tolist(), "dt": dt}
    for module in modules_of(folder).values():
        all_steps, last = in_node(module, [["step", given, {}], ["step", given, {"last": True}]], tmp_path)
        for found, options in ((all_steps, False), (last, True)):
            q, v = by_gcc(folder, tau, dt, last=options)
            assert found["q"] == q.ravel().tolist()
            assert found["v"] == v.ravel().tolist()
        assert np.ptp(all_steps["q"]) > 0.5, "it moves"


def test_ground_of_each_step(tmp_path: Path) -> None:
    """A ball on a slope that changes from step to step, and the impulses on it."""
    need(*WEBASSEMBLY, NODE)
    ball = rbdgen.RobotBuilder("ball").add_body("ball", mass=2, inertia=(0.008, 0.008, 0.008))
    robot = rbdgen.load_robot(ball, base="floating", contacts=[rbdgen.Point("sole", "ball", radius=0.1)])
    folder = rbdgen.generate(robot, tmp_path, ["contact_step"], target="wasm32", emit=["javascript"])
    grounds = [[[0.0, np.sin(k / 9), np.cos(k / 9), 0.0]] for k in range(30)]
    given = {
        "q": [0, 0, 0.11, 0, 0, 0, 1],
        "v": [0.5, 0, -1, 0, 0, 0],
        "tau": [[0.0] * 6] * 30,
        "dt": 0.01,
        "friction": [0.5],
    }
    calls = [
        ["contact_step", given | {"ground": grounds}, {"per_step": ["ground"]}],
        ["contact_step", given | {"ground": grounds[0]}, {}],
    ]
    for module in modules_of(folder).values():
        turning, flat = in_node(module, calls, tmp_path)
        assert list(turning)[:2] == ["q", "v"]
        assert len(turning["q"]) == 30 * 7
        assert len(turning["impulse"]) == 30 * 3
        assert turning["q"][-7:] != flat["q"][-7:]


def test_refusals(folder: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"q": Q, "v": V, "tau": [[1, 2]], "dt": 0.01}
    takes = "double_pendulum.step.rollout: tau takes an array of N x 2 numbers"
    cases: dict[str, Any] = {
        f"{takes}, not an array of 3": (given | {"tau": [1, 2, 3]}, {}),
        f"{takes}, not an array of 0": (given | {"tau": []}, {}),
        f"{takes}, not a number": (given | {"tau": 1}, {}),
        "double_pendulum.step.rollout: tau takes an array of 2 x 2 numbers, but its rows differ": (
            given | {"tau": [[1, 2], [3]]},
            {},
        ),
        f"{takes}, but is missing": ({name: x for name, x in given.items() if name != "tau"}, {}),
        "double_pendulum.step.rollout: q takes an array of 2 numbers, not an array of 3": (
            given | {"q": [1, 2, 3]},
            {},
        ),
        'double_pendulum.step.rollout: per_step "dt" is no input with a value for each step; it has none '
        "besides the control": (given, {"per_step": ["dt"]}),
        'double_pendulum.step.rollout: has no argument "u"; its arguments are q, v, tau, dt': (
            given | {"u": 1},
            {},
        ),
    }
    for module in modules_of(folder).values():
        found = in_node(module, [["step", *case] for case in cases.values()], tmp_path)
        assert found == list(cases)
        assert '"rolling"' in module.read_text()
        assert "rollout" in module.with_suffix(".d.mts").read_text()
    (row,) = (
        row for row in modules_of(folder)["webassembly"].read_text().split("\n") if '"name": "rnea"' in row
    )
    assert "rolling" not in row
