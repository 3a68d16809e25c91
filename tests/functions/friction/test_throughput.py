"""The rollouts of examples/throughput.py are those of MuJoCo, and it prints a row for each way."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "throughput.py"


def test_both_quadrupeds_move_alike() -> None:
    pytest.importorskip("mujoco")
    example = runpy.run_path(str(EXAMPLE))
    library = example["quadruped"]()
    begun = example["start"](library, 3, 25)
    ours = example["ours"](library, begun, 1)
    theirs = example["mujoco_rollout"](library, 2)(begun)
    assert ours.shape == theirs.shape == (3, 25, 3)
    assert np.abs(ours - begun.q[:, None, :3]).max() > 1e-4  # they move
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=4e-3)  # MuJoCo's contacts are soft
    assert np.ptp(ours[:, -1, 0]) > 1e-4  # each in its own way


def test_every_way_has_a_row(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mujoco")
    monkeypatch.setattr("sys.argv", ["throughput.py", "2", "3"])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    text = capsys.readouterr().out
    assert text.startswith("the quadruped on four feet: 2 rollouts of 3 steps of 2 ms\n")
    counts = sorted({1, os.cpu_count() or 1})
    rows = re.findall(r"^(\w+) +(\d+) +\d+\.\d{3} +\d+\.\d\d$", text, re.MULTILINE)
    assert rows == [(name, str(count)) for count in counts for name in ("rbdgen", "MuJoCo")]
