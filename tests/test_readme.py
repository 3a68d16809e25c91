"""The README and the pages with figures are correct: examples print what is shown, and tables equal files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdgen
from rbdgen.cli.arguments import options_of
from rbdgen.cli.parsers import generate_parser
from rbdgen.functions.differentiated import MODES
from rbdgen.functions.table import ALL
from rbdgen.functions.whole import WHOLE
from rbdgen.toolchain.targets import TARGETS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOUR = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
PERFORMANCE = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
BATCHES = (ROOT / "docs" / "batches.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)

ROBOTS = {"7-dof arm": "arm7", "18-dof quadruped": "quadruped12", "36-dof humanoid": "humanoid30"}
"""The rows of the table of speeds, with their files in `benchmarks/results`."""

NOT_BUNDLED = {"KUKA iiwa": "iiwa", "HyQ": "hyq", "Atlas": "atlas"}
"""The rows of the second table of speeds."""


def table(corner: str, page: str = PERFORMANCE) -> dict[str, dict[str, str]]:
    """The table of a page whose first heading is `corner`: rows by name, cells by heading."""
    start = page.index(f"\n| {corner}".rstrip() + " | rnea ") + 1
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page[start:].partition("\n\n")[0].splitlines()
    ]
    heading, _, *body = rows
    return {row[0]: dict(zip(heading[1:], row[1:], strict=True)) for row in body}


def results_of(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((ROOT / "benchmarks" / "results" / name).read_text(encoding="utf-8"))
    return content


def test_example_prints_what_the_readme_says() -> None:
    blocks = BLOCK.findall(README)
    position = next(k for k, (language, _) in enumerate(blocks) if language == "python")
    program, expected = blocks[position][1], blocks[position + 1][1]
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )
    assert done.stdout == expected


def test_equations_are_those_that_are_written() -> None:
    (shown,) = (block for _, block in BLOCK.findall(TOUR) if block.startswith("M11 = "))
    written = (ROOT / "tests/golden/formulas/double_pendulum.txt").read_text(encoding="utf-8")
    assert f"joint-space inertia matrix\n{shown}\n" in written


def test_a_function_of_your_own_holds_the_pendulum() -> None:
    """Its torques give the acceleration that its text asks for."""
    (code,) = (code for _, code in BLOCK.findall(TOUR) if "@rbdgen.function" in code)
    names: dict[str, Any] = {"rbdgen": rbdgen}
    exec(code, names)
    q, v = np.array([0.3, -0.7]), np.array([0.1, 0.2])
    tau = names["lib"].hold(q, v, [9.0, 6.0])
    a = rbdgen.build("double_pendulum", functions=["aba"]).aba(q, v, tau)
    np.testing.assert_allclose(a, -9 * q - 6 * v, rtol=1e-10)


@pytest.mark.parametrize(
    ("page", "heading", "column"),
    [("docs/tour.md", "| family | functions |", 2), ("docs/functions.md", "| function | computes |", 1)],
)
def test_every_function_is_in_the_table(page: str, heading: str, column: int) -> None:
    """The table has one name `frame_..._x` for three conventions, and one for each kind of derivatives."""
    text = (ROOT / page).read_text(encoding="utf-8")
    rows = text[text.index(heading) :].partition("\n\n")[0].splitlines()[2:]
    shown = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[column])}
    assert shown == {f"NAME_{made}" for made in (*MODES, *WHOLE)} | {
        re.sub(r"(frame_.*)_(local|aligned|world)$", r"\1_x", name) for name in ALL
    }


@pytest.mark.parametrize("row", table(""))
def test_speeds_are_those_measured(row: str) -> None:
    """The table has us per call and the speed relative to Pinocchio, to the digits shown."""
    results = results_of(f"{ROBOTS[row]}.json")
    assert row.startswith(f"{results['dof']}-dof ")
    assert table("")[row] == speeds(results)


@pytest.mark.parametrize("row", table("not bundled"))
def test_speeds_of_other_robots_are_those_measured(row: str) -> None:
    assert table("not bundled")[row] == speeds(results_of(f"{NOT_BUNDLED[row]}.json"))


def speeds(results: dict[str, Any]) -> dict[str, str]:
    """The cells of a table of speeds by the names of functions."""
    shown = {}
    for name, function in results["functions"].items():
        ns = {who: entry["ns"] for who, entry in function["times"].items()}
        shown[name] = f"{ns['rbdgen'] / 1000:.3f} ({ns['pinocchio'] / ns['rbdgen']:.1f})"
    return shown


@pytest.mark.parametrize("row", table("`rbdgen list --counts ROBOT`"))
def test_operations_are_those_pinned(row: str) -> None:
    name = Path(row.strip("`")).stem
    assert (ROOT / row.strip("`")).is_file()
    pinned = (ROOT / "tests/golden/chosen_counts" / f"{name}.txt").read_text(encoding="utf-8")
    totals = re.findall(r"^(\w+): .*?: (\d+) = ", pinned, re.MULTILINE)
    assert table("`rbdgen list --counts ROBOT`")[row] == dict(totals)


def test_the_table_of_the_readme_is_that_of_the_page() -> None:
    assert table("", README) == table("")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 120


def test_every_robot_has_its_row() -> None:
    assert set(table("")) == set(ROBOTS)
    assert set(table("not bundled")) == set(NOT_BUNDLED)
    assert set(table("`make bench-batch`")) == set(ROBOTS)


@pytest.mark.parametrize("row", table("`make bench-batch`"))
def test_batches_are_those_measured(row: str) -> None:
    """The table has ns per state, and speeds relative to Pinocchio in double and in float."""
    results = results_of(f"batch_{ROBOTS[row]}.json")
    shown = {
        name: f"{x['batch']:.0f} ({x['pinocchio'] / x['batch']:.1f}, {x['pinocchio'] / x['float']:.0f})"
        for name, x in results["functions"].items()
    }
    assert table("`make bench-batch`")[row] == shown


def test_figures_of_small_machines_are_those_pinned() -> None:
    """The figures are those of the options in the command of each row."""
    pinned = (ROOT / "tests/golden/embedded/figures.md").read_text(encoding="utf-8")
    start = PERFORMANCE.index("| command | flash, bytes |")
    _, _, *rows = PERFORMANCE[start:].partition("\n\n")[0].splitlines()
    assert len(rows) == 7
    for row in rows:
        command, *figures = (cell.strip() for cell in row.strip("|").split("|"))
        given = generate_parser().parse_args(command.strip("`").split()[1:])
        options = options_of(given)
        (function,) = options.functions
        assert given.base == ("floating" if given.robot == "quadruped12" else None)
        assert options.real == "float"
        form = options.variants.get(function, "unrolled")
        expected = (given.robot, function, form, options.trig, options.target, *figures)
        assert f"| {' | '.join(expected)} |" in pinned


def test_packages_of_small_machines() -> None:
    """The page names the packages of the compiler for every target."""
    text = PERFORMANCE.replace("\n", " ")
    assert [name for name, row in TARGETS.items() if row.embedded and f"`{row.install}`" not in text] == []


def test_seconds_of_generation_are_those_measured() -> None:
    made = [results_of(f"{name}.json")["generation"] for name in ROBOTS.values()]
    arm, quadruped, humanoid = (m["design_seconds"] + m["build_seconds"] for m in made)
    gigabytes = made[-1]["peak_megabytes"] / 1000
    told = f"takes {arm:.0f} s for the arm, {quadruped:.0f} s for the quadruped,"
    assert f"{told} {humanoid:.0f} s and {gigabytes:.1f} GB" in PERFORMANCE.replace("\n", " ")


def test_gains_of_threads_are_those_measured() -> None:
    rows = {
        (robot, name): row
        for robot in ROBOTS.values()
        for name, row in results_of(f"batch_{robot}.json")["functions"].items()
    }
    gains = [round(row["long"] / row["threads"], 1) for row in rows.values()]
    largest = rows["humanoid30", "rnea_derivatives"]
    gain = round(largest["batch"] / largest["batch_threads"], 1)
    rate = 3 * 36 * 36 * 8 / largest["batch"]  # bytes of three matrices per ns
    text = BATCHES.replace("\n", " ")
    assert f"which one thread writes at {rate:.0f} GB/s" in text
    assert f"Two threads are {min(gains)} to {max(gains)} times as fast as one" in text
    assert f"two threads are {gain} times as fast there" in text
