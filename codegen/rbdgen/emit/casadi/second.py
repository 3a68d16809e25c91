"""Which second derivatives of a function may be other than 0, found out at random states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rbdgen.emit.casadi.entries import Second
from rbdgen.emit.casadi.matrices import quaternions_of
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import BAR, DOT, SizedSignature

Array = npt.NDArray[Any]

STATES = 3


def second_derivatives(
    hvp: Callable[[Mapping[str, Array]], Mapping[str, Array]], signature: SizedSignature, manifold: Manifold
) -> Second:
    """Those that are not 0 at all of some random states, where none of the others is 0 but by chance.

    `hvp`: evaluates the function of this signature, arrays (..., *shape) by name to arrays (..., size).
    """
    rates = [x for x in signature.inputs if x.name.endswith(DOT)]
    others = [x for x in signature.inputs if x not in rates]
    inputs = manifold.random_inputs(others, np.random.default_rng(0), (STATES, 1))
    directions = np.eye(sum(x.size for x in rates))
    ends = np.cumsum([x.size for x in rates])
    for x, own in zip(rates, np.split(directions, ends[:-1], axis=1), strict=True):
        inputs[x.name] = own.reshape(-1, *x.shape)
    found = hvp(inputs)
    pattern: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for output in signature.outputs:
        own_name = output.name.removesuffix(BAR + DOT)
        reached = (found[output.name] != 0).any(axis=0)  # (directions, size)
        for x, rows in zip(rates, np.split(reached, ends[:-1]), strict=True):
            columns, elements = np.nonzero(rows)
            pairs = set(zip(elements.tolist(), columns.tolist(), strict=True))
            if own_name == x.name.removesuffix(DOT) == _q(signature):
                pairs |= _lengths(manifold)
            pattern[own_name, x.name.removesuffix(DOT)] = sorted(pairs)
    return pattern


def _q(signature: SizedSignature) -> str:
    """The name of the configuration."""
    return next((x.name for x in signature.inputs if x.kind == "configuration"), "")


def _lengths(manifold: Manifold) -> set[tuple[int, int]]:
    """What changes along a quaternion's length."""
    return {(at + i, at + k) for at in quaternions_of(manifold) for i in range(4) for k in range(4)}
