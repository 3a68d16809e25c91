"""The report of the accuracy of float agrees with references that are computed here."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import rbdgen
from rbdgen.checks.accuracy import Accuracy, float_accuracy
from rbdgen.options import Options
from rbdgen.resources import robot_root

STATES = 300


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> list[Accuracy]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RBDGEN_CACHE", str(tmp_path_factory.mktemp("cache")))
        robot = rbdgen.load_robot(robot_root() / "double_pendulum.urdf")
        return float_accuracy(robot, Options(functions=("rnea", "rnea_derivatives")), STATES)


def test_errors_are_those_of_float(report: list[Accuracy]) -> None:
    assert [row.function for row in report] == ["rnea", "rnea_derivatives"]
    for row in report:
        assert 2.0**-27 < row.median < 2.0**-20
        assert row.median < row.largest < 1e-3
        assert row.largest <= row.bound < 500 * row.largest
        errors = {"largest": row.largest, "median": row.median, "bound": row.bound}
        assert row.as_json() == {"function": row.function, **errors}
    assert replace(report[0], bound=math.inf).as_json()["bound"] is None
