"""The mobilities of contacts, which are the scales of their compliances."""

from __future__ import annotations

import math

from rbdgen.functions.contacts import composite
from rbdgen.functions.contacts.composite import Robot
from rbdgen.functions.resistance import model_of
from rbdgen.model.model import Model
from rbdgen.spatial.scalar import Scalar, dot, mul
from rbdgen.sweeps.inputs import State, coordinates


def mobilities(robot: Robot) -> list[Scalar]:
    """The mean of the diagonal of J M^-1 J^T over the rows of each contact with friction, in the neutral
    configuration, in 1/kg: how much velocity an impulse at the contact causes there. Other contacts have 0.

    These are numbers, or expressions of the parameters of the robot that stay inputs.
    """
    model = model_of(robot)
    x = State(coordinates(model, neutral(model), math.cos, math.sin))
    M, rows = composite.inertia(robot, x), iter(composite.jacobian(robot, x))
    found: list[Scalar] = []
    for contact in model.contacts:
        own = [next(rows) for _ in range(contact.rows)]
        caused = [dot(row, M.solve(row)) for row in own] if contact.has_friction else [0]
        found.append(mul(dot(caused, [1] * len(caused)), 1 / len(caused)))
    return found


def neutral(model: Model) -> list[float]:
    """q with all joints at zero, and a floating base at the world frame."""
    q = [0.0] * model.sizes["nq"]
    for body in model.bodies:
        joint = body.joint
        for at in joint.type.space.quaternions if joint.follows is None else ():
            q[joint.idx_q + at + 3] = 1.0
    return q
