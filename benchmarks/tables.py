"""The command line of benchmarks that print a table per robot."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from rich.console import Console, RenderableType

from benchmarks.contestants import Contest, present


def print_tables(
    about: str | None,
    robots: Sequence[str],
    measured: Callable[[Contest, int], RenderableType],
    compared: Callable[[Contest, str, int], RenderableType] | None = None,
) -> None:
    """Prints the table that `measured` returns for each robot named on the command line, by default for
    `robots`.

    `measured` takes the robot and the number of repetitions. `compared` also takes a commit, which `--before`
    names.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("robots", nargs="*", help=f"by default: {', '.join(robots)}")
    parser.add_argument("--repetitions", type=int, default=15, help="the shortest time counts")
    if compared is not None:
        parser.add_argument(
            "--before", metavar="COMMIT", help="only compare with this commit; nothing is saved"
        )
    given = parser.parse_args()
    names = given.robots or list(robots)
    contests = {contest.name: contest for contest in present()}
    if unknown := set(names) - set(contests):
        parser.error(f"unknown robot: {', '.join(sorted(unknown))}")
    for name in names:
        if compared is not None and given.before:
            found = compared(contests[name], given.before, given.repetitions)
        else:
            found = measured(contests[name], given.repetitions)
        Console(width=110).print(found)
