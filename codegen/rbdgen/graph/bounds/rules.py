"""The enclosure of every operation's result, from those of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from rbdgen.graph.bounds.elementary import ELEMENTARY, NONE
from rbdgen.graph.bounds.enclosure import WIDER, Array, Enclosure, Precision, outward, rounded

Rule = Callable[..., Enclosure]
"""Maps the precision and the enclosures of the arguments to that of the result."""


def _add(to: Precision, a: Enclosure, b: Enclosure) -> Enclosure:
    return rounded(*outward(a.low + b.low, a.high + b.high), a.error + b.error, to)


def _sub(to: Precision, a: Enclosure, b: Enclosure) -> Enclosure:
    return rounded(*outward(a.low - b.high, a.high - b.low), a.error + b.error, to)


def _ends(*corners: Array) -> tuple[Array, Array]:
    """The least and the largest of the values at the corners of a box, rounded outwards."""
    return outward(np.minimum.reduce(corners), np.maximum.reduce(corners))


def _product(a: Array, b: Array) -> Array:
    """a b, and 0 where one factor is 0 and the other is infinite."""
    return np.where((a == 0) | (b == 0), 0.0, a * b)


def _mul(to: Precision, a: Enclosure, b: Enclosure) -> Enclosure:
    low, high = _ends(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
    error = _product(a.largest, b.error) + _product(b.largest, a.error) + _product(a.error, b.error)
    return rounded(low, high, error, to)


def _sq(to: Precision, a: Enclosure) -> Enclosure:
    low, high = outward(a.smallest**2, a.largest**2)
    return rounded(np.maximum(low, 0.0), high, _product(2 * a.largest + a.error, a.error), to)


def _div(to: Precision, a: Enclosure, b: Enclosure) -> Enclosure:
    least = b.smallest
    apart = least > 0
    low, high = _ends(a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high)
    low, high = np.where(apart, low, -np.inf), np.where(apart, high, np.inf)
    below = np.nextafter(least - b.error, -np.inf)
    most = np.maximum(np.abs(low), np.abs(high))
    error = np.where(below > 0, (a.error + _product(most, b.error)) / below, np.inf)
    return rounded(low, high, error, to)


def _neg(_: Precision, a: Enclosure) -> Enclosure:
    return Enclosure(-a.high, -a.low, a.error)


def _abs(_: Precision, a: Enclosure) -> Enclosure:
    return Enclosure(a.smallest, a.largest, a.error)


def _sqrt(to: Precision, a: Enclosure) -> Enclosure:
    """The computed argument must not be negative either, or the root is NaN."""
    root = np.sqrt(np.maximum(a.low, 0.0))
    low, high = outward(root, np.sqrt(np.maximum(a.high, 0.0)))
    error = np.where(a.error == 0, 0.0, a.error / np.maximum(np.nextafter(root, 0), np.sqrt(a.error)))
    return rounded(np.maximum(low, 0.0), high, np.where(a.low >= a.error, error, np.inf), to)


def _max(_: Precision, a: Enclosure, b: Enclosure) -> Enclosure:
    error = np.maximum(a.error, b.error)
    return Enclosure(np.maximum(a.low, b.low), np.maximum(a.high, b.high), error)


def _min(_: Precision, a: Enclosure, b: Enclosure) -> Enclosure:
    error = np.maximum(a.error, b.error)
    return Enclosure(np.minimum(a.low, b.low), np.minimum(a.high, b.high), error)


def _sign(_: Precision, a: Enclosure) -> Enclosure:
    """Where rounding may change the sign, the error is that of the wrong sign."""
    low, high = np.sign(a.low), np.sign(a.high)
    certain = (a.error == 0) | (a.smallest > a.error)
    return Enclosure(low, high, np.where(certain, 0.0, 2.0))


def _choice(a: Enclosure, b: Enclosure, x: Enclosure, y: Enclosure, *, equal: bool) -> Enclosure:
    """x or y. Where rounding may change the result of the comparison, the error includes their distance."""
    slack = (a.error + b.error) * WIDER
    gap, excess = outward(b.low - a.high, b.high - a.low)
    first = gap >= slack if equal else gap > slack
    second = -excess > slack if equal else -excess >= slack
    exact = (a.error == 0) & (b.error == 0)
    error = np.maximum(x.error, y.error)
    apart = np.nextafter(np.maximum(x.high, y.high) - np.minimum(x.low, y.low), np.inf)
    return Enclosure(
        np.where(first, x.low, np.where(second, y.low, np.minimum(x.low, y.low))),
        np.where(first, x.high, np.where(second, y.high, np.maximum(x.high, y.high))),
        np.where(first, x.error, np.where(second, y.error, np.where(exact, error, (apart + error) * WIDER))),
    )


def _select(_: Precision, a: Enclosure, b: Enclosure, x: Enclosure, y: Enclosure) -> Enclosure:
    return _choice(a, b, x, y, equal=False)


def _select_le(_: Precision, a: Enclosure, b: Enclosure, x: Enclosure, y: Enclosure) -> Enclosure:
    return _choice(a, b, x, y, equal=True)


def no_bound(like: Array) -> Enclosure:
    """Enclosures without bounds."""
    return Enclosure(*(np.full_like(like, bound) for bound in NONE))


RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "add": _add,
        "sub": _sub,
        "mul": _mul,
        "div": _div,
        "neg": _neg,
        "sq": _sq,
        "sqrt": _sqrt,
        "sign": _sign,
        "abs": _abs,
        "held": lambda _, a: a,
        "max": _max,
        "min": _min,
        "select": _select,
        "select_le": _select_le,
        **ELEMENTARY,
    }
)
"""The rule of every operation on numbers. Values with lanes are written out before."""
