"""The measurements of `make bench-plain`, and the files that it leaves."""

from __future__ import annotations

import numpy as np
import pytest
from support.robots import BUNDLED

from benchmarks import plain_calls
from benchmarks.contestants import Contest
from rbdgen.options import Options
from rbdgen.pipeline.page import build_library
from rbdgen.pipeline.robot import load_robot
from rbdgen.runtime.memory import LARGE, MEMORY


def test_every_way_is_measured_and_the_limit_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []

    def least(call: object, number: int, repetitions: int) -> float:
        kept.append(MEMORY.limit)
        return 1000.0 * len(kept)

    monkeypatch.setattr(plain_calls, "STATES", (LARGE // 8,))
    monkeypatch.setattr(plain_calls, "least", least)
    limit = MEMORY.limit
    table = plain_calls.measured(Contest("double_pendulum", BUNDLED["double_pendulum"], "fixed"), 1)
    assert table.row_count == len(plain_calls.FUNCTIONS)
    assert kept == [limit, limit, 0] * len(plain_calls.FUNCTIONS)
    assert limit == MEMORY.limit


def test_every_way_to_pass_the_inputs_gives_the_same_torques() -> None:
    robot = load_robot(BUNDLED["double_pendulum"], "fixed", mimic="independent")
    library = build_library(robot, Options.of(functions=plain_calls.ONE_STATE))
    results = {name: way() for name, way in plain_calls.ways_to_call(library).items()}
    for name in ("out=", "bound", "keywords", "one list", "three lists"):
        (found,) = (result for way, result in results.items() if way.startswith("rnea") and name in way)
        np.testing.assert_array_equal(found, results["rnea, arrays"])
    np.testing.assert_array_equal(results["step, dt a number"], results["step, dt an array"])


def test_the_ways_to_pass_the_inputs_are_measured() -> None:
    table = plain_calls.converted(Contest("double_pendulum", BUNDLED["double_pendulum"], "fixed"), 1)
    assert table.row_count == 11
