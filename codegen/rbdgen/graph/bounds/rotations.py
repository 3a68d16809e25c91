"""Rotated components: x cos(angle) + y sin(angle), bounded as one quantity.

Sine and cosine of one angle are a point on the circle. If each had an interval of its own, a rotated vector
would seem to grow with every joint.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from rbdgen.graph.bounds.enclosure import Array, Enclosure, Precision, rounded
from rbdgen.graph.node import Graph

_CORNERS: Final = 2.0**-40
"""More than the relative error of what is computed from the corners of a rectangle, for angles near 0."""

_ROUNDED: Final = 2.0**-50
"""More than the relative error of the difference of an angle and a phase, which matters for large angles."""


class Rotated(NamedTuple):
    """The nodes of a rotated component, and the signs of both products."""

    cosine: int
    sine: int
    x: int
    y: int
    signs: tuple[int, int]


def rotated(graph: Graph, index: int) -> Rotated | None:
    """The parts of a sum or difference of products with the cosine and the sine of one angle; None for any
    other node.
    """
    op, args, _ = graph.nodes[index]
    if op not in ("add", "sub"):
        return None
    signs = (1, 1 if op == "add" else -1)
    for first, second in _factors(graph, args[0]):
        for third, fourth in _factors(graph, args[1]):
            (one, of), (other, like) = graph.nodes[first][:2], graph.nodes[third][:2]
            if {one, other} == {"sin", "cos"} and of == like:
                if one == "cos":
                    return Rotated(first, third, second, fourth, signs)
                return Rotated(third, first, fourth, second, signs[::-1])
    return None


def _factors(graph: Graph, index: int) -> Iterable[tuple[int, int]]:
    """The factors of a product, in both orders."""
    op, args, _ = graph.nodes[index]
    if op != "mul":
        return []
    a, b = args
    return [(a, b), (b, a)]


def rotated_sum(
    to: Precision, plain: Enclosure, angle: Enclosure, parts: tuple[Enclosure, ...], signs: Array
) -> Enclosure:
    """The enclosure of a rotated component.

    Args:
        to: the precision.
        plain: the enclosure by the rules of products and sums.
        angle: that of the angle.
        parts: those of the cosine, the sine, x and y.
        signs: the signs of both products, (2, nodes, 1).
    """
    cosine, sine, x, y = parts
    lows, highs = zip(
        *(_corner(angle, signs[0] * a, signs[1] * b) for a in (x.low, x.high) for b in (y.low, y.high)),
        strict=True,
    )
    low, high = np.minimum.reduce(lows), np.maximum.reduce(highs)
    low = np.where(np.isnan(low), plain.low, np.maximum(low, plain.low))
    high = np.where(np.isnan(high), plain.high, np.minimum(high, plain.high))
    moved = np.minimum(np.hypot(x.error, y.error), cosine.largest * x.error + sine.largest * y.error)
    error = moved + (x.largest + x.error) * cosine.error + (y.largest + y.error) * sine.error
    products = np.minimum(
        np.hypot(x.largest, y.largest), cosine.largest * x.largest + sine.largest * y.largest
    )
    error = error + to.unit * (products + error) + 2 * to.smallest
    found = rounded(low, high, error * (1 + _CORNERS), to)
    return Enclosure(low, high, np.fmin(found.error, plain.error))


def _corner(angle: Enclosure, x: Array, y: Array) -> tuple[Array, Array]:
    """The range of x cos(angle) + y sin(angle) = r cos(angle - phase) for fixed x and y, over all angles."""
    radius, phase = np.hypot(x, y), np.arctan2(y, x)
    first, last = angle.low - phase, angle.high - phase
    ends = np.cos(first), np.cos(last)
    low = np.where(_whole(first, last, 0.5), -1.0, np.minimum(*ends))
    high = np.where(_whole(first, last, 0.0), 1.0, np.maximum(*ends))
    slack = radius * (_CORNERS + _ROUNDED * angle.largest)
    return radius * low - slack, radius * high + slack


def _whole(first: Array, last: Array, turns: float) -> Array:
    """Whether the angles contain `turns` plus any number of whole turns, or nearly do."""
    near = 1e-9
    return np.asarray(np.ceil(first / (2 * math.pi) - turns - near) <= last / (2 * math.pi) - turns + near)
