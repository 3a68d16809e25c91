"""The examples of own functions run, and print what their texts promise."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from support.folders import selftest_sources

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def test_the_tool_reaches_its_target(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder for the Cortex-M7 has C in single precision, whose self-test passes on this machine."""
    monkeypatch.setattr(sys, "argv", ["reach.py", str(tmp_path)])
    text = printed("reach", capsys)
    distances = [float(x) for x in re.findall(r"([\d.]+) mm$", text, re.MULTILINE)]
    assert len(distances) == 7
    assert distances[0] > 200
    assert distances[-1] < 1e-3
    assert "agree within 1e-9 N m: True" in text
    files = selftest_sources(tmp_path / "arm7")
    program = tmp_path / "selftest"
    subprocess.run(["gcc", "-std=c99", "-O1", "-ffp-contract=off", *files, "-lm", "-o", program], check=True)
    subprocess.run([program], check=True, capture_output=True)


def test_the_trunk_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    """The feet hold a weak push. After a stronger one, the trunk comes back at the limit of the torques, even
    though feet have moved. A hard push makes the robot fall."""
    text = printed("balance", capsys)
    rows = re.findall(r"^(\d+) N: .*?([\d.]+) mm .*?([\d.]+) mm .*?([\d.]+) mm; .*?([\d.]+) N m$", text, re.M)
    (weak, strong, hard) = [[float(x) for x in row] for row in rows]
    assert (weak[0], strong[0], hard[0]) == (20, 40, 60)
    assert 5 < weak[1] < 50
    assert weak[2] < 0.1
    assert weak[3] < 0.5
    assert weak[4] < 6
    assert 20 < strong[1] < 100
    assert strong[2] < 0.1
    assert strong[3] > 5
    assert strong[4] == hard[4] == 6
    assert hard[1] > 100


def test_filters_know_more_than_sensors(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed("estimator", capsys)
    angles = [float(x) for x in re.findall(r"errors of ([\d.]+) rad ", text)]
    assert len(angles) == 5
    assert angles[0] > 0.2
    (expected,) = re.findall(r"the filters expect ([\d.]+) rad", text)
    assert angles[-1] == pytest.approx(float(expected), rel=0.2)
    assert angles[-1] < 0.01  # the sensors have 0.02
    assert text.rstrip().endswith("agree: True")


def test_feet_in_contact_hold_the_estimate(capsys: pytest.CaptureFixture[str]) -> None:
    """The filters stay within a few centimetres, where the inertial units alone drift away."""
    text = printed("odometry", capsys)
    number = r"([\d.]+) m, ([\d.]+) rad, ([\d.]+) m/s"
    rows = [
        list(map(float, row))
        for row in re.findall(f"errors of {number}; inertial unit alone: {number}", text)
    ]
    assert len(rows) == 5
    position, tilt, velocity, *alone = rows[-1]
    assert (position < 0.02, tilt < 0.003, velocity < 0.01) == (True, True, True)
    assert (alone[0] > 0.5, alone[1] > 0.02, alone[2] > 0.4) == (True, True, True)
    (expected,) = re.findall(r"the filters expect ([\d.]+) m", text)
    assert position == pytest.approx(float(expected), rel=0.4)
    assert text.rstrip().endswith("agree: True")
