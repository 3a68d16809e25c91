"""Many states: a bound call each, one batch, a batch on two threads, and Pinocchio's C++ in a loop.

`python -m benchmarks.batch` (or `make bench-batch`) prints a table a robot, writes results/batch.json and
draws results/batch.svg. Times are of a state; a ratio is Pinocchio's time in double over it. Batches are
bound calls; threads are held against one thread on a batch so long that waking them counts little.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from timeit import repeat
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.bench import Effort, attempt, peer_pinocchio, processor
from benchmarks.contestants import CONTESTS, Contest, present
from benchmarks.peers import pinocchio_cpp
from benchmarks.presentation import LABELS
from benchmarks.states import random_states
from rbdgen import pipeline
from rbdgen.load import Library
from rbdgen.options import Options, Real

RESULTS: Final = Path(__file__).parent / "results"
STATES: Final = 1024
LONG_OPERATIONS: Final = 4_000_000
"""Operations in the batches on which threads are compared."""

WAYS: Final = MappingProxyType(
    {
        "bound": "a bound call",
        "batch": "a batch",
        "float": "a batch in float",
        "long": "a long batch",
        "threads": "on 2 threads",
    }
)

_NAMES: Final = ("rnea", "aba", "minv", "rnea_derivatives", "aba_derivatives")
TARGETS: Final[Mapping[str, Mapping[str, float]]] = {
    "arm7": dict(zip(_NAMES, (35, 40, 35, 25, 15), strict=True)),
    "quadruped12": dict(zip(_NAMES, (22, 24, 18, 14, 9), strict=True)),
    "humanoid30": dict(zip(_NAMES, (22, 20, 12, 9, 6), strict=True)),
}
"""Times as fast a state as Pinocchio, in double on AVX-512; half of it on AVX2, twice it in float."""

Json = dict[str, Any]


def main() -> None:
    """Measures the robots named, by default the three that have targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", help=f"from: {', '.join(c.name for c in CONTESTS)}")
    parser.add_argument("--repetitions", type=int, default=15, help="of which the least counts")
    parser.add_argument("--relinks", type=int, default=2, help="links of Pinocchio's driver")
    arguments = parser.parse_args()
    wanted = arguments.robots or list(TARGETS)
    if unknown := set(wanted) - {contest.name for contest in present()}:
        parser.error(f"unknown robot: {', '.join(sorted(unknown))}")
    path = RESULTS / "batch.json"
    report: Json = json.loads(path.read_text()) if path.is_file() else {}
    for contest in (c for c in present() if c.name in wanted):
        report[contest.name] = measure_robot(contest, arguments.repetitions, arguments.relinks)
        print_table(contest.name, report[contest.name])
        RESULTS.mkdir(exist_ok=True)
        path.write_text(json.dumps(report, indent=1) + "\n")
    draw(report, RESULTS / "batch.svg")


def measure_robot(contest: Contest, repetitions: int, relinks: int) -> Json:
    """Nanoseconds a state, by function and way."""
    robot = pipeline.load_robot(contest.urdf, contest.base)
    states = random_states(robot.model.nv, floating=contest.floating)
    model = attempt("Pinocchio", lambda: pinocchio_cpp.load_model(contest.urdf, floating=contest.floating))
    peer = peer_pinocchio(model, states, Effort(relinks, 0.2, slow=False))
    rows: Json = {}
    reals: tuple[Real, ...] = ("double", "float")
    libraries = {real: pipeline.build_library(robot, Options(real=real)) for real in reals}
    for name, function in libraries["double"].functions.items():
        rows[name] = {
            "operations": function.cost["total"],
            "twin": bool(libraries["double"].manifest["functions"][name]["batch"]),
            "target": TARGETS.get(contest.name, {}).get(name),
            "pinocchio": peer[name].ns if name in peer else None,
            **time_double(libraries["double"], name, repetitions),
            "float": time_batch(libraries["float"], name, STATES, repetitions),
        }
    return {"machine": processor(), "states": STATES, "functions": rows}


