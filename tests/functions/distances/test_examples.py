"""The examples of distances run, and keep the distances that they promise."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def test_the_filter_keeps_the_margin(capsys: pytest.CaptureFixture[str]) -> None:
    """Without the filter the arm swings through the ball. The page tells what the example prints."""
    text = printed("safety_filter", capsys)
    assert f"\n{text}```" in (EXAMPLES.parent / "docs/distances.md").read_text(encoding="utf-8")
    alone, filtered = (float(x) for x in re.findall(r"nearest (-?[\d.]+) mm", text))
    assert alone < -50
    assert 29.9 < filtered < 40


def test_the_plan_avoids_the_balls(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("casadi")
    text = printed("avoid", capsys)
    straight, plan = (float(x) for x in re.findall(r"nearest (-?[\d.]+) mm", text))
    assert straight < -50
    assert 19.9 < plan < 25
    assert "Solve_Succeeded" in text
