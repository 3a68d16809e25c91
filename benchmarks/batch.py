"""Compares calls for many states (bound calls, batches, two threads) with Pinocchio's C++, MuJoCo and frax.

`python -m benchmarks.batch` (or `make bench-batch`) prints a table per robot, writes
results/batch_<robot>.json and draws results/batch.svg. Times are per state; a ratio is Pinocchio's time in
double divided by this time. Batches are bound calls. Two threads are compared with one on a batch so long
that the time to wake them is small. The address of code in memory changes its speed, so the fastest of
several links of Pinocchio, and of several copies of the module, is reported. Competitors that are not
installed are named and left out. With --before COMMIT only batches of this tree and another commit are
compared, see `before`. With --more and --contacts it measures other functions, compares them with
Pinocchio alone, writes results/more_batch_<robot>.json and results/contact_batch_<robot>.json, and draws
nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from timeit import repeat
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import before
from benchmarks.bench import Effort, attempt, load_peer, peer_pinocchio, processor
from benchmarks.contestants import CONTESTS, IN_CONTACT, MORE, SIX, Contest, Suite, present, suite_of
from benchmarks.peers import frax_batch, mujoco_loop
from benchmarks.presentation import BATCH_WAYS, CHARTED, batch_ratio, draw_batches
from benchmarks.states import random_states
from benchmarks.toolchain import ToolError
from rbdgen.machine import REALS
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.compilation import toolchain_of
from rbdgen.pipeline.page import designed
from rbdgen.pipeline.request import Request
from rbdgen.runtime import Library, open_library
from rbdgen.toolchain.cache import user_cache
from rbdgen.toolchain.module import build

RESULTS: Final = Path(__file__).parent / "results"
STATES: Final = 1024
LONG_OPERATIONS: Final = 20_000_000
LONG_BYTES: Final = 4 << 20
"""The largest number of operations, and of bytes of results, of the batches on which threads are compared.
The time to wake a thread is small for them, and caches hold the results; for larger ones threads share the
memory's bandwidth."""
PACKED: Final = ", packed"
WHOLE: Final = 128
"""The number of states of a batch is a multiple of this, so that two threads share it evenly."""

Json = dict[str, Any]


def main() -> None:
    """Measures the robots named on the command line, by default the three of the charts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "robots", nargs="*", help=f"robots to measure, from: {', '.join(c.name for c in CONTESTS)}"
    )
    parser.add_argument("--more", action="store_true", help=MORE.told)
    parser.add_argument("--contacts", action="store_true", help=IN_CONTACT.told)
    parser.add_argument("--repetitions", type=int, default=15, help="the shortest time counts")
    parser.add_argument(
        "--relinks",
        type=int,
        default=4,
        help="the number of links of Pinocchio's driver, and of copies of modules",
    )
    parser.add_argument(
        "--quick", action="store_true", help="2 repetitions of everything, to test whether it runs"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of results")
    parser.add_argument("--draw", action="store_true", help="only draw the chart again from the results")
    before.add_options(parser)
    given = parser.parse_args()
    suite = suite_of(given.more, given.contacts)
    wanted = [] if given.draw else given.robots or [name for name in suite.robots if name in CHARTED]
    if unknown := set(wanted) - {contest.name for contest in present()}:
        parser.error(f"unknown robot: {', '.join(sorted(unknown))}")
    effort = Effort(1, 0.02, slow=False) if given.quick else Effort(given.relinks, 0.2, slow=False)
    given.results.mkdir(parents=True, exist_ok=True)
    repetitions = 2 if given.quick else given.repetitions
    contests = [contest for contest in present() if contest.name in wanted]
    if commit := given.before:
        asked = given.functions.split(",") if given.functions else None
        before.printed(
            lambda one: before.compare_packages(
                one, suite, commit, asked or suite.functions_of(one), batches, repetitions
            ),
            contests,
        )
        return
    reports = {contest.name: measure_robot(contest, suite, repetitions, effort) for contest in contests}
    for contest in contests if suite is SIX else ():  # last, as it leaves threads running
        add_frax(reports[contest.name], contest, repetitions)
    for name, report in reports.items():
        print_table(name, report)
        (given.results / f"{suite.prefix}batch_{name}.json").write_text(json.dumps(report, indent=1) + "\n")
    if suite is SIX:
        draw_batches(given.results, given.results / "batch.svg")


def measure_robot(contest: Contest, suite: Suite, repetitions: int, effort: Effort) -> Json:
    """Nanoseconds per state, by function and way of calling it."""
    robot = suite.load(contest)
    full = Options(functions=suite.functions_of(contest))
    rows = measure_ours(robot, full, repetitions, effort.relinks)
    if suite.packed:
        lean = replace(full, functions=suite.packed, packed=True)
        packed = measure_ours(robot, lean, repetitions, effort.relinks)
        rows |= {f"{name}{PACKED}": row for name, row in packed.items()}
    for who, them in measure_peers(contest, suite, robot, repetitions, effort).items():
        for name, row in rows.items():
            row[who] = them.get(name.removesuffix(PACKED))
    return {"robot": contest.name, "machine": processor(), "states": STATES, "functions": rows}


def measure_ours(robot: Robot, options: Options, repetitions: int, count: int) -> Json:
    """Nanoseconds per state of rbdgen's functions in every way of calling them, with `count` copies of the
    module."""
    rows: Json = {}
    with TemporaryDirectory() as folder:
        double, single = (
            copies(robot, replace(options, real=real), count, Path(folder) / real) for real in REALS
        )
        for name, function in double[0].functions.items():
            times = [time_double(library, name, repetitions) for library in double]
            rows[name] = {
                "operations": function.cost["total"],
                "batch_function": bool(double[0].manifest["functions"][name]["batch"]),
                **{way: min(each[way] for each in times) for way in times[0]},
                "float": min(time_batch(library, name, STATES, repetitions) for library in single),
            }
    return rows


def copies(robot: Robot, options: Options, count: int, folder: Path) -> list[Library]:
    """Several copies of the compiled package, in separate files."""
    store = user_cache()
    package = build(designed(Request(robot, options), store), toolchain_of(options), store)
    return [open_library(copytree(package, folder / str(k) / package.name)) for k in range(count)]


def measure_peers(
    contest: Contest, suite: Suite, robot: Robot, repetitions: int, effort: Effort
) -> Mapping[str, Mapping[str, float]]:
    """Nanoseconds per state by competitor and function, for competitors that are installed."""
    states = random_states(robot.model.nv, floating=contest.floating)
    many = random_states(robot.model.nv, floating=contest.floating, count=STATES)
    pinocchio = peer_pinocchio(load_peer(contest, robot), suite.driver, states, effort)
    text = contest.urdf.read_text(encoding="utf-8")
    run = lambda: mujoco_loop.measure(text, robot, many, repetitions)  # noqa: E731
    mujoco = attempt("MuJoCo", run) if suite is SIX else {}
    return {
        "pinocchio": {name: measured.ns for name, measured in pinocchio.items()},
        "mujoco": mujoco or {},
    }


def add_frax(report: Json, contest: Contest, repetitions: int) -> None:
    """Adds frax's nanoseconds per state; None if it is not installed or lacks the function."""
    robot = SIX.load(contest)
    frax = attempt("frax", lambda: frax_batch.measure(contest.urdf, robot, STATES, repetitions)) or {}
    for name, row in report["functions"].items():
        row["frax"] = frax.get(name)


