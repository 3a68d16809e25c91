"""Benchmarks compare this tree with another commit: the same functions, the same inputs, both in turns."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import before
from benchmarks.contestants import CONTESTS, IN_CONTACT, MORE, ROOT, SIX
from benchmarks.toolchain import ToolError

CONTEST = {contest.name: contest for contest in CONTESTS}


def worktrees() -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), "worktree", "list"], capture_output=True, text=True, check=True
    ).stdout


def test_an_unknown_commit_is_one_error() -> None:
    with pytest.raises(ToolError, match="no_such_commit"), before.checked_out("no_such_commit"):
        pass


def test_the_worktree_has_the_files_of_the_commit_and_is_removed() -> None:
    with before.checked_out("HEAD") as tree:
        assert (tree / "pyproject.toml").is_file()
        assert str(tree) in worktrees()
    assert not tree.exists()
    assert str(tree) not in worktrees()


def test_the_command_line_generates_what_the_suite_has(tmp_path: Path) -> None:
    """The frames and contacts of a suite reach the other tree as options."""
    found = before.generated(
        ROOT, CONTEST["arm7"], MORE, ["frame_placement"], tmp_path / "frames", compiled=False
    )
    assert (found / "arm7_frame_placement.c").is_file()
    assert "--contact" in before._contact(IN_CONTACT.contacts["quadruped12"][0])
    assert "--contact-frame" in before._contact(IN_CONTACT.contacts["humanoid30"][0])
    with pytest.raises(ToolError, match="no_such_function"):
        before.generated(ROOT, CONTEST["arm7"], SIX, ["no_such_function"], tmp_path / "none", compiled=False)


def test_a_ratio_is_that_of_the_least_times() -> None:
    assert before._least_in_turns([(9.0, 5.0), (6.0, 8.0)]) == (6.0, 5.0)


@pytest.mark.parametrize(
    ("after", "expected"),
    [([[1.0, 200.0]], 0.0), ([[1.0, 200.1]], 0.0005), ([[1.5, 200.0]], 0.0025)],
)
def test_differences_are_relative_to_the_largest_entry(after: Any, expected: float) -> None:
    rows = np.array([[1.0, 200.0]])
    assert before._difference([rows], [np.array(after)]) == pytest.approx(expected)


def test_a_function_is_compared_with_itself(tmp_path: Path) -> None:
    """Two folders of the same code have the same size and results."""
    folder = before.generated(ROOT, CONTEST["arm7"], SIX, ["step"], tmp_path, compiled=False)
    same = before._compared("step", CONTEST["arm7"], [folder, folder], 1)
    assert same.difference == 0
    assert same.code_bytes[0] == same.code_bytes[1] > 0
    assert all(0.1 < ratio < 10 for ratio in same.ratios.values())
    assert same.cells[:2] == ["step", "bias"]
