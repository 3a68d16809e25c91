"""The table of docs/covers.md is that of the results of `python -m benchmarks.covers`."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import covers
from rbdgen import resources


def test_the_page_has_the_results() -> None:
    page = (resources.package_root().parents[1] / "docs/covers.md").read_text(encoding="utf-8")
    (start,) = (found.start() for found in re.finditer(r"^\| robot \| links", page, re.MULTILINE))
    assert page[start:].splitlines() == list(covers.lines(covers.saved()))


def test_every_robot_of_the_package_is_there() -> None:
    assert set(covers.ROBOTS) <= covers.saved().keys()


def test_a_row_is_what_the_robot_has() -> None:
    """Without meshes, a row takes no search."""
    name = "panda_description/urdf/panda_collision.urdf"
    assert covers.row(Path(covers.FOLDER / name), covers.COUNTS) == covers.saved()[name]
