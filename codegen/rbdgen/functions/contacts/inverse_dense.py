"""Inverse dynamics in contact, computed numerically. M, h, J and the drift come from Pinocchio or from other
functions.

All functions take arrays with any leading axes. Least squares use the Moore-Penrose inverse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rbdgen.functions.contacts.arguments import LAMBDA
from rbdgen.functions.contacts.dense import Equations, activity, forces
from rbdgen.functions.function import products
from rbdgen.sweeps.sweep import BASE


def contact_rnea(at: Equations, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """tau and a_base."""
    a, M, J = x["a_joints"], at.M, at.J
    f = products(M[..., BASE:], a) + at.h - products(_transposed(J), x[LAMBDA.name])
    a_base = -np.linalg.solve(M[..., :BASE, :BASE], f[..., :BASE, None])[..., 0]
    return f[..., BASE:] + products(M[..., BASE:, :BASE], a_base), a_base


def contact_control(at: Equations, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """tau and lambda."""
    previous = x["tau_previous"]
    base = np.zeros((*previous.shape[:-1], BASE))
    found = forces(at, {**x, "tau": np.concatenate([base, previous], axis=-1)})
    acting = activity(x) * found
    return contact_rnea(at, {**x, LAMBDA.name: acting})[0], acting


def contact_rnea_least(at: Equations, x: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """tau, lambda and a_base."""
    a, J, root = x["a_joints"], at.J, np.sqrt(np.repeat(x["share"], 3, axis=-1))
    inverse = np.linalg.pinv(root[..., None] * J[..., :BASE])
    a_base = -products(inverse, root * (products(J[..., BASE:], a) + at.drift))
    f = products(at.M, np.concatenate([a_base, a], axis=-1)) + at.h
    forces = root * products(_transposed(inverse), f[..., :BASE])
    return f[..., BASE:] - products(_transposed(J[..., BASE:]), forces), forces, a_base


def _transposed(matrix: Any) -> Any:
    return np.swapaxes(matrix, -1, -2)
