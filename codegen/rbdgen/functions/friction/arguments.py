"""Inputs and outputs of steps with friction."""

from __future__ import annotations

from typing import Final, NamedTuple

from rbdgen.signature import Argument
from rbdgen.spatial.scalar import Scalar

GROUND: Final = Argument(
    "ground",
    "planes",
    ("npoints", 4),
    "1, m",
    "the plane n . x = d that each point or corner can touch, as (n, d) with a unit normal n away from it",
    default=(0.0, 0.0, 1.0, 0.0),
)
FRICTION: Final = Argument(
    "friction", "coefficients", ("npoints",), "1", "the coefficient of friction of each point or corner"
)


class Law(NamedTuple):
    """The law of contact, in the order of the input `law`."""

    softness: Scalar
    """The compliance of a contact, relative to its mobility, see `mobility.py`."""
    pull: Scalar
    """The part of a penetration that a step takes back."""
    push: Scalar
    """The largest speed at which a penetration is taken back, in m/s."""
    restitution: Scalar
    slow: Scalar
    """The speed of approach below which a contact does not bounce, in m/s."""
    smoothing: Scalar
    """sigma of `cone.py`, in J."""


LAW: Final = Argument(
    "law",
    "nonnegative",
    (6,),
    "1, 1, m/s, 1, m/s, J",
    "softness, pull, push, restitution, slow and smoothing, see docs/friction.md",
    default=(1e-4, 0.2, 1.0, 0.0, 0.05, 0.0),
)
SPRINGS: Final = Argument(
    "springs",
    "coefficients",
    ("nsprings", 2),
    "N/m, N s/m",
    "on request (`contact_with`), the stiffness and the damping of each point or corner along its normal; 0 "
    "and 0 for softness and pull",
    default=(0.0, 0.0),
    optional=True,
)
ANISOTROPY: Final = Argument(
    "anisotropy",
    "values",
    ("nslants", 4),
    "1",
    "on request (`contact_with`), for each point or corner a direction in world axes, along which `friction` "
    "is its coefficient, and the coefficient across this direction in the plane, divided by that along it",
    default=(1.0, 0.0, 0.0, 1.0),
    optional=True,
)
KP: Final = Argument(
    "kp",
    "nonnegative",
    ("nservos",),
    "N m/rad, N/m",
    "the stiffness of the servo of each joint with one coordinate",
)
KD: Final = Argument("kd", "nonnegative", ("nservos",), "N m s/rad, N s/m", "the damping of each servo")
TARGET: Final = Argument("target", "values", ("nservos",), "rad, m", "the position to which each servo pulls")
STOPS: Final = Argument(
    "stops",
    "nonnegative",
    (2,),
    "N m/rad or N/m, N m s/rad or N s/m",
    "stiffness and damping of the stops at the limits of these joints; 0 for none",
    default=(0.0, 0.0),
)
IMPULSE: Final = Argument(
    "impulse",
    "values",
    ("nimpulses",),
    "N s, N m s",
    "impulses that the world exerts on the robot, in world axes, those of a sole corner by corner; those of "
    "closed loops in their rows' axes; at last those of joints with limits or dry friction, on request",
)
RESIDUAL: Final = Argument(
    "residual", "error", (1,), "m/s", "the largest error of the law of contact: 0 if it holds exactly"
)
