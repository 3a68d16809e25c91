"""`python -m benchmarks.bridges` (or `make bench-bridges`) prints the tables of all frameworks installed.

A framework is a module beside this one that gives tables. All of a table is measured in turns in one run, and
the least of many repetitions counts.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Final

from rich.console import Console

FRAMEWORKS: Final = ("casadi", "jax", "torch")


def main() -> None:
    """Measures the frameworks named, by default all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("frameworks", nargs="*", help=f"by default: {', '.join(FRAMEWORKS)}")
    parser.add_argument("--repetitions", type=int, default=15, help="of which the least counts")
    given = parser.parse_args()
    for name in given.frameworks or FRAMEWORKS:
        if name not in FRAMEWORKS:
            parser.error(f"unknown framework: {name}; choose from {', '.join(FRAMEWORKS)}")
        try:
            module = import_module(f"benchmarks.bridges.of_{name}")
        except ImportError as error:
            print(f"{name}: not measured ({error})")
            continue
        for table in module.tables(given.repetitions):
            Console(width=110).print(table)


if __name__ == "__main__":
    main()
