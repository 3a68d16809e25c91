"""The results as a page: Table I of the paper with all contestants, and what finite differences lose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.bench import Json
from examples.derivatives.measured import ROWS

PAPER: Final = {
    "KUKA LWR": {
        "rnea": 1.20,
        "rnea_derivatives": 3.34,
        "rnea_differences": 21.26,
        "aba": 1.78,
        "aba_derivatives": 5.78,
        "aba_differences": 22.67,
        "minv": 1.82,
        "minv_cholesky": 1.88,
    },
    "HyQ": {
        "rnea": 2.14,
        "rnea_derivatives": 7.01,
        "rnea_differences": 88.52,
        "aba": 4.28,
        "aba_derivatives": 14.24,
        "aba_differences": 94.23,
        "minv": 4.86,
        "minv_cholesky": 5.82,
    },
    "Atlas": {
        "rnea": 5.51,
        "rnea_derivatives": 16.72,
        "rnea_differences": 452.46,
        "aba": 9.81,
        "aba_derivatives": 45.20,
        "aba_differences": 470.14,
        "minv": 12.70,
        "minv_cholesky": 28.29,
    },
}
"""Table I of the paper, in us, by robot and function."""

CONTESTANTS: Final = ("rbdgen", "Pinocchio", "CppADCodeGen", "CasADi")

ABOUT: Final = Path(__file__).with_name("about.txt")
"""The text above the tables, with the name of the processor in braces."""


def page(results: Json) -> str:
    """The page of results, in Markdown."""
    robots = results["robots"]
    about = ABOUT.read_text(encoding="utf-8")
    parts = [about.format(machine=robots[0]["machine"]).rstrip()]
    for robot in robots:
        parts += ["", *table(robot)]
    parts += ["", *behind(robots), "", "![Fig. 2: times](times.svg)", "", *precision(results["precision"])]
    return "\n".join([*parts, "", "![Fig. 3: errors](precision.svg)"]) + "\n"


def table(robot: Json) -> list[str]:
    """Table I for one robot."""
    place = robot["instead_of"]
    named = robot["robot"] if place.lower() == robot["robot"] else f"{robot['robot']} in place of {place}"
    lines = [
        f"## {named}, {robot['dof']} degrees of freedom",
        "",
        f"| us | {' | '.join(CONTESTANTS)} | paper, {place} |",
        f"|---|{'---|' * (len(CONTESTANTS) + 1)}",
    ]
    for name, label in ROWS.items():
        times = robot["functions"][name]
        cells = [f"{times[who]['ns'] / 1000:.2f}" if who in times else "" for who in CONTESTANTS]
        paper = PAPER.get(place, {}).get(name)
        lines.append(f"| {label} | {' | '.join(cells)} | {'' if paper is None else f'{paper:.2f}'} |")
    return lines


def behind(robots: Sequence[Json]) -> list[str]:
    """Where another contestant is faster than rbdgen."""
    lines = []
    for robot in robots:
        for name, label in ROWS.items():
            times = robot["functions"][name]
            who = min(times, key=lambda who: times[who]["ns"])
            if who != "rbdgen":
                ratio = times["rbdgen"]["ns"] / times[who]["ns"]
                lines.append(f"- {label} of {robot['robot']}: {who} takes 1/{ratio:.2f} of rbdgen's time")
    if not lines:
        return ["rbdgen is the fastest in every row."]
    return ["rbdgen is the fastest in every row but these:", "", *lines]


def precision(found: Json) -> list[str]:
    """What finite differences lose."""
    lines = [
        "## Precision",
        "",
        f"The derivatives by v are zero at rest without gravity, here for a state of {found['robot']}:",
        "",
        "| entries that are not exactly zero | analytical | finite differences | the largest |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {label} by v, of {row['entries']} | {row['analytical']} | {row['differences']} "
        f"| {row['largest']:.0e} |"
        for label, row in found["zeros"].items()
    ]
    best = ", and ".join(
        f"{row['forward']:.0e} by forward and {row['central']:.0e} by central differences of {label}"
        for label, row in found["best"].items()
    )
    return [
        *lines,
        "",
        f"The smallest relative error over all steps, at a random state, is {best}.",
    ]
