"""The enclosures of elementary functions, from their slopes and from the errors of the kernels.

docs/elementary.md has the largest errors of the kernels, which are measured. NumPy's functions, with which
the bounds are computed, err by less than `_NUMPY`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from rbdgen.graph.bounds.enclosure import Array, Enclosure, Precision, rounded

NONE: Final = (-np.inf, np.inf, np.inf)
"""The bounds of what has no bound."""

_NUMPY: Final = 2.0**-49
"""More than the largest relative error of NumPy's elementary functions, 4 ulp."""

_NEAR: Final = 1e-9
"""The distance from an extreme, in turns, at which an interval counts as containing it."""


def _around(low: Array, high: Array) -> tuple[Array, Array]:
    """An interval between values of NumPy's functions, widened by their error."""
    return low - _NUMPY * np.abs(low), high + _NUMPY * np.abs(high)


def _contains(a: Enclosure, turns: float) -> Array:
    """Whether the angles contain `turns` plus any number of whole turns."""
    first, last = a.low / (2 * math.pi) - turns - _NEAR, a.high / (2 * math.pi) - turns + _NEAR
    return np.asarray(np.ceil(first) <= last)


def _wave(function: Callable[[Array], Array], top: float, bottom: float) -> Callable[..., Enclosure]:
    """The rule of a sine or cosine, which is largest at `top` turns and least at `bottom` turns.

    Its slope is at most 1. The error of the kernels is below 2^-23 in float, and 0.8 ulp in double.
    """

    def rule(to: Precision, a: Enclosure) -> Enclosure:
        ends = function(a.low), function(a.high)
        low, high = _around(np.minimum(*ends), np.maximum(*ends))
        low = np.where(_contains(a, bottom), -1.0, np.maximum(low, -1.0))
        high = np.where(_contains(a, top), 1.0, np.minimum(high, 1.0))
        reached = a.largest + a.error <= to.angles
        low, high = np.where(np.isfinite(low), low, -1.0), np.where(np.isfinite(high), high, 1.0)
        error = np.minimum(a.error, 2.0) + to.elementary / 2
        return Enclosure(low, high, np.where(reached, error, np.inf))

    return rule


def _rising(
    function: Callable[[Array], Array],
    slope: Callable[[Array, Array], Array],
    least: float = -np.inf,
    most: float = np.inf,
) -> Callable[..., Enclosure]:
    """The rule of a function that rises between `least` and `most`. `slope` is its largest slope between two
    numbers, to which the error widens the interval.
    """

    def rule(to: Precision, a: Enclosure) -> Enclosure:
        left, right = a.low - a.error, a.high + a.error
        inside = (left >= least) & (right <= most)
        low, high = _around(function(a.low), function(a.high))
        error = np.where(a.error == 0, 0.0, a.error * slope(left, right))
        found = rounded(low, high, error, to, to.elementary / to.unit)
        return Enclosure(*(np.where(inside, x, none) for x, none in zip(found, NONE, strict=True)))

    return rule


def _acos(to: Precision, a: Enclosure) -> Enclosure:
    """acos(x) = pi/2 - asin(x), with a value of at most pi."""
    found = _asin(to, a)
    low, high = _around(np.arccos(a.high), np.arccos(a.low))
    known = np.isfinite(found.error)
    return Enclosure(
        np.where(known, low, 0.0),
        np.where(known, high, math.pi),
        found.error + math.pi * to.elementary,
    )


def _tan(to: Precision, a: Enclosure) -> Enclosure:
    """Between two poles, the tangent rises."""
    reach = a.error + _NEAR
    wide = Enclosure(a.low - reach, a.high + reach, a.error)
    near_pole = _contains(wide, 0.25) | _contains(wide, 0.75)
    found = _rising(np.tan, _slope_of_tan, -to.tangents, to.tangents)(to, a)
    return Enclosure(*(np.where(near_pole, none, x) for x, none in zip(found, NONE, strict=True)))


def _slope_of_tan(left: Array, right: Array) -> Array:
    return np.asarray(1 + np.maximum(np.tan(left) ** 2, np.tan(right) ** 2))


def _slope_of_asin(left: Array, right: Array) -> Array:
    m = np.maximum(np.abs(left), np.abs(right))
    return np.asarray((1 + _NUMPY) / np.sqrt((1 - m) * (1 + m)))


_asin = _rising(np.arcsin, _slope_of_asin, -1.0, 1.0)


def _hypot(to: Precision, a: Enclosure, b: Enclosure) -> Enclosure:
    low, high = _around(np.hypot(a.smallest, b.smallest), np.hypot(a.largest, b.largest))
    return rounded(low, high, a.error + b.error, to, to.elementary / to.unit)


def _atan2(to: Precision, y: Enclosure, x: Enclosure) -> Enclosure:
    """The angle of points in a rectangle; its slope is at most 1 over the distance from the origin.

    A rectangle that touches the negative x axis has all angles, and an error of a whole turn.
    """
    corners = [np.arctan2(v, u) for v in (y.low, y.high) for u in (x.low, x.high)]
    low, high = _around(np.minimum.reduce(corners), np.maximum.reduce(corners))
    error = y.error + x.error
    distance = (np.hypot(y.smallest, x.smallest) - error) * (1 - _NUMPY)
    cut = (y.smallest <= y.error) & (x.low <= x.error)
    found = rounded(low, high, np.where(distance > 0, error / distance, np.inf), to, to.elementary / to.unit)
    whole = (-math.pi * (1 + _NUMPY), math.pi * (1 + _NUMPY), 2 * math.pi * (1 + to.elementary))
    return Enclosure(*(np.where(cut, all_of, own) for all_of, own in zip(whole, found, strict=True)))


ELEMENTARY: Final[Mapping[str, Callable[..., Enclosure]]] = MappingProxyType(
    {
        "sin": _wave(np.sin, 0.25, 0.75),
        "cos": _wave(np.cos, 0.0, 0.5),
        "exp": _rising(np.exp, lambda _, right: np.exp(right) * (1 + _NUMPY), most=709.0),
        "log": _rising(np.log, lambda left, _: 1 / left, least=np.finfo(float).tiny),
        "tanh": _rising(np.tanh, lambda *_: np.array(1.0)),
        "tan": _tan,
        "asin": _asin,
        "acos": _acos,
        "atan2": _atan2,
        "hypot": _hypot,
    }
)
"""The rules of the elementary functions, by operation."""
