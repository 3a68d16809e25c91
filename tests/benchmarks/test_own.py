"""The measurements of `make bench-own`: both sides compute the same, and every way has a row."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import own, toolchain
from benchmarks.toolchain import ToolError

pytest.importorskip("casadi")

REACH = own.CASES[0]


@pytest.fixture(autouse=True)
def few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "STATES", 19)
    monkeypatch.setattr(own, "CALLS", 3)
    monkeypatch.setattr(toolchain, "available", lambda: (toolchain.GCC,))


def test_every_way_has_a_row_and_ratios(tmp_path: Path) -> None:
    found = own.report(REACH, 2)
    own.write(found, tmp_path)
    own.write(found | {"function": "another"}, tmp_path)
    written = json.loads((tmp_path / "own.json").read_text())
    assert list(written) == ["reach", "another"]
    ways = written["reach"]["ways"]
    assert list(ways) == ["CasADi, parts, gcc", "CasADi, text, gcc", "rbdgen, gcc", "rbdgen, -O3, gcc"]
    assert ways["CasADi, parts, gcc"]["ratio"] == {"one": 1, "batch": 1}
    assert ways["rbdgen, gcc"]["operations"] == 1329 < ways["CasADi, parts, gcc"]["operations"]
    for way in ways.values():
        assert way["ratio"]["batch"] == pytest.approx(ways["CasADi, parts, gcc"]["batch"] / way["batch"])
    assert own.table(found).row_count == len(ways)


def test_other_values_are_refused() -> None:
    def other() -> object:
        inputs = own.own_casadi.symbols(q=7, v=7, target=3, gains=2)
        tau = REACH.rivals[own.TEXT]()(*inputs)
        return own.own_casadi.function("casadi_text", inputs, [tau * (1 + 1e-6)])

    with pytest.raises(ToolError, match="reach: the values of CasADi, text, gcc are off by"):
        own.report(replace(REACH, rivals={**REACH.rivals, own.TEXT: other}), 1)
