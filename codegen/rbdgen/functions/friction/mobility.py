"""The mobilities of contacts, which are the scales of their compliances."""

from __future__ import annotations

import math
from typing import Final

from rbdgen.functions.contacts import composite
from rbdgen.functions.contacts.composite import Robot
from rbdgen.functions.resistance import model_of
from rbdgen.model.model import Model
from rbdgen.spatial.scalar import Scalar, dot, mul
from rbdgen.sweeps.inputs import State, coordinates

PADS: Final = 100
"""The compliance of the corners of soles, relative to that of points: feet have soft soles, and the load is
not shared by the corners of a rigid one.
"""


def mobilities(robot: Robot) -> list[Scalar]:
    """The mean of the diagonal of J M^-1 J^T over the rows of each point that can touch the ground, in the
    neutral configuration, in 1/kg: how much velocity an impulse at the point causes there. Those of corners
    of soles are multiplied by `PADS`. The elements of the diagonal of M^-1 for the joints with limits or dry
    friction follow, in 1/kg or 1/(kg m^2).

    These are numbers, or expressions of the parameters of the robot that stay inputs.
    """
    model = model_of(robot)
    corners = [bool(contact.corners) for contact in model.contacts for _ in contact.points]
    if any(corners):
        robot = model = model.on_points
    x = State(coordinates(model, neutral(model), math.cos, math.sin))
    M, rows = composite.inertia(robot, x), iter(composite.jacobian(robot, x))
    found: list[Scalar] = []
    for contact, corner in zip(model.contacts, corners, strict=True):
        own = [next(rows) for _ in range(contact.rows)]
        if contact.has_friction:
            caused = [dot(row, M.solve(row)) for row in own]
            mean = mul(dot(caused, [1] * len(caused)), 1 / len(caused))
            found.append(mul(PADS, mean) if corner else mean)
    for joint in model.held_joints:
        unit = [int(k == joint.idx_v) for k in range(model.coupling.independent)]
        found.append(M.solve(unit)[joint.idx_v])
    return found


def neutral(model: Model) -> list[float]:
    """q with all joints at zero, and a floating base at the world frame."""
    q = [0.0] * model.sizes["nq"]
    for body in model.bodies:
        joint = body.joint
        for at in joint.type.space.quaternions if joint.follows is None else ():
            q[joint.idx_q + at + 3] = 1.0
    return q
