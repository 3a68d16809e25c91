"""The table of docs/trust.md is that of the results of `make prove`."""

from __future__ import annotations

import re
import shutil

import pytest

from benchmarks import proofs
from rbdgen import resources


def test_the_page_has_the_results() -> None:
    page = (resources.package_root().parents[1] / "docs/trust.md").read_text(encoding="utf-8")
    (start,) = (found.start() for found in re.finditer(r"^\| robot \| functions", page, re.MULTILINE))
    assert page[start:].partition("\n\n")[0].splitlines() == list(proofs.lines(proofs.saved()))
    assert proofs.not_finite(proofs.saved()) in page


def test_every_function_is_proved() -> None:
    """There is no result of a function that does not exist, and none with an alarm."""
    saved, known = proofs.saved(), {(row.owner, row.name) for row in proofs.rows()}
    assert {(owner, name) for owner, functions in saved.items() for name in functions} <= known
    assert all(proof["proved"] and proof["alarms"] == 0 for each in saved.values() for proof in each.values())


@pytest.mark.skipif(shutil.which("frama-c") is None, reason="frama-c-base is not installed")
def test_a_function_is_proved_again_if_its_c_has_changed() -> None:
    row = proofs.Row("double_pendulum", "gravity")
    found = proofs.proved(row, {"source": "of another version"})
    assert found is not None
    assert found["proved"]
    assert found["finite"]
    assert found["statements"] > 5
    assert proofs.proved(row, found) is None
