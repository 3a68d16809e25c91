"""A row of the table of robots, with the largest error of every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

STATES = 3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """A row: `errors` has the largest relative error of each column.

    `remark` says why there are no errors, or which features were left out.
    """

    robot: str
    joints: str
    errors: Mapping[str, float] = field(default_factory=dict)
    remark: str = ""

    def cells(self, columns: Sequence[str]) -> list[str]:
        found = [f"{self.errors[name]:.0e}" if name in self.errors else "" for name in columns]
        return [self.robot, self.joints, *found, self.remark]


def distance(ours: Array, theirs: Array) -> float:
    """The largest difference, relative to the largest entry of the state's result, or to 1e-3 if larger."""
    axes = tuple(range(1, theirs.ndim))
    scale = np.maximum(np.abs(theirs).max(axis=axes), 1e-3)
    return float((np.abs(ours - theirs).max(axis=axes) / scale).max())


def table(title: str, columns: Sequence[str], rows: Sequence[Row]) -> str:
    """A Markdown table under a heading."""
    head = ["robot", "joints", *columns, "remark"]
    lines = [head, ["---"] * len(head), *(row.cells(columns) for row in rows)]
    return "\n".join([f"## {title}", "", *(f"| {' | '.join(cells)} |" for cells in lines), ""])
