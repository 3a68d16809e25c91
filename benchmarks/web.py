"""Compares functions in WebAssembly and in JavaScript, run by node, with the same C compiled by gcc.

`python -m benchmarks.web` (or `make bench-web`) prints two tables per robot, of times of a call and of sizes,
and writes results/web_<robot>.json. It needs clang, wasm-ld and node. All three compute the same bits. The
smallest time of many repetitions is reported: for C, of a call; for a module, of a prepared call and of a
plain one, which checks its arguments and returns new arrays. Each function is called for some seconds before,
because engines compile JavaScript only after many calls.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console, Group
from rich.table import Table

import rbdgen
from benchmarks.batch import RESULTS, Json
from benchmarks.bench import processor
from benchmarks.c_driver import CFunction, measure
from benchmarks.toolchain import run
from rbdgen.functions.table import lookup
from rbdgen.model.build import Robot

ROBOTS: Final[Mapping[str, tuple[Mapping[str, Any], tuple[str, ...]]]] = {
    "double_pendulum": ({}, ("rnea", "aba", "crba", "minv")),
    "arm7": ({}, ("rnea", "aba", "crba", "minv", "aba_derivatives")),
    "quadruped12": (
        {"base": "floating", "contacts": ["*_shank"]},
        ("rnea", "aba", "crba", "minv", "contact_aba", "contact_step"),
    ),
}
"""The options with which robots are loaded, and their functions."""

STATES: Final = 64

FLAGS: Final = ("-std=c99", "-O2", "-march=native", "-ffp-contract=off", "-fno-math-errno")


def main() -> None:
    """Measures the robots named on the command line, by default all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", help=f"by default: {', '.join(ROBOTS)}")
    parser.add_argument("--seconds", type=float, default=0.5, help="the time spent on each function and way")
    given = parser.parse_args()
    if unknown := set(given.robots) - set(ROBOTS):
        parser.error(f"unknown robot: {', '.join(sorted(unknown))}")
    for name in given.robots or ROBOTS:
        Console(width=110).print(measured(name, given.seconds))


def measured(name: str, seconds: float) -> Group:
    """Measures a robot, writes the report to the folder of results, and returns it as tables."""
    found = report(name, seconds)
    (RESULTS / f"web_{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    times = Table(title=f"{name}: nanoseconds a call", caption=f"{found['machine']}, node {found['node']}")
    ways = ("C", "WebAssembly", "JavaScript", "WebAssembly, plain", "JavaScript, plain")
    for heading in ("function", *ways):
        times.add_column(heading, justify="left" if heading == "function" else "right")
    for function, row in found["functions"].items():
        times.add_row(function, *(f"{row[way]:.0f}" for way in ways))
    sizes = Table(title=f"{name}: bytes")
    for heading in ("module", "as it is", "by gzip"):
        sizes.add_column(heading, justify="left" if heading == "module" else "right")
    for module, (whole, compressed) in found["bytes"].items():
        sizes.add_row(module, str(whole), str(compressed))
    return Group(times, sizes)


def report(name: str, seconds: float) -> Json:
    """Nanoseconds per call by function and way, and the bytes of both modules."""
    options, functions = ROBOTS[name]
    robot = rbdgen.load_robot(name, **options)
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as place:
        folder = rbdgen.generate(robot, place, functions, target="wasm32", emit=["javascript"])
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        states = {function: inputs_of(robot, function) for function in functions}
        rows = {
            function: {"C": in_c(folder, manifest["functions"][function], states[function], seconds)}
            for function in functions
        }
        modules = {
            "WebAssembly": [folder / f"{name}.mjs", folder / f"{name}.wasm"],
            "JavaScript": [folder / "javascript" / f"{name}.mjs"],
        }
        for way, files in modules.items():
            for function, times in in_node(files[0], states, Path(place), seconds).items():
                rows[function] |= {way: times["prepared"], f"{way}, plain": times["plain"]}
        sizes = {way: bytes_of(files) for way, files in modules.items()}
    return {
        "robot": name,
        "machine": processor(),
        "node": run(["node", "--version"]).strip().removeprefix("v"),
        "functions": rows,
        "bytes": sizes,
    }


def inputs_of(robot: Robot, function: str) -> list[Any]:
    """Random inputs, with a row for each state."""
    inputs = lookup(function, robot.model).sized(robot.model, 0).inputs
    drawn = robot.model.manifold.random_inputs(inputs, np.random.default_rng(0), (STATES,))
    return [np.ascontiguousarray(array).reshape(STATES, -1) for array in drawn.values()]


def in_c(folder: Path, facts: Mapping[str, Any], states: list[Any], seconds: float) -> float:
    """The time of a call of the folder's C, in ns."""
    sizes = tuple(int(np.prod(row["shape"])) for row in facts["outputs"])
    function = CFunction(facts["symbol"], tuple(array.shape[1] for array in states), sizes)
    timed = measure(function, [folder / facts["source"]], states, flags=FLAGS, relinks=3, seconds=seconds)
    return timed.measurement.ns


def in_node(
    module: Path, states: Mapping[str, list[Any]], place: Path, seconds: float
) -> dict[str, dict[str, float]]:
    """The times of prepared and of plain calls of a module, in ns, by function."""
    for name, arrays in states.items():
        np.concatenate(arrays, axis=1).tofile(place / f"{name}.in")
    program = Path(__file__).with_name("web.mjs")
    times: dict[str, dict[str, float]] = json.loads(
        run(["node", program, module, place, str(STATES), str(6 * seconds), str(seconds), *states])
    )
    return times


def bytes_of(files: list[Path]) -> list[int]:
    """The bytes of files, and those after compression, each by itself."""
    texts = [file.read_bytes() for file in files]
    return [sum(map(len, texts)), sum(len(gzip.compress(text, mtime=0)) for text in texts)]


if __name__ == "__main__":
    main()
