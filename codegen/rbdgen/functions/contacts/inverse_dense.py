"""Inverse dynamics in contacts in numbers, from M, h, J and drift as Pinocchio or other functions have them.

Over any leading axes; least squares by Moore and Penrose's inverse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rbdgen.functions.contacts.arguments import LAMBDA
from rbdgen.functions.contacts.pinocchio import Contacts
from rbdgen.functions.function import Call, symmetric
from rbdgen.sweeps.sweep import BASE


class Equations(NamedTuple):
    """At a state: M (nv, nv), h (nv), J (nc, nv) and dJ/dt v (nc)."""

    M: Any
    h: Any
    J: Any
    drift: Any


Solve = Callable[[Equations, Mapping[str, Any]], Any]
"""From the equations and a function's inputs."""


def of_pinocchio(of: Solve) -> Callable[[Any, Any, Any, Mapping[str, Any]], Any]:
    """By Pinocchio, as a row of the table wants it."""

    def asked(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
        held = Contacts.at(pin, model, data, x)
        M = symmetric(pin.crba(model, data, x["q"]))
        h = pin.nonLinearEffects(model, data, x["q"], x["v"]) + x["resistance"].torque
        return of(Equations(M, h, held.J, held.drift), x)

    return asked


def of_functions(of: Solve) -> Callable[[Call, Mapping[str, Any]], Any]:
    """By other functions of the robot, as a row of the table wants it."""

    def projected(call: Call, x: Mapping[str, Any]) -> Any:
        _, drift = call("contact_motion")
        return of(Equations(call("crba"), call("nle"), call("contact_jacobian"), drift), x)

    return projected


def contact_rnea(at: Equations, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """tau and a_base."""
    a, M, J = x["a_joints"], at.M, at.J
    f = _times(M[..., BASE:], a) + at.h - _times(_transposed(J), x[LAMBDA.name])
    a_base = -np.linalg.solve(M[..., :BASE, :BASE], f[..., :BASE, None])[..., 0]
    return f[..., BASE:] + _times(M[..., BASE:, :BASE], a_base), a_base


def contact_rnea_least(at: Equations, x: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """tau, lambda and a_base."""
    a, J, root = x["a_joints"], at.J, np.sqrt(np.repeat(x["share"], 3, axis=-1))
    inverse = np.linalg.pinv(root[..., None] * J[..., :BASE])
    a_base = -_times(inverse, root * (_times(J[..., BASE:], a) + at.drift))
    f = _times(at.M, np.concatenate([a_base, a], axis=-1)) + at.h
    forces = root * _times(_transposed(inverse), f[..., :BASE])
    return f[..., BASE:] - _times(_transposed(J[..., BASE:]), forces), forces, a_base


def _times(matrix: Any, vector: Any) -> Any:
    return (matrix @ vector[..., None])[..., 0]


def _transposed(matrix: Any) -> Any:
    return np.swapaxes(matrix, -1, -2)
