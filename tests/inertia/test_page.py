"""The example and the operation counts of docs/inertia.md are correct."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from rbdgen.inertia.operations import OPERATIONS
from rbdgen.options import Options
from rbdgen.pipeline.inertia import inertia_functions

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "inertia.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_page_says() -> None:
    program, expected = re.findall(r"```(?:python)?\n(.*?)```", PAGE, re.DOTALL)[:2]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == expected


def test_the_counts_are_those_of_the_c() -> None:
    for function in inertia_functions(Options(functions=tuple(OPERATIONS), engine="graph")):
        name, cost = function.name, function.cost
        row = next((line for line in PAGE.splitlines() if f"`inertia_{name}`" in line), None)
        if row is None:
            assert "pseudo_inertia" in name
        elif cost.additions:
            assert f"| {cost.multiplications} + {cost.additions}" in row
        else:
            assert row.endswith("| none |")
