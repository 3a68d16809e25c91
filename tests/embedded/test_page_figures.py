"""Flash, stack and instructions of the quadruped on the Cortex-M4F are those in docs/functions.md."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from support.cross import PINNED
from support.few import few

from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root
from rbdgen.toolchain.cross import cross_compiler
from rbdgen.toolchain.targets import TARGETS

PAGE = Path(__file__).parents[2] / "docs" / "functions.md"

FORMS, FUNCTIONS = ("unrolled", "limb-loops", "looped"), ("rnea", "aba", "crba", "minv")


def told(form: str, function: str) -> tuple[int, ...]:
    """The figures of a form and function on the page."""
    table = PAGE.read_text(encoding="utf-8").partition("| form | | `rnea` |")[2].partition("\n\n")[0]
    rows = [re.findall(r"\d+", line) for line in table.splitlines()[2:]]
    first, column = 3 * FORMS.index(form), FUNCTIONS.index(function)
    return tuple(int(row[column]) for row in rows[first : first + 3])


@pytest.mark.parametrize(
    ("form", "function"),
    few([("limb-loops", "rnea"), ("limb-loops", "crba"), ("limb-loops", "minv")], product(FORMS, FUNCTIONS)),
)
def test_as_told(form: str, function: str, tmp_path: Path) -> None:
    compiler = cross_compiler(TARGETS["cortex-m4f"])
    if compiler is None or not f"{compiler.family} {compiler.version}".startswith(PINNED):
        pytest.skip(f"told of {PINNED} for Arm")
    variants = {} if form == "unrolled" else {function: form}
    options = Options(functions=(function,), real="float", target="cortex-m4f", variants=variants)
    robot = load_robot(robot_root() / "quadruped12.urdf", "floating")
    facts = generate(robot, options, tmp_path).manifest["functions"][function]
    measured = tuple(facts[key] for key in ("object_bytes", "stack_bytes", "instructions"))
    assert measured == told(form, function)
