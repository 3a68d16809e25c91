"""The emulated controller of examples/embedded agrees with the same loop with Pinocchio in double."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pinocchio
import pytest
from embedded.board import checked
from support.robots import BUNDLED

EXAMPLE = Path(__file__).parents[2] / "examples" / "embedded"
STEPS, SUBSTEPS, LOGGED = 4000, 4, 10


def script() -> ModuleType:
    """The module of plot.py."""
    spec = importlib.util.spec_from_file_location("embedded_plot", EXAMPLE / "plot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of the example, which runs as in its Makefile."""
    out = tmp_path_factory.mktemp("example")
    rbdgen = Path(sys.executable).with_name("rbdgen")
    checked(["make", "-s", "-C", EXAMPLE, "log", f"OUT={out}", f"RBDGEN={rbdgen}"])
    return out / "tracking.log"


def constants() -> dict[str, np.ndarray]:
    """The arrays and numbers at the top of main.c."""
    text = (EXAMPLE / "main.c").read_text()
    arrays = re.findall(r"static const float (\w+)\[N\] = \{(.*)\};", text)
    numbers = re.findall(r"#define (\w+) (\d[\d.]*f)", text)
    assert len(arrays) == 4
    assert len(numbers) == 3
    return {name: np.array([float(x.strip(" f")) for x in row.split(",")]) for name, row in arrays + numbers}


def simulated() -> tuple[np.ndarray, np.ndarray]:
    """The angles and torques of the same loop with Pinocchio."""
    model = pinocchio.buildModelFromUrdf(str(BUNDLED["arm7"]))
    data, c = model.createData(), constants()
    q, v = c["MIDDLE"] + c["INITIAL_ERROR"], np.zeros(model.nv)
    angles, torques = [], []
    for k in range(STEPS):
        phase = c["FREQUENCY"] * k * 1e-3
        q_ref = c["MIDDLE"] + c["AMPLITUDE"] * np.sin(phase)
        v_ref = c["AMPLITUDE"] * c["FREQUENCY"] * np.cos(phase)
        a_ref = -c["AMPLITUDE"] * c["FREQUENCY"] ** 2 * np.sin(phase)
        tau = pinocchio.rnea(model, data, q, v, a_ref + c["KD"] * (v_ref - v) + c["KP"] * (q_ref - q))
        if k % LOGGED == 0:
            angles.append(q.copy())
            torques.append(tau.copy())
        for _ in range(SUBSTEPS):
            v = v + pinocchio.aba(model, data, q, v, tau - c["FRICTION"] * v) * 1e-3 / SUBSTEPS
            q = q + v * 1e-3 / SUBSTEPS
    return np.array(angles), np.array(torques)


def test_the_controller_tracks(log: Path) -> None:
    plot = script()
    got = plot.read(log)
    assert got.late == 0
    assert len(got.t) == STEPS / LOGGED
    np.testing.assert_allclose(np.abs(got.error[0]), 0.1, rtol=1e-6)
    settled = np.abs(got.error[got.t >= plot.SETTLED])
    assert 1e-4 < settled.max() < 1e-2  # friction has an effect, but a small one
    assert 100 < got.ticks * plot.INSTRUCTIONS_PER_TICK < 2000
    assert "late steps: 0" in plot.summary(got)


def test_as_with_pinocchio(log: Path) -> None:
    got = script().read(log)
    angles, torques = simulated()
    np.testing.assert_allclose(got.q, angles, rtol=0, atol=2e-5)
    np.testing.assert_allclose(got.tau, torques, rtol=0, atol=2e-5 * np.abs(torques).max())


def test_a_cut_log_is_refused(log: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.log"
    cut.write_text("\n".join(log.read_text().splitlines()[:-1]))
    with pytest.raises(ValueError, match="cut short; run make again"):
        script().read(cut)


def test_late_steps_are_counted(log: Path, tmp_path: Path) -> None:
    """The program reports late steps if it runs on a machine that is sixteen times slower."""
    command = [
        "timeout",
        "600",
        "qemu-system-arm",
        "-M",
        "mps2-an500",
        "-display",
        "none",
        "-monitor",
        "none",
    ]
    command += ["-serial", "none", "-icount", "shift=9,sleep=off", "-kernel", str(log.with_suffix(".elf"))]
    slow = tmp_path / "slow.log"
    command += [
        "-chardev",
        f"file,id=log,path={slow}",
        "-semihosting-config",
        "enable=on,target=native,chardev=log",
    ]
    assert subprocess.run(command, check=False).returncode == 1
    assert script().read(slow).late > 0


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_the_plot(log: Path, tmp_path: Path) -> None:
    picture = tmp_path / "tracking.png"
    said = checked([sys.executable, EXAMPLE / "plot.py", log, picture])
    assert "joint   error at start" in said
    assert picture.read_bytes().startswith(b"\x89PNG")
