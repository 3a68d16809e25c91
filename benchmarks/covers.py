"""Measures the excess of the capsules of real robots, and counts their pairs, for docs/covers.md.

python -m benchmarks.covers                          the robots of `ROBOTS`
python -m benchmarks.covers --source NAME FILE ...   these files, from the project NAME
python -m benchmarks.covers --capsules 1,2,6         for other numbers of capsules; saves nothing

It prints the table, and replaces the rows of the robots in results/covers.json.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import distribution
from pathlib import Path
from statistics import median
from typing import Final

from rbdgen.description.capsules import Distances
from rbdgen.description.shapes.covers.swept import millimetres
from rbdgen.errors import RbdgenError
from rbdgen.pipeline.robot import load_robot

FOLDER = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))
)

RESULTS: Final = Path(__file__).parent / "results" / "covers.json"

COUNTS: Final = (1, 3)
"""The largest numbers of capsules for each mesh."""

ROBOTS = (
    "a1_description/urdf/a1.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "go2_description/urdf/go2.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "panda_description/urdf/panda.urdf",
    "panda_description/urdf/panda_collision.urdf",
    "solo_description/robots/solo12.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "tiago_description/robots/tiago_no_hand.urdf",
    "ur_description/urdf/ur10_robot.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "z1_description/urdf/z1.urdf",
)
"""URDFs of example-robot-data."""


def row(path: Path, counts: Sequence[int]) -> list[str]:
    """The cells of a robot: excesses for every number of capsules for each mesh, and pairs for the first."""
    cells: list[str] = []
    for count in counts:
        ignored = "all" if path.suffix == ".xml" else ""
        cover, rule = {"mesh": f"capsules:{count}"}, "all" if cells else "auto"
        try:
            robot = load_robot(path, cover=cover, ignore=ignored, pairs=rule)
        except RbdgenError as error:
            return [str(error).removeprefix(f"{path}: ").replace("|", "/"), *[""] * (2 + 2 * len(counts))]
        found = robot.description.distances
        cells = cells or [str(len(excesses(found))), *pairs(found)]
        listed = excesses(found)
        told = "unknown" if not listed else f"{millimetres(median(listed)):g} / {millimetres(max(listed)):g}"
        cells += [str(len(found.capsules)), told]
    return cells


def excesses(found: Distances) -> list[float]:
    """The largest excess of every link, in m."""
    links: dict[str, float] = {}
    for capsule in found.capsules:
        links[capsule.link] = max(links.get(capsule.link, 0.0), capsule.excess or 0.0)
    return list(links.values())


def pairs(found: Distances) -> list[str]:
    """The number of pairs that are kept, and the numbers of those that are left out, by reason."""
    reasons = Counter(reason.partition(":")[0] for _, _, reason in found.left_out)
    out = (reasons[name] for name in ("neighbours", "always in contact", "proved apart"))
    return [str(len(found.pairs)), ", ".join(map(str, out))]


def lines(rows: Mapping[str, Sequence[str]], counts: Sequence[int] = COUNTS) -> Iterator[str]:
    """The lines of a Markdown table, with the rows of robots by name."""
    names = [f"{name}, K = {count}" for count in counts for name in ("capsules", "mm")]
    heads = ["robot", "links", "pairs", "neighbours, in contact, proved apart", *names]
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for name, cells in rows.items():
        yield f"| {' | '.join([name, *cells])} |".replace("|  |", "| |").replace("|  |", "| |")


def saved() -> dict[str, list[str]]:
    """The rows in the file of results."""
    found: dict[str, list[str]] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--source", help="the project that files come from, for their names in the table")
    default = ",".join(map(str, COUNTS))
    parser.add_argument("--capsules", default=default, help=f"capsules for each mesh (default {default})")
    given = parser.parse_args()
    counts = tuple(int(x) for x in given.capsules.split(","))
    if given.files:
        named = {f"{given.source}, {path.name}" if given.source else path.name: path for path in given.files}
    else:
        named = {name: FOLDER / name for name in ROBOTS if (FOLDER / name).exists()}
    rows = {name: row(path, counts) for name, path in named.items()}
    print("\n".join(lines(rows, counts)))
    if counts == COUNTS:
        RESULTS.write_text(json.dumps(saved() | rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
