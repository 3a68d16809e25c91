"""A smooth minimum of the distances of each group:

    s = m - log(sum exp(-b (d_k - m))) / b,   m = min d_k

It is at most the minimum, and at least the minimum minus log(K) / b for K pairs. Its gradient is the sum of
the gradients of the distances with the weights exp(-b (d_k - m)) / sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce as folded
from typing import NamedTuple

from rbdgen.functions.distances.gradient import rates_of, weighted
from rbdgen.functions.distances.nearest import nearest
from rbdgen.functions.distances.placed import Placed
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.scalar import (
    Scalar,
    add,
    dot,
    exp,
    log,
    minimum,
    mul,
    neg,
    reciprocal,
    sub,
    total,
)
from rbdgen.sweeps.inputs import State


class Soft(NamedTuple):
    """The smooth minimum of some distances."""

    value: Scalar
    weights: list[Scalar]
    """The derivatives by the distances."""


def soft(distances: Sequence[Scalar], sharpness: float) -> Soft:
    """The smooth minimum of these distances, which are at least one."""
    if len(distances) == 1:
        return Soft(distances[0], [1])
    least = folded(minimum, distances)
    parts = [exp(mul(-sharpness, sub(d, least))) for d in distances]
    whole = total(parts)
    share = reciprocal(whole)
    value = add(least, neg(mul(1 / sharpness, log(whole))))
    return Soft(value, [mul(part, share) for part in parts])


def softmin(robot: Model | ReducedModel, x: State) -> list[list[Scalar]]:
    """The smooth minimum of each group (ngroups,) in m."""
    placed = Placed.at(robot, x)
    return [[one.value for one in _groups(placed, [met.at.distance for met in nearest(placed)])]]


def softmin_rates(robot: Model | ReducedModel, x: State) -> list[list[Scalar]]:
    """The rates of the smooth minima (ngroups,) in m/s at the rates q_dot of x.arrays."""
    placed = Placed.at(robot, x)
    found = list(nearest(placed))
    rates = rates_of(placed, found)
    groups = placed.model.distances.groups
    softs = _groups(placed, [met.at.distance for met in found])
    return [[dot(one.weights, [rates[k] for k in own]) for one, (_, own) in zip(softs, groups, strict=True)]]


def softmin_gradient(robot: Model | ReducedModel, x: State) -> list[list[Scalar]]:
    """The gradient of each smooth minimum (ngroups, nv), row-major, over all degrees of freedom."""
    placed = Placed.at(robot, x)
    found = list(nearest(placed))
    softs = _groups(placed, [met.at.distance for met in found])
    result: list[Scalar] = []
    for one, (_, own) in zip(softs, placed.model.distances.groups, strict=True):
        result += weighted(placed, [found[k] for k in own], one.weights)
    return [result]


def _groups(placed: Placed, distances: Sequence[Scalar]) -> list[Soft]:
    own = placed.model.distances
    return [soft([distances[k] for k in numbers], own.softmin) for _, numbers in own.groups]
