"""The arrays of the loops of the solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rbdgen.functions.friction.sole import NUMBERS, Arm, Compliance, Corner
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar

STRIPS, DRIVE, GRIP, STEPS, SMOOTHING = "strips", "drive", "grip", "steps", "smoothing"
"""The names of the arrays that describe a problem: G, g, the coefficients of friction, r and 4 sigma."""

ARMS, BIASES, COMPLIANCES, RESPONSES = "arms", "biases", "compliances", "responses"
"""The names of the arrays that describe the corners of soles: P, b, R, and what `Response` has."""

BOUNDS: Final = "bounds"
"""The name of the array of the laws of joints with limits or dry friction."""

IMPULSES: Final = "impulses"

CORNERS: Final = "corners"
"""The name of the array of the impulses of all corners."""

DAMPING: Final = "damping"

SOLVED: Final = "solved"
"""The name of the array of the impulses that were found."""

RESIDUAL: Final = "residual"

RATES: Final = "rates"
"""The name of the array of the velocity of a sole whose corners take turns."""

_NEXT: Final = "_next"


@dataclass(frozen=True)
class Newest:
    """The names of the arrays that hold the newest impulses. Steps do not write to arrays that they read, so
    each is one of two.
    """

    rows: str = IMPULSES
    corners: str = CORNERS

    @property
    def after_sweep(self) -> Newest:
        """The arrays to which a sweep over the corners of soles writes."""
        return replace(self, corners=_other(self.corners))

    @property
    def after_step(self) -> Newest:
        """The arrays to which a Newton step of all contacts writes."""
        return Newest(_other(self.rows), _other(self.corners))


def _other(name: str) -> str:
    return name.removesuffix(_NEXT) if name.endswith(_NEXT) else name + _NEXT


def matrix(values: Sequence[Scalar], width: int) -> Rows:
    """The rows of a matrix."""
    return [list(values[k : k + width]) for k in range(0, len(values), width)]


def arms_in(values: Sequence[Scalar]) -> list[Arm]:
    """P of each corner in the array `ARMS`."""
    return [Arm.of(part) for part in matrix(values, NUMBERS)]


def corners_in(arrays: Mapping[str, Sequence[Scalar]]) -> list[Corner]:
    """The corners in the arrays that describe them."""
    soft = (Compliance(*pair) for pair in matrix(arrays[COMPLIANCES], len(Compliance._fields)))
    return [Corner(*all_of_it) for all_of_it in zip(arms_in(arrays[ARMS]), arrays[BIASES], soft, strict=True)]