def inputs_of(library: Library, name: str, states: int) -> list[np.ndarray[Any, Any]]:
    """Random states, a row each."""
    function = library.functions[name]
    random = np.random.default_rng(0)
    arrays = []
    for argument in function.signature.inputs:
        array = random.uniform(-3, 3, (states, *argument.shape))
        arrays.append((library.normalize(array) if argument.name == "q" else array).astype(function.dtype))
    return arrays


def time_double(library: Library, name: str, repetitions: int) -> dict[str, float]:
    """The ways of a library in double."""
    bound = library.functions[name].bind(*(array[0] for array in inputs_of(library, name, 1)))
    long = max(256, LONG_OPERATIONS // library.functions[name].cost["total"])
    return {
        "bound": least(bound, 1000, repetitions),
        "batch": time_batch(library, name, STATES, repetitions),
        "long": time_batch(library, name, long, repetitions),
        "threads": time_batch(library, name, long, repetitions, threads=2),
    }


def time_batch(library: Library, name: str, states: int, repetitions: int, *, threads: int = 1) -> float:
    """Of a state, by a bound call."""
    call = library.functions[name].bind(*inputs_of(library, name, states), threads=threads)
    call()
    return least(call, max(1, 4 * STATES // states), repetitions) / states


def least(call: Callable[[], object], number: int, repetitions: int) -> float:
    """Nanoseconds, the least of several repetitions."""
    return 1e9 * min(repeat(call, number=number, repeat=repetitions)) / number


def ratio(row: Json, way: str) -> float | None:
    """How many times as fast as Pinocchio's C++."""
    return None if row["pinocchio"] is None else row["pinocchio"] / row[way]


def print_table(robot: str, report: Json) -> None:
    """Nanoseconds a state and ratios."""
    table = Table(title=f"{robot}: ns a state, {report['states']} states", caption=report["machine"])
    for heading in (
        "function",
        "Pinocchio C++",
        *WAYS.values(),
        "ratio",
        "target",
        "float",
        "2 threads over 1",
    ):
        table.add_column(heading, justify="left" if heading == "function" else "right")
    for name, row in report["functions"].items():
        ratios = [ratio(row, "batch"), row["target"], ratio(row, "float")]
        table.add_row(
            name if row["twin"] else f"{name} (no twin)",
            "" if row["pinocchio"] is None else f"{row['pinocchio']:.0f}",
            *(f"{row[way]:.1f}" for way in WAYS),
            *("" if value is None else f"{value:.1f}x" for value in ratios),
            f"{row['long'] / row['threads']:.2f}",
        )
    Console(width=150).print(table)


def draw(report: Json, path: Path) -> None:
    """A panel a robot: ratios of batches in double and float, the targets as marks."""
    import matplotlib as mpl  # noqa: PLC0415  (only the chart needs it)
    from matplotlib.figure import Figure  # noqa: PLC0415

    mpl.rcParams["svg.hashsalt"] = "rbdgen"
    mpl.rcParams["svg.fonttype"] = "none"
    robots = [name for name in TARGETS if name in report]
    figure = Figure(figsize=(3.6 * len(robots) + 0.6, 3.4), layout="constrained")
    for axes, robot in zip(figure.subplots(1, len(robots), squeeze=False)[0], robots, strict=True):
        rows = report[robot]["functions"]
        for place, (way, colour) in enumerate((("batch", "#1f6feb"), ("float", "#8ab4f8"))):
            heights = [ratio(row, way) or 0.0 for row in rows.values()]
            where = [k - 0.2 + 0.4 * place for k in range(len(rows))]
            bars = axes.bar(where, heights, 0.4, color=colour, label=WAYS[way])
            axes.bar_label(bars, [f"{h:.0f}" if h else "" for h in heights], fontsize=8, padding=1)
        marks = [(k - 0.2, row["target"]) for k, row in enumerate(rows.values()) if row["target"]]
        axes.scatter(*zip(*marks, strict=True), marker="_", s=120, color="black", label="target", zorder=3)
        axes.set_xticks(range(len(rows)), [LABELS[name] for name in rows], fontsize=9)
        axes.set_title(robot, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("times as fast a state as Pinocchio C++")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
