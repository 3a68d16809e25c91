"""Runs the campaigns: `make attack`, or `make attack ATTACK="--only robots --seed 7 --size 500"`."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from campaigns.page import Row, coverage, kinds_of, write_page
from campaigns.tally import Tally, total

FOLDER = Path(__file__).parent

SIZE = 100
"""The number of cases of a campaign that has no `SIZE` of its own."""


def campaigns() -> Mapping[str, ModuleType]:
    """The modules of this folder that are campaigns, by name: those with `KINDS` and `run`."""
    names = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
    modules = {name: importlib.import_module(f"campaigns.{name}") for name in names}
    return {name: x for name, x in modules.items() if hasattr(x, "KINDS") and hasattr(x, "run")}


def run_campaign(name: str, module: ModuleType, seed: int, size: int | None) -> Row:
    size = getattr(module, "SIZE", SIZE) if size is None else size
    start = time.perf_counter()
    tally = Tally.of(module.run(seed, size))
    covered = coverage(module, tally.covered)
    return Row(name, len(kinds_of(module)), seed, size, tally, time.perf_counter() - start, covered)


def main(arguments: Sequence[str] | None = None) -> int:
    found = campaigns()
    parser = argparse.ArgumentParser(prog="make attack", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the same seed tries the same cases")
    parser.add_argument(
        "--size", type=int, help="the number of cases of each campaign; by default each has its own"
    )
    parser.add_argument("--only", nargs="+", choices=tuple(found), help="run only these campaigns")
    parser.add_argument("--case", type=int, help="run one case of one campaign, with the number in a note")
    parser.add_argument("--write", action="store_true", help="write the counts to campaigns/README.md")
    given = parser.parse_args(arguments)
    chosen = {name: module for name, module in found.items() if given.only is None or name in given.only}
    if given.case is not None:
        single = [module for module in chosen.values() if hasattr(module, "run_case")]
        if len(single) != 1 or given.write:
            parser.error("--case K is one case of one campaign: name it with --only, leave --write out")
        return report(single[0].run_case(given.seed, given.case))
    rows = []
    for name, module in chosen.items():
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows.append(run_campaign(name, module, given.seed, given.size))
        print(rows[-1].in_words, flush=True)
    if given.write:
        write_page(FOLDER, rows, found)
    return report(total(row.tally for row in rows))


def report(tally: Tally) -> int:
    """Prints the counts and the notes of failures, and returns the exit status."""
    print(f"tried {tally.tried}, wrong {tally.wrong}, crashed {tally.crashed}")
    print(*tally.notes, sep="\n")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
