"""The example of sampling control swings the pole up, as it says."""

from __future__ import annotations

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "mppi.py"


def test_the_pole_stands_up() -> None:
    names = runpy.run_path(str(EXAMPLE), run_name="mppi")
    run = names["swung_up"](names["cart_pole"](), seconds=3.0, rollouts=256)
    assert 0.5 < run.standing < 2.5
    assert abs(run.force).max() <= names["STRONGEST"]
    assert "times as fast as real time" in names["told"](run)
