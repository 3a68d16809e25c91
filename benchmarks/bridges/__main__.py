"""`python -m benchmarks.bridges` (or `make bench-bridges`) prints the tables of all frameworks that are
installed.

Each framework has a module in this folder that measures times, case by case; results are also written to
results/bridges_<framework>.json. All calls of a case are measured in turns in one run, and the smallest time
of many repetitions is reported.
"""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.batch import RESULTS
from benchmarks.bench import processor
from benchmarks.bridges.turns import Times

FRAMEWORKS: Final = ("casadi", "jax", "torch")


def main() -> None:
    """Measures the frameworks named on the command line, by default all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("frameworks", nargs="*", help=f"by default: {', '.join(FRAMEWORKS)}")
    parser.add_argument("--repetitions", type=int, default=15, help="the shortest time counts")
    given = parser.parse_args()
    for name in given.frameworks or FRAMEWORKS:
        if name not in FRAMEWORKS:
            parser.error(f"unknown framework: {name}; choose from {', '.join(FRAMEWORKS)}")
        try:
            module = import_module(f"benchmarks.bridges.of_{name}")
        except ImportError as error:
            print(f"{name}: not measured ({error})")
            continue
        cases: dict[str, Times] = {}
        for case, times in module.cases(given.repetitions):
            Console(width=110).print(table_of(f"{case} in {name}", times))
            cases[case] = times
        report = {"machine": processor(), "cases": cases}
        (RESULTS / f"bridges_{name}.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def table_of(title: str, times: Times) -> Table:
    """A table with one row per implementation and one column per measured quantity."""
    table = Table("", title=title, caption=processor())
    for column in next(iter(times.values())):
        table.add_column(column, justify="right")
    for who, row in times.items():
        table.add_row(who, *(f"{time:.4g}" for time in row.values()))
    return table


if __name__ == "__main__":
    main()
