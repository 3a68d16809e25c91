"""The measurements of `make bench-web` have a row for each function and each module."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.web import NODE, WEBASSEMBLY, need

from benchmarks import web


def test_every_function_has_its_times(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    need(*WEBASSEMBLY, NODE)
    monkeypatch.setattr(web, "RESULTS", tmp_path)
    web.measured("double_pendulum", 0.01)
    (written,) = tmp_path.iterdir()
    found = json.loads(written.read_text())
    assert tuple(found["functions"]) == web.ROBOTS["double_pendulum"][1]
    ways = {"C", "WebAssembly", "JavaScript", "WebAssembly, plain", "JavaScript, plain"}
    assert all(set(row) == ways and min(row.values()) > 0 for row in found["functions"].values())
    assert all(0 < small < whole for whole, small in found["bytes"].values())
    assert set(found["bytes"]) == {"WebAssembly", "JavaScript"}
