"""What `make bench-plain` measures, and what it leaves behind."""

from __future__ import annotations

import pytest
from support.robots import BUNDLED

from benchmarks import plain_calls
from benchmarks.contestants import Contest
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
