"""Sparse third-order tensors over the degrees of freedom; elements that are not stored are 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from rbdgen.model.model import Model
from rbdgen.spatial.scalar import Scalar, add, mul

Index: TypeAlias = tuple[int, int, int]
Tensor: TypeAlias = dict[Index, Scalar]

Exchange: TypeAlias = Callable[[int, int, int], Index]
"""Exchanges two of the three indices."""


def flat(tensor: Mapping[Index, Scalar], n: int) -> list[Scalar]:
    """All n x n x n elements, row-major."""
    every = range(n)
    return [tensor.get((i, j, k), 0) for i in every for j in every for k in every]


def folded(model: Model, tensor: Tensor) -> Tensor:
    """The tensor over the independent degrees of freedom, folded along all three indices."""
    if model.coupling.is_trivial:
        return tensor
    led = {i: (group, m) for group, members in enumerate(model.coupling.groups) for i, m in members}
    result: Tensor = {}
    for (i, j, k), value in tensor.items():
        (row, own), (first, by_first), (last, by_last) = led[i], led[j], led[k]
        place = row, first, last
        result[place] = add(result.get(place, 0), mul(own * by_first * by_last, value))
    return result


def symmetric(tensor: Tensor, exchange: Exchange) -> Tensor:
    """The tensor with equal elements at an index and its exchange.

    The two elements agree except for rounding. The element at the larger of the two indices replaces both.
    """
    result: Tensor = {}
    for index, value in tensor.items():
        other = exchange(*index)
        result[index] = result[other] = tensor.get(max(index, other), value)
    return result