def batches(library: Library) -> before.Ways:
    """The time per state of a batch of every function."""
    return {name: partial(time_batch, library, name, STATES, 2) for name in library.functions}


def inputs_of(library: Library, name: str, states: int) -> list[np.ndarray[Any, Any]]:
    """Random inputs, with one row per state."""
    function = library.functions[name]
    random = np.random.default_rng(0)
    drawn = library.manifold.random_inputs(function.signature.inputs, random, (states,))
    return [values.astype(function.dtype) for values in drawn.values()]


def time_double(library: Library, name: str, repetitions: int) -> dict[str, float]:
    """The times of a library in double, by way of calling it."""
    bound = library.functions[name].bind(*(array[0] for array in inputs_of(library, name, 1)))
    result_bytes = sum(8 * prod(output.shape) for output in library.functions[name].signature.outputs)
    long = min(LONG_OPERATIONS // library.functions[name].cost["total"], LONG_BYTES // result_bytes)
    long = max(WHOLE, long // WHOLE * WHOLE)
    return {
        "bound": least(bound, 1000, repetitions),
        "batch": time_batch(library, name, STATES, repetitions),
        "long": time_batch(library, name, long, repetitions),
        "threads": time_batch(library, name, long, repetitions, threads=2),
        "batch_threads": time_batch(library, name, STATES, repetitions, threads=2),
    }


def time_batch(library: Library, name: str, states: int, repetitions: int, *, threads: int = 1) -> float:
    """The time per state of a bound call."""
    call = library.functions[name].bind(*inputs_of(library, name, states), threads=threads)
    call()
    return least(call, max(1, 4 * STATES // states), repetitions) / states


def least(call: Callable[[], object], number: int, repetitions: int) -> float:
    """The smallest time of several repetitions, in ns."""
    return 1e9 * min(repeat(call, number=number, repeat=repetitions)) / number


def print_table(robot: str, report: Json) -> None:
    """Prints nanoseconds per state and ratios."""
    table = Table(title=f"{robot}: ns a state, {report['states']} states", caption=report["machine"])
    rows = report["functions"]
    ways = {
        way: name
        for way, name in BATCH_WAYS.items()
        if any(row.get(way) is not None for row in rows.values())
    }
    for heading in ("function", *ways.values(), "ratio", "float", "2 threads over 1"):
        table.add_column(heading, justify="left" if heading == "function" else "right")
    for name, row in rows.items():
        ratios = [batch_ratio(row, "batch"), batch_ratio(row, "float")]
        table.add_row(
            name if row["batch_function"] else f"{name} (no batch function)",
            *("" if row[way] is None else f"{row[way]:.1f}" for way in ways),
            *("" if value is None else f"{value:.1f}x" for value in ratios),
            f"{row['long'] / row['threads']:.2f}",
        )
    Console(width=185).print(table)


if __name__ == "__main__":
    try:
        main()
    except ToolError as error:
        sys.exit(f"bench-batch: {error}")
