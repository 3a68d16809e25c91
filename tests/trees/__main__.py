"""Compares random trees of joints of all types with Pinocchio, by ranges of seeds: `make trees`.

make trees                                          # the first ten thousand, an hour and a half on one core
make trees TREES="--from 10000 --count 10000"       # the next ones
make trees TREES="--from 4711 --count 1"            # one tree again
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Sequence

from rich.progress import track

from rbdgen.machine import available_cores
from trees.check import failure_of


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make trees", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--from", type=int, default=0, dest="first", metavar="SEED", help="the seed of the first tree"
    )
    parser.add_argument("--count", type=int, default=10_000, help="the number of trees")
    asked = parser.parse_args(arguments)
    if asked.first < 0 or asked.count < 1:
        parser.error("--from is a number from 0 on, --count one from 1 on")
    seeds = range(asked.first, asked.first + asked.count)
    wrong = 0
    with multiprocessing.get_context("spawn").Pool(min(available_cores(), asked.count)) as pool:
        for found in track(pool.imap(failure_of, seeds), total=asked.count, description="trees"):
            if found is not None:
                wrong += 1
                print(found, flush=True)
    print(f"{asked.count} trees from {asked.first} on: {wrong or 'none'} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
