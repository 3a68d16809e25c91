"""The examples of distances run, and keep the distances that they promise."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


PAGE = (EXAMPLES.parent / "docs/distances.md").read_text(encoding="utf-8")

ITERATIONS = re.compile(r"after (\d+) iterations")


@pytest.fixture
def printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[[str], str]:
    """Runs an example, which also draws a picture that the page shows."""

    def run(name: str) -> str:
        monkeypatch.setattr(sys, "argv", [name, str(tmp_path / "new")])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        assert (tmp_path / "new" / f"{name}.svg").read_text(encoding="utf-8").startswith("<?xml")
        assert f"]({name}.svg)" in PAGE
        return capsys.readouterr().out

    return run


def test_the_filter_keeps_the_margin(printed: Callable[[str], str]) -> None:
    """Without the filter the arm swings through the ball. The page tells what the example prints."""
    text = printed("safety_filter")
    assert f"\n{text}```" in PAGE
    alone, filtered = (float(x) for x in re.findall(r"nearest (-?[\d.]+) mm", text))
    assert alone < -50
    assert 29.9 < filtered < 40


def test_the_plan_avoids_the_balls(printed: Callable[[str], str]) -> None:
    """The page tells what it prints, except that another version of IPOPT may take a few iterations more."""
    pytest.importorskip("casadi")
    text = printed("avoid")
    (iterations,) = map(int, ITERATIONS.findall(text))
    (told,) = map(int, ITERATIONS.findall(PAGE))
    assert abs(iterations - told) <= 10
    assert ITERATIONS.sub("", text) in ITERATIONS.sub("", PAGE)
    straight, plan = (float(x) for x in re.findall(r"nearest (-?[\d.]+) mm", text))
    assert straight < -50
    assert 19.9 < plan < 25
    assert "Solve_Succeeded" in text
