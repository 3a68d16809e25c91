"""Operation counts of functions, read from the tables that tests pin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

PINNED: Final = Path(__file__).resolve().parents[1] / "tests" / "golden" / "chosen_counts"

_ROBOTS: Final = {
    "arm7": "7-dof arm",
    "contact_step": "quadruped on four points",
    "contact_step_soles": "humanoid on two soles",
    "contacts_arm": "7-dof arm with a contact",
    "contacts_forward": "quadruped on four points",
    "contacts_inverse": "quadruped on four points",
    "double_pendulum": "double pendulum",
    "free_base_quadruped12": "18-dof quadruped",
    "humanoid30": "36-dof humanoid",
    "momentum_arm7": "7-dof arm",
    "momentum_quadruped12": "18-dof quadruped",
    "planar3r": "planar arm, 3 dof",
    "puma560": "Puma 560",
    "quadruped12": "18-dof quadruped",
    "second_derivatives_arm7": "7-dof arm",
    "second_derivatives_puma560": "Puma 560",
    "with_feet": "18-dof quadruped, four frames",
    "with_tool": "7-dof arm, one frame",
    "world_aligned_quadruped12": "18-dof quadruped",
}
"""The robot of each table. Tables that name a robot in every line have its name there."""

_LINE: Final = re.compile(r"^(?:(\w+):? )?(\w+): (\w[\w-]*) \(([^)]*)\): (\d+)(?: = (.*))?$")

_PART: Final = re.compile(r"(\d+) (\w+)")

_KINDS: Final = ("mul", "add", "div", "sqrt", "trig")


class Count(NamedTuple):
    """The operations of the chosen form of a function on one robot."""

    function: str
    robot: str
    form: str
    total: int
    kinds: tuple[str, ...]
    """Multiplications, additions, divisions, square roots, sines and cosines; empty where only the total is
    pinned.
    """


def counts(folder: Path = PINNED) -> Iterator[Count]:
    """All counts that tests pin, by table. Lines about variations, such as other solvers, are left out."""
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            found = _LINE.match(line)
            robot = found and _ROBOTS.get(found[1] or path.stem)
            if found and robot:
                numbers = {kind: number for number, kind in _PART.findall(found[6] or "")}
                kinds = tuple(numbers[kind] for kind in _KINDS) if numbers else ()
                yield Count(found[2], robot, found[3], int(found[5]), kinds)
