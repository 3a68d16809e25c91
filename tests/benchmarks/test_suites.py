"""The measurements of `--more`, which do not change the files and charts of the six functions."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import batch, bench
from benchmarks.contestants import CONTESTS, FUNCTIONS, IN_CONTACT, MORE, SIX, Contest, Suite
from benchmarks.toolchain import GCC
from rbdgen.functions.table import lookup

CONTEST = {contest.name: contest for contest in CONTESTS}


@pytest.mark.parametrize("name", MORE.frames)
def test_robots_have_the_frames_and_the_functions(name: str) -> None:
    robot = MORE.load(CONTEST[name])
    assert len(robot.model.frames) == {"arm7": 1}.get(name, 4)
    functions = MORE.functions_of(CONTEST[name])
    assert {"frame_jacobian_aligned", "frame_placement", "coriolis", "com_jacobian"} <= set(functions)
    for function in functions:
        lookup(function, robot.model)


def test_the_six_are_measured_without_frames() -> None:
    assert SIX.functions_of(CONTEST["arm7"]) == FUNCTIONS
    assert not SIX.load(CONTEST["arm7"]).model.frames


@pytest.mark.parametrize(("name", "rows"), [("quadruped12", 12), ("humanoid30", 12)])
def test_robots_have_the_contacts(name: str, rows: int) -> None:
    robot = IN_CONTACT.load(CONTEST[name])
    assert robot.model.sizes["nc"] == rows
    for function in IN_CONTACT.functions_of(CONTEST[name]):
        lookup(function, robot.model)


def test_what_a_robot_or_the_table_lacks_is_left_out() -> None:
    suite = Suite("", ("rnea", "frame_placement", "no_such_function"), Path(), {"arm7": ("link7",)})
    assert suite.functions_of(CONTEST["arm7"]) == ("rnea", "frame_placement")
    assert suite.functions_of(CONTEST["quadruped12"]) == ("rnea",)


def test_each_suite_has_a_driver_that_times_its_functions() -> None:
    for suite in (SIX, MORE, IN_CONTACT):
        text = suite.driver.read_text()
        for function in suite.functions:
            assert f'"{function}"' in text or f'"{function}:' in text


def asked(monkeypatch: pytest.MonkeyPatch, module: Any, folder: Path, words: list[str]) -> list[Any]:
    """Runs the command line with a fake measurement, and returns the measured suites and robots."""
    seen: list[Any] = []

    def measured(contest: Contest, suite: Suite, *_: object) -> dict[str, Any]:
        seen.append((contest.name, suite))
        return {"robot": contest.name}

    monkeypatch.setattr(module, "measure_robot", measured)
    monkeypatch.setattr(module, "print_table", lambda *_: None)
    monkeypatch.setattr(module, "RESULTS", folder)
    monkeypatch.setattr(bench.toolchain, "available", lambda: (GCC,))
    monkeypatch.setattr(sys, "argv", ["bench", *words])
    module.main()
    return seen


def test_single_calls_go_into_files_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawn: list[Path] = []
    monkeypatch.setattr(bench, "draw", lambda results, chart: drawn.append(results))
    assert asked(monkeypatch, bench, tmp_path, ["--more", "arm7"]) == [("arm7", MORE)]
    assert [path.name for path in tmp_path.iterdir()] == ["more_arm7.json"]
    assert json.loads((tmp_path / "more_arm7.json").read_text())["robot"] == "arm7"
    assert not drawn
    assert asked(monkeypatch, bench, tmp_path, ["arm7"]) == [("arm7", SIX)]
    assert drawn == [tmp_path]
    everything = asked(monkeypatch, bench, tmp_path, ["--more"])
    assert [name for name, _ in everything] == list(MORE.frames)


def test_batches_go_into_files_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawn, joined = [], []
    monkeypatch.setattr(batch, "draw_batches", lambda results, chart: drawn.append(chart.name))
    monkeypatch.setattr(batch, "add_frax", lambda report, contest, _: joined.append(contest.name))
    words = ["arm7", "--results", str(tmp_path)]
    assert asked(monkeypatch, batch, tmp_path, ["--more", *words]) == [("arm7", MORE)]
    assert [path.name for path in tmp_path.iterdir()] == ["more_batch_arm7.json"]
    assert not drawn
    assert not joined
    assert asked(monkeypatch, batch, tmp_path, words) == [("arm7", SIX)]
    assert drawn == ["batch.svg"]
    assert joined == ["arm7"]
