"""Pinocchio's kinematics of contacts in rbdgen's terms, from motions of frames on joints of its model.

Contacts with the world are frames with world-aligned axes and classical accelerations. A closed loop is seen
from the joint a that carries both ends; d = x1 - x2 and its rates are in world axes:

    (R_a^T d)' = R_a^T (d' - w_a x d),  (R_a^T d)'' = R_a^T (d'' - wdot_a x d - w_a x (2 d' - w_a x d))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

UNIVERSE = 0
"""Pinocchio's joint that never moves."""


class Place(NamedTuple):
    """An end of a contact: a joint of Pinocchio's model, and a placement (SE3) on it."""

    joint: int
    placement: Any


class Held(NamedTuple):
    """A contact: its name, its number of rows, and its ends (two for a closed loop, otherwise one)."""

    name: str
    rows: int
    ends: Sequence[Place]


class Moving(NamedTuple):
    """A place in world axes."""

    R: Any
    x: Any
    J: Any
    """The Jacobian, (6, nv), linear rows first."""
    velocity: Any
    """(6,), linear first."""
    drift: Any
    """The classical acceleration at a = 0, (6,), linear first."""


@dataclass(frozen=True)
class Contacts:
    """The kinematics of K contacts with nc rows at a state."""

    position: Any
    """(K, 3)"""
    rotation: Any
    """(K, 3, 3)"""
    J: Any
    """(nc, nv)"""
    velocity: Any
    """(nc)"""
    drift: Any
    """(nc)"""

    @classmethod
    def at(cls, pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Contacts:
        """The contacts of `x["contacts"]` at q and v (0 if there is no v)."""
        still = np.zeros(model.nv)
        pin.computeJointJacobians(model, data, x["q"])
        pin.forwardKinematics(model, data, x["q"], x.get("v", still), still)
        found = []
        for held in x["contacts"]:
            first, *second = (_moving(pin, model, data, end) for end in held.ends)
            if second:
                joint = _common(model, *(end.joint for end in held.ends))
                first = _relative(
                    first, second[0], _moving(pin, model, data, Place(joint, pin.SE3.Identity()))
                )
            found.append((first.x, first.R, *(part[: held.rows] for part in first[2:])))
        position, rotation, *rows = zip(*found, strict=True)
        return cls(np.array(position), np.array(rotation), *map(np.concatenate, rows))


def _moving(pin: Any, model: Any, data: Any, end: Place) -> Moving:
    placed = data.oMi[end.joint] * end.placement
    if end.joint == UNIVERSE:
        return Moving(placed.rotation, placed.translation, np.zeros((6, model.nv)), np.zeros(6), np.zeros(6))
    given = model, data, end.joint, end.placement, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    return Moving(
        placed.rotation,
        placed.translation,
        pin.getFrameJacobian(*given).reshape(6, -1),
        pin.getFrameVelocity(*given).vector,
        pin.getFrameClassicalAcceleration(*given).vector,
    )


def _common(model: Any, first: int, second: int) -> int:
    """The last joint that carries both, or the universe."""
    while first != second:
        first, second = min(first, second), max(first, second)
        second = model.parents[second]
    return first


def _relative(first: Moving, second: Moving, a: Moving) -> Moving:
    """The motion of one place relative to another in the axes of a, and the rotation of the first one
    relative to the second.
    """
    d, w, wdot = first.x - second.x, a.velocity[3:], a.drift[3:]
    J, V, A = first.J - second.J, first.velocity - second.velocity, first.drift - second.drift
    turn = np.kron(np.eye(2), a.R.T)
    J[:3] -= np.cross(a.J[3:].T, d).T
    slip = V[:3] - np.cross(w, d)
    A = A - [*(np.cross(wdot, d) + np.cross(w, V[:3] + slip)), *np.cross(w, V[3:])]
    return Moving(second.R.T @ first.R, a.R.T @ d, turn @ J, turn @ [*slip, *V[3:]], turn @ A)
