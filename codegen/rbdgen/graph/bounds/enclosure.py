"""Enclosures: the lowest and highest exact value of a quantity, and the largest rounding error of the
computed one.

The exact value is that of real arithmetic on the inputs and on the constants in double. The computed value
differs from it by at most the error. All bounds are rounded outwards, so that the rounding of the bounds
themselves does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

WIDER: Final = 1 + 2.0**-48
"""The factor by which bounds of errors grow, more than the roundings of one of their formulas."""


class Enclosure(NamedTuple):
    """Bounds of several quantities, as arrays of one shape. Infinite numbers say that there is no bound."""

    low: Array
    high: Array
    error: Array

    @property
    def largest(self) -> Array:
        """The largest magnitude of the exact value."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def smallest(self) -> Array:
        """The smallest magnitude of the exact value."""
        return np.maximum(np.maximum(self.low, -self.high), 0.0)

    def taken(self, rows: Array) -> Enclosure:
        """The enclosures of these quantities."""
        return Enclosure(self.low[rows], self.high[rows], self.error[rows])


@dataclass(frozen=True)
class Precision:
    """The number type in which a function computes."""

    real: type[np.floating[Any]]
    angles: float
    """The largest angle of which sines and cosines are computed."""
    tangents: float
    """The largest angle of which tangents are computed."""
    fused: bool = False
    """Whether the compiler may fuse products and sums. A fused sum has one rounding fewer, so that its bound
    stays true; elementary functions get twice their error.
    """

    @property
    def unit(self) -> float:
        """The largest relative error of a rounding."""
        return float(np.finfo(self.real).eps) / 2

    @property
    def largest(self) -> float:
        return float(np.finfo(self.real).max)

    @property
    def smallest(self) -> float:
        """The largest error of a rounding that underflows, also where subnormal numbers become 0."""
        return float(np.finfo(self.real).smallest_normal)

    @property
    def elementary(self) -> float:
        """The largest error of an elementary function, relative to the largest number in its interval."""
        return (8 if self.fused else 4) * self.unit


def precision(real: str, *, fused: bool = False) -> Precision:
    """The precision of "float" or "double"."""
    return (
        Precision(np.float32, 1e4, 1e4, fused) if real == "float" else Precision(np.float64, 1e5, 1e5, fused)
    )


def outward(low: Array, high: Array) -> tuple[Array, Array]:
    """An interval whose ends were rounded to nearest, with ends that are certain."""
    return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)


def rounded(low: Array, high: Array, error: Array, to: Precision, share: float = 1.0) -> Enclosure:
    """The enclosure of a result that is computed with one rounding to this precision; `error` is the error
    that the arguments cause. `share` is the error of the operation in units of that of a rounding.
    """
    most = np.maximum(np.abs(low), np.abs(high))
    return Enclosure(low, high, (error + share * to.unit * (most + error) + to.smallest) * WIDER)


def cleaned(found: Enclosure, to: Precision) -> Enclosure:
    """The enclosure with infinite bounds where arithmetic on bounds has no value or the result overflows."""
    low = np.where(np.isnan(found.low), -np.inf, found.low)
    high = np.where(np.isnan(found.high), np.inf, found.high)
    reach = np.maximum(np.abs(low), np.abs(high)) + found.error
    return Enclosure(low, high, np.where(reach <= to.largest, found.error, np.inf))
