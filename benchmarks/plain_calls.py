"""Plain calls beside calls with `out=`: what it costs that results come in memory of rbdgen's.

`python -m benchmarks.plain_calls` (or `make bench-plain`) prints a table a robot. All of a row is measured in
turns in one run, after one call: the least of many repetitions counts. "fresh" are plain calls without memory
that earlier results gave back (`limit_memory(0)`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

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
CALLS: Final = 4096
"""States, in so many calls of a repetition as that takes; at least one."""


def main() -> None:
    """Measures the robots named, by default an arm and a humanoid."""
    print_tables(__doc__, ROBOTS, measured)


def measured(contest: Contest, repetitions: int) -> Table:
    """Microseconds a call, by function and states."""
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


def times(library: Library, name: str, states: int, repetitions: int) -> list[float]:
    """Nanoseconds of a call with `out=`, of a plain call, of one without memory given back."""
    call, limit = library.functions[name], MEMORY.limit
    arrays = inputs_of(library, name, states)
    out = call.bind(*arrays).out  # begins with a cache line, as results do
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
