"""The report of `make bench-forms` on the selection of a form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.limbs import with_limbs

from benchmarks import forms
from benchmarks.contestants import Contest
from benchmarks.forms import Row, rows
from rbdgen.emit.package import FunctionSource


@pytest.mark.parametrize(
    ("measured", "taken", "said"),
    [
        (1.5, True, "taken"),
        (0.9, True, "wrong: slower"),
        (0.98, True, "taken"),
        (1.04, False, "left"),
        (1.2, False, "wrong: left"),
    ],
)
def test_verdicts(measured: float, taken: bool, said: str) -> None:
    assert Row("rnea", "limbs", 1.3, measured, 1.0, taken).verdict == said


def test_the_straight_line_is_timed_beside_each_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forms that are not selected are timed too, such as one with a small gain for two sliding masses.

    Batches of this form have a program of their own, which is the straight line.
    """
    timed: list[list[str]] = []

    def times(contest: object, robot: object, sources: Sequence[FunctionSource], *_: object) -> list[float]:
        timed.append([source.form for source in sources])
        assert sources[0].lanes is None
        assert sources[1].lanes is not None
        return [30.0, 20.0]

    monkeypatch.setattr(forms, "timed", times)
    robot, contest = with_limbs([("prismatic",)] * 2), Contest("limbed", Path(), "floating")
    (row,) = rows(contest, robot, "gravity", 1)
    assert timed == [["classical", "limbs"]]
    assert (row.measured, row.taken, row.verdict) == (1.5, False, "wrong: left")
    assert 0.5 < row.predicted < 1.05
    assert row.batch == 1
