"""The example finds the parameters that it simulated, up to the effect of noise, and plots them."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "identify.py"


def test_example(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    plot = tmp_path / "error.png"
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), str(plot)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert "43 base parameters and 14 of friction from 4000 samples" in printed
    (outside,) = re.findall(r"beyond three standard deviations: (\d+)%", printed)
    assert int(outside) <= 5
    (worst,) = re.findall(r"on another trajectory: (.*) N m", printed)
    assert max(map(float, worst.split(", "))) < 0.03
    assert plot.read_bytes().startswith(b"\x89PNG")
