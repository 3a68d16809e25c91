"""The example finds the mass that the arm carries, and plots its guesses."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

FRAMEWORK = "jax"

EXAMPLE = Path(__file__).parents[2] / "examples" / "learn_mass.py"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of JAX itself
def test_example(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    plot = tmp_path / "guess.png"
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), str(plot)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    (found,) = re.findall(r"^found (.*) kg, the payload has 2.3 kg$", capsys.readouterr().out, re.MULTILINE)
    assert abs(float(found) - 2.3) < 5e-3
    assert plot.read_bytes().startswith(b"\x89PNG")
