"""Compares plain calls with calls with `out=`, and with calls whose arguments must be converted.

`python -m benchmarks.plain_calls` (or `make bench-plain`) prints two tables per robot. The first shows the
cost of results in new memory; "fresh" are plain calls that do not reuse the memory of earlier results
(`limit_memory(0)`). The second shows the cost of lists, numbers, keywords and arrays of other types, for one
state. The calls of a row of the first table, and all calls of the second, are measured in turns in one run;
the smallest time of many repetitions is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from rich.console import Group
from rich.table import Table

from benchmarks.batch import inputs_of, least
from benchmarks.bench import processor
from benchmarks.contestants import Contest
from benchmarks.tables import print_tables
from rbdgen.options import Options
from rbdgen.pipeline.page import build_library
from rbdgen.pipeline.robot import load_robot
from rbdgen.runtime import Library
from rbdgen.runtime.memory import MEMORY

ROBOTS: Final = ("arm7", "humanoid30")
FUNCTIONS: Final = ("minv", "rnea_derivatives", "aba_derivatives")
STATES: Final = (1024, 16384)
ONE_STATE: Final = ("rnea", "step")
CALLS: Final = 4096
"""The number of states of one repetition, which is divided into calls."""


def main() -> None:
    """Measures the robots named on the command line, by default an arm and a humanoid."""
    print_tables(__doc__, ROBOTS, lambda *given: Group(measured(*given), converted(*given)))


def measured(contest: Contest, repetitions: int) -> Table:
    """A table of microseconds per call, by function and number of states."""
    library = build_library(
        load_robot(contest.urdf, contest.base, mimic="independent"), Options.of(functions=FUNCTIONS)
    )
    table = Table(title=f"{contest.name}: microseconds a call", caption=processor())
    for heading in ("function", "states", "out=", "plain", "ratio", "fresh", "ratio"):
        table.add_column(heading, justify="left" if heading == "function" else "right")
    for name in FUNCTIONS:
        for states in STATES:
            into, plain, fresh = (ns / 1000 for ns in times(library, name, states, repetitions))
            ratios = f"{plain / into:.2f}", f"{fresh / into:.2f}"
            row = f"{into:.1f}", f"{plain:.1f}", ratios[0], f"{fresh:.1f}", ratios[1]
            table.add_row(name, str(states), *row)
    return table


def converted(contest: Contest, repetitions: int) -> Table:
    """A table of microseconds per call for one state, by the types of arguments."""
    library = build_library(
        load_robot(contest.urdf, contest.base, mimic="independent"), Options.of(functions=ONE_STATE)
    )
    ways = ways_to_call(library)
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(repetitions):
        for name, way in ways.items():
            best[name] = min(best[name], least(way, CALLS, 1))
    table = Table(title=f"{contest.name}: microseconds a call of one state", caption=processor())
    table.add_column("given")
    table.add_column("us", justify="right")
    for name, ns in best.items():
        table.add_row(name, f"{ns / 1000:.2f}")
    return table


def ways_to_call(library: Library) -> dict[str, Callable[[], object]]:
    """Calls of `rnea` and of `step` with the same values, in the different ways in which users write them."""
    rnea, step = (library.functions[name] for name in ONE_STATE)
    q, v, a = arrays = [x[0].copy() for x in inputs_of(library, "rnea", 1)]
    out, dt = np.empty_like(a), np.array(0.01, rnea.dtype)
    lists = [x.tolist() for x in arrays]
    single, whole = q.astype(np.float32), np.ones(q.shape, int)
    return {
        "rnea, arrays": lambda: rnea(q, v, a),
        "rnea, arrays and out=": lambda: rnea(q, v, a, out=out),
        "rnea, bound": rnea.bind(q, v, a),
        "rnea, keywords": lambda: rnea(q=q, v=v, a=a),
        "rnea, one list": lambda: rnea(lists[0], v, a),
        "rnea, three lists": lambda: rnea(*lists),
        "rnea, one array of float32": lambda: rnea(single, v, a),
        "rnea, one array of integers": lambda: rnea(whole, v, a),
        "rnea, one strided array": lambda: rnea(q[::-1], v, a),
        "step, dt an array": lambda: step(q, v, a, dt),
        "step, dt a number": lambda: step(q, v, a, 0.01),
    }


def times(library: Library, name: str, states: int, repetitions: int) -> list[float]:
    """The times in ns of a call with `out=`, of a plain call, and of one that does not reuse memory."""
    call, limit = library.functions[name], MEMORY.limit
    arrays = inputs_of(library, name, states)
    out = call.bind(*arrays).out  # begins at a cache line, as results do
    ways: tuple[tuple[int, Callable[[], object]], ...] = (
        (limit, lambda: call(*arrays, out=out)),
        (limit, lambda: call(*arrays)),
        (0, lambda: call(*arrays)),
    )
    best = [float("inf")] * len(ways)
    for _ in range(repetitions):
        for k, (bytes_kept, way) in enumerate(ways):
            library.limit_memory(bytes_kept)
            way()
            best[k] = min(best[k], least(way, max(1, CALLS // states), 3))
    library.limit_memory(limit)
    return best


if __name__ == "__main__":
    main()
