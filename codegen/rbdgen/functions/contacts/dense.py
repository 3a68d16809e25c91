"""Dynamics constrained by contacts, computed numerically. M, h, J and the drift come from Pinocchio or from
other functions.

    [M   -J^T] [  a   ]   [tau - h]
    [J    mu ] [lambda] = [-drift ]

is solved as a dense system, over any leading axes. Rows of J and of the right-hand side are multiplied by
`active`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rbdgen.functions.contacts.pinocchio import Contacts
from rbdgen.functions.function import Call, symmetric


class Equations(NamedTuple):
    """The terms of the equations at a state. If v is not given, only M and J are present."""

    M: Any
    """(nv, nv)"""
    J: Any
    """(nc, nv)"""
    h: Any = None
    """(nv)"""
    velocity: Any = None
    """J v, (nc)"""
    drift: Any = None
    """dJ/dt v, (nc)"""
    pose: tuple[Any, Any] = (None, None)
    """The positions (K, 3) and the rotations (K, 3, 3) of the contacts."""


Solve = Callable[[Equations, Mapping[str, Any]], Any]
"""Computes results from the equations and from a function's inputs, which include the contacts."""


def of_pinocchio(of: Solve) -> Callable[[Any, Any, Any, Mapping[str, Any]], Any]:
    """Make the field `pinocchio` of a row. The terms of the equations are computed by Pinocchio."""

    def asked(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
        held = Contacts.at(pin, model, data, x)
        M = symmetric(pin.crba(model, data, x["q"]))
        if "v" not in x:
            return of(Equations(M, held.J), x)
        h = pin.nonLinearEffects(model, data, x["q"], x["v"]) + x["resistance"].torque
        pose = held.position, held.rotation
        return of(Equations(M, held.J, h, held.velocity, held.drift, pose), x)

    return asked


def of_functions(of: Solve) -> Callable[[Call, Mapping[str, Any]], Any]:
    """Make the field `projected` of a row. The terms of the equations are computed by other functions of the
    robot.
    """

    def projected(call: Call, x: Mapping[str, Any]) -> Any:
        M, J = call("crba"), call("contact_jacobian")
        if "v" not in x:
            return of(Equations(M, J), x)
        velocity, drift = call("contact_motion")
        return of(Equations(M, J, call("nle"), velocity, drift, call("contact_pose")), x)

    return projected


def delassus(at: Equations, _: Mapping[str, Any]) -> Any:
    """J M^-1 J^T."""
    return at.J @ np.linalg.solve(at.M, np.swapaxes(at.J, -1, -2))


def dynamics(at: Equations, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """a and lambda."""
    return _solved(at, x, x["tau"] - at.h, -at.drift)


def forces(at: Equations, x: Mapping[str, Any]) -> Any:
    """lambda."""
    return dynamics(at, x)[1]


def anchored_dynamics(at: Equations, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """a and lambda for anchored contacts."""
    kp, kd = x["gains"][..., :1], x["gains"][..., 1:]
    return _solved(at, x, x["tau"] - at.h, -at.drift - kp * _apart(at, x) - kd * at.velocity)


def anchored_forces(at: Equations, x: Mapping[str, Any]) -> Any:
    """lambda for anchored contacts."""
    return anchored_dynamics(at, x)[1]


def _apart(at: Equations, x: Mapping[str, Any]) -> Any:
    """The errors of contacts from their anchors, for all rows."""
    found, left = [], x["anchor"]
    for k, contact in enumerate(x["contacts"]):
        now = at.pose[0][..., k, :], at.pose[1][..., k, :, :]
        found.append(now[0] - left[..., :3])
        left = left[..., 3:]
        if contact.rows == 6:
            R0, left = left[..., :9].reshape(*left.shape[:-1], 3, 3), left[..., 9:]
            found.append(np.cross(R0, now[1], axis=-2).sum(axis=-1) / 2)
    return np.concatenate(found, axis=-1)


def activity(x: Mapping[str, Any]) -> Any:
    """`active` for every row."""
    return np.repeat(x["active"], [contact.rows for contact in x["contacts"]], axis=-1)


def impulse(at: Equations, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """The velocity v after an impulse, and the impulse."""
    change, found = _solved(at, x, 0 * x["v"], -(1 + x["restitution"]) * at.velocity)
    return x["v"] + change, found


def _solved(at: Equations, x: Mapping[str, Any], u: Any, right: Any) -> tuple[Any, Any]:
    n, weights = u.shape[-1], activity(x)
    J, soft = weights[..., None] * at.J, x["mu"] + 1 - weights
    above = np.concatenate([at.M, -np.swapaxes(J, -1, -2)], axis=-1)
    below = np.concatenate([J, soft[..., None] * np.eye(soft.shape[-1])], axis=-1)
    found = np.linalg.solve(
        np.concatenate([above, below], axis=-2), np.concatenate([u, weights * right], axis=-1)[..., None]
    )[..., 0]
    return found[..., :n], found[..., n:]
