"""Bounds on request: a C header and entries of the manifest, which are those of `rbdgen bounds`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import rbdgen as command
from support.distances import reach

import rbdgen
from rbdgen.errors import OptionError, RbdgenError
from rbdgen.machine import Real
from rbdgen.options import Options
from rbdgen.pipeline.bounded import bounded
from rbdgen.pipeline.request import Request

RANGES: dict[str, object] = {"q": (-1.5, np.array([1.5, 0.25])), "v": (-2, 2), "a[0]": (-3, 4), "a[1]": "0:1"}

PROGRAM = """#include "double_pendulum_bounds.h"
#include <stdio.h>
#define SHOW(name) do { static const REAL x[] = DOUBLE_PENDULUM_##name; \\
    show(x, sizeof x / sizeof *x); } while (0)

static void show(const REAL *x, size_t size)
{
    size_t i;
    for (i = 0; i < size; ++i)
        printf("%.17g ", (double)x[i]);
    puts("");
}

int main(void)
{
    SHOW(RNEA_TAU_LOWEST);
    SHOW(RNEA_TAU_HIGHEST);
    SHOW(RNEA_TAU_ERROR);
    SHOW(ABA_A_ERROR);
    return 0;
}
"""


def generated(folder: Path, functions: list[str], **options: Any) -> Path:
    given = {"emit": ["bounds"], "target": "portable", "ranges": RANGES, **options}
    return rbdgen.generate("double_pendulum", folder, functions, **given)


def printed(made: Path, real: Real) -> list[np.ndarray[Any, Any]]:
    """The arrays of the header, as a C compiler reads them."""
    (made / "show.c").write_text(PROGRAM)
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-DREAL={real}"]
    subprocess.run(["gcc", *flags, "show.c", "-o", "show"], cwd=made, check=True)
    text = subprocess.run([made / "show"], capture_output=True, text=True, check=True).stdout
    return [np.array(line.split(), float) for line in text.splitlines()]


@pytest.mark.parametrize("real", ["float", "double"])
def test_header_and_manifest_have_the_bounds(real: Real, tmp_path: Path) -> None:
    """In double exactly, and in float rounded outwards by less than the distance of two numbers."""
    made = generated(tmp_path, ["rnea", "aba"], real=real, ranges={**RANGES, "tau": (-1, 1)})
    options = Options(functions=("rnea", "aba"), target="portable", real=real)
    given = {**RANGES, "tau": (-1, 1)}
    rnea, aba = bounded(Request(rbdgen.load_robot("double_pendulum"), options), given, reals=(real,))
    told = json.loads((made / "manifest.json").read_text())["functions"]
    assert told["rnea"]["bounds"] == {x: y for x, y in rnea.as_json().items() if x != "function"}
    assert told["rnea"]["bounds"]["inputs"]["a"] == {"lowest": [-3, 0], "highest": [4, 1]}
    low, high, error, unknown = printed(made, real)
    tau = rnea["tau"]
    assert (low <= tau.lowest).all()
    assert (high >= tau.highest).all()
    assert (error >= tau.error[real]).all()
    assert (unknown >= aba["a"].error[real]).all()
    for read, bound in ((low, tau.lowest), (high, tau.highest), (error, tau.error[real])):
        assert (np.abs(read - bound) <= (0 if real == "double" else 2.0**-23) * np.abs(bound)).all()


def test_a_bound_that_does_not_exist(tmp_path: Path) -> None:
    """The header says INFINITY, and the manifest null."""
    made = rbdgen.generate(
        "arm7", tmp_path, ["aba"], emit=["bounds"], target="portable", ranges={"tau": (-1, 1)}
    )
    text = (made / "arm7_bounds.h").read_text()
    assert "#include <math.h>" in text
    assert "{ -INFINITY, -INFINITY" in text
    told = json.loads((made / "manifest.json").read_text())["functions"]["aba"]["bounds"]
    assert told["outputs"]["a"]["highest"] == [None] * 7
    assert told["inputs"]["q"]["lowest"][0] is None  # gravity is along the first axis
    assert "arm7_bounds.h" in (made / "CMakeLists.txt").read_text()
    assert "arm7_bounds.h" in (made / "README.md").read_text()


def test_ranges_of_parameters(tmp_path: Path) -> None:
    """The table has no range of its own, and the function that computes it has no bounds."""
    ranges = {"q": (-1, 1), "mass:*": "+-10%"}
    made = generated(tmp_path, ["gravity"], params=["mass:*"], ranges=ranges)
    told = json.loads((made / "manifest.json").read_text())
    facts = told["functions"]
    defaults = [row["default"] for row in told["parameters"]]
    given = facts["gravity"]["bounds"]["inputs"]
    assert set(given) == {"q", "p"}
    assert given["p"]["highest"] == pytest.approx([1.1 * x for x in defaults])
    assert "bounds" not in facts["update"]
    assert "UPDATE" not in (made / "double_pendulum_bounds.h").read_text()


def test_of_a_library() -> None:
    """The same bounds as those that the library computes; functions that frameworks need later have none."""
    options = {"emit": ["bounds"], "ranges": RANGES, "tighten": 16}
    library = rbdgen.build("double_pendulum", ["rnea"], **options)  # type: ignore[arg-type]
    (error,) = library.manifest["functions"]["rnea"]["bounds"]["outputs"]["tau"]["error"].values()
    found = library.rnea.bounds(RANGES, tighten=16)["tau"]  # type: ignore[arg-type]
    assert error == found.error["double"].tolist()
    request = Request(rbdgen.load_robot("double_pendulum"), Options.of(functions=["rnea"], **options))
    assert request.for_frameworks(["rnea_vjp"]).options.emit == ()


def test_the_command_line(tmp_path: Path) -> None:
    given = ("double_pendulum", "-f", "rnea", "--target", "portable", "-o", tmp_path, "--emit", "bounds")
    done = command(*given, "--range", "a=-1:1", "--range", "v=-1:1", "--range", "q=-1:1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        "DOUBLE_PENDULUM_RNEA_TAU_ERROR"
        in (tmp_path / "double_pendulum/double_pendulum_bounds.h").read_text()
    )
    done = command(*given, "--range", "a=1:-1", cwd=tmp_path)
    assert done.returncode == 2
    assert "begins above its end" in done.stderr
    done = command(*given[:-2], "--tighten", "3", cwd=tmp_path)
    assert done.returncode == 2
    assert "--tighten is an option of bounds; give --emit bounds" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranges": {"a": (0, 1)}, "emit": []}, "ranges is an option of bounds; give emit="),
        ({"ranges": [("a", 0, 1)]}, "give a dict"),
        ({"tighten": -1}, "give a number of parts"),
        ({"emit": ["bounds:3"], "ranges": {}}, "bounds has no further option"),
        ({"ranges": {}}, r"q\[0\] \(joint shoulder\) has no limits"),
        ({"ranges": {"a": object()}}, "is no range"),
        ({"ranges": {"a": (0, np.inf)}}, "is not finite"),
        ({"ranges": {"x": (0, 1)}}, "no input and no parameter"),
    ],
)
def test_impossible_bounds(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    """One line, and no folder."""
    with pytest.raises(RbdgenError, match=message) as caught:
        generated(tmp_path, ["rnea"], **options)
    assert isinstance(caught.value, OptionError)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_obstacles_without_a_range_are_unused() -> None:
    options = Options(functions=("distances",), target="portable")
    (found,) = bounded(Request(reach(), options), {"q": (-0.5, 0.5)}, reals=("double",))
    told = found.as_json()["inputs"]["spheres"]
    assert told["lowest"] == told["highest"] == [[0, 0, 0, -1e6]]
