"""The ranges of results that Eva finds in the C are those of the bounds: two programs that share nothing, one
for C and one for graphs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import rbdgen
from rbdgen.graph.bounds.found import Bounds, OutputBounds
from rbdgen.options import Options, Trig
from rbdgen.pipeline.bounded import bounded
from rbdgen.pipeline.request import Request
from rbdgen.prove.eva import OPTIONS
from rbdgen.prove.harness import RANGE, harness

Array = npt.NDArray[Any]

FUNCTIONS = ("rnea", "rnea_derivatives", "aba", "minv")

ENDS = re.compile(r"^ +(?:output_(?P<name>\w+))?\[(?P<first>\d+)(?:\.\.(?P<last>\d+))?\] ∈ (?P<values>.+)$")

NUMBER = re.compile(r"-?(?:0x[0-9a-f.]+p-?\d+|inf|0\b)")


def ranges_in(text: str, size: dict[str, int]) -> dict[str, Array]:
    """The lowest and the highest value of every element of the outputs, in what Eva prints."""
    found = {name: np.full((2, count), np.nan) for name, count in size.items()}
    name = None
    for line in text.partition("Values at end of function main:")[2].splitlines():
        if (row := ENDS.match(line)) is None:
            name = None
            continue
        name = row["name"] or name
        if name is not None:
            ends = [float.fromhex(one) for one in NUMBER.findall(row["values"])]
            elements = slice(int(row["first"]), int(row["last"] or row["first"]) + 1)
            found[name][:, elements] = [[min(ends)], [max(ends)]]
    return found


def of_eva(made: Path, function: str) -> dict[str, Array]:
    """The ranges of the computed results, for all inputs within RANGE."""
    facts = json.loads((made / "manifest.json").read_text())["functions"][function]
    (made / "harness.c").write_text(harness("double_pendulum.h", facts, "double"))
    options = ["-cpp-extra-args=-I.,-U__GNUC__", *OPTIONS, "-warn-special-float", "none", "-float-hex"]
    done = subprocess.run(
        ["frama-c", *options, "harness.c", facts["source"]],
        cwd=made,
        env={**os.environ, "PWD": str(made)},
        capture_output=True,
        text=True,
        check=True,
    )
    return ranges_in(done.stdout, {x["name"]: int(np.prod(x["shape"])) for x in facts["outputs"]})


@cache
def own_bounds(trig: Trig) -> dict[str, Bounds]:
    request = Request(
        rbdgen.load_robot("double_pendulum"), Options(functions=FUNCTIONS, target="portable", trig=trig)
    )
    sines = ("sin_q", "cos_q") if trig == "input" else ("q",)
    found = bounded(request, dict.fromkeys((*sines, "v", "a", "tau"), RANGE), reals=("double",))
    return {one.function: one for one in found}


def ends_of(found: OutputBounds) -> tuple[Array, Array]:
    """The lowest and the highest exact values, (2, elements), and the distance within which Eva's are equal.

    Eva's are those of computed values: both ends have rounding errors, and ours are rounded outwards besides.
    """
    return np.array([found.lowest.ravel(), found.highest.ravel()]), 3 * found.error["double"].ravel()


@pytest.fixture(scope="module", params=["input", "libm"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Trig, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    options = {"target": "portable", "trig": request.param}
    return request.param, rbdgen.generate("double_pendulum", folder, list(FUNCTIONS), **options)


@pytest.mark.usefixtures("frama_c")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_eva_finds_the_same_ranges(made: tuple[Trig, Path], function: str) -> None:
    """Where sines are inputs, both find the same. Where they are computed, the bounds may be tighter, as they
    know that a sine and a cosine are a point on the circle.
    """
    trig, folder = made
    for name, of_c in of_eva(folder, function).items():
        own, slack = ends_of(own_bounds(trig)[function][name])
        assert not np.isnan(of_c).any()
        finite = np.isfinite(of_c).all(axis=0)
        assert np.isfinite(own[:, finite]).all()
        (low, high), (own_low, own_high) = of_c[:, finite], own[:, finite]
        assert (own_low >= low - slack[finite]).all()
        assert (own_high <= high + slack[finite]).all()
        if trig == "input":
            assert not np.isfinite(own[:, ~finite]).any()
            assert (own_low <= low + slack[finite]).all()
            assert (own_high >= high - slack[finite]).all()
        else:
            assert finite.all()
