"""The tables of calls in rbdgen and in other libraries: both cells of every row run, and give the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.pages import DOCS, examples, text_of

ROWS = {"start/pinocchio.md": 30, "start/mujoco.md": 10, "start/casadi.md": 6}
"""The least number of rows of each sheet."""


def rows_of(text: str) -> list[list[str]]:
    """The rows of the first table whose cells are code, with their remarks."""
    return [list(row) for row in re.findall(r"^\| `(.*?)` \| `(.*?)` \| (.*?) ?\|$", text, re.MULTILINE)]


def value(cell: str, names: dict[str, Any]) -> Any:
    """Runs the statements of a cell, and evaluates the last one."""
    *statements, last = cell.split("; ")
    for statement in statements:
        exec(statement, names)
    return eval(last, names)


def arrays(result: Any) -> list[Any]:
    """The arrays of a result, of which there are several if it is a tuple."""
    several = result if isinstance(result, tuple) else (result,)
    found = [getattr(x, "vector", x) for x in several]
    return [x if isinstance(x, list) else np.array(x, dtype=float).squeeze() for x in found]


@pytest.mark.parametrize("name", ROWS)
def test_both_columns_agree(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robots").symlink_to(DOCS.parent / "robots")
    names: dict[str, Any] = {}
    exec(examples(text_of(name))[0][0], names)
    rows = rows_of(text_of(name))
    assert len(rows) >= ROWS[name]
    for theirs, ours, remark in rows:
        expected, found = arrays(value(theirs, names)), arrays(value(ours, names))
        for x, y in zip(expected, found, strict=True):
            if isinstance(x, list):
                assert x == y, theirs
                continue
            assert x.shape == y.shape, theirs
            last = x is expected[-1]
            full = np.triu(x) + np.triu(x, 1).T if "upper triangle" in remark and last else x
            tolerance = 1e-6 if "1e-6" in remark else 1e-9
            np.testing.assert_allclose(y, full, rtol=tolerance, atol=tolerance, err_msg=theirs)


def test_cells_that_differ_are_found() -> None:
    assert rows_of("| `a; b` | `c` | x |\n| a | `b` | |\n| `a` | `b` | |") == [
        ["a; b", "c", "x"],
        ["a", "b", ""],
    ]
    assert value("x = 2; x + 1", {}) == 3
    assert [x.shape for x in arrays((np.ones((1, 3)), 2.0))] == [(3,), ()]
