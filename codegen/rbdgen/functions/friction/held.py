"""The law of joints with limits and dry friction, which are rows of the solver.

In a step, the velocity c of a joint after it and the impulse lambda on the joint obey

    lambda in -f sign(c)                    dry friction with the impulse f = dt times its torque
    low <= c <= high                        it does not pass its limits within the step
    lambda >= 0 more at low, <= 0 less at high

which together say that -lambda is a subgradient of f |c| + (0 if low <= c <= high, else infinity) at c. With
any rho > 0 this is c = P(c - rho lambda), where P(z) is z, moved by at most rho f towards 0 and then into the
interval (the proximal operator of that function, Parikh and Boyd, Proximal algorithms, 2014, section 2.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rbdgen.functions.friction.arguments import Law
from rbdgen.functions.friction.ground import room, slope_of_room
from rbdgen.model.joints import Joint
from rbdgen.model.model import Model
from rbdgen.spatial.scalar import Scalar, add, maximum, minimum, mul, neg, select, select_le, sub

FAR: Final = 1e30
"""A speed that no joint reaches, which stands for a limit that does not exist."""


class Bounds(NamedTuple):
    """The law of one joint, see the top of this file."""

    friction: Scalar
    low: Scalar
    high: Scalar


class Slopes(NamedTuple):
    """The derivatives of the bounds `low` and `high` with respect to the coordinate of the joint."""

    low: Scalar
    high: Scalar


class Held(NamedTuple):
    """P of a joint at z, and its derivatives."""

    velocity: Scalar
    """P(z)."""
    free: Scalar
    """The derivative of P by z: 1 if the joint moves between its limits, else 0."""
    at_low: Scalar
    """The derivative by `low`: 1 at the lower limit, else 0."""
    at_high: Scalar
    way: Scalar
    """The derivative by f, divided by rho: the sign of -z for a joint that moves between its limits, else 0.
    """


def held(z: Scalar, rho: Scalar, bounds: Bounds) -> Held:
    """P of a joint."""
    most = mul(rho, bounds.friction)
    moved = add(maximum(z - most, 0), minimum(z + most, 0))
    at_low = select(moved, bounds.low, 1, 0)
    at_high = select(bounds.high, moved, 1, 0)
    between = sub(1, add(at_low, at_high))
    free = select_le(most, abs(z), between, 0)
    inside = minimum(maximum(moved, bounds.low), bounds.high)
    return Held(inside, free, at_low, at_high, mul(free, select(0, z, -1, 1)))


def impulse_of_joint(D: Scalar, b: Scalar, bounds: Bounds) -> Scalar:
    """The impulse on a joint with the velocity b + D lambda."""
    return (held(b, D, bounds).velocity - b) / D


def bounds_of(model: Model, joint: Joint, q: Scalar, law: Law, dt: Scalar) -> Bounds:
    """The bounds of a joint in a step from q. As for contacts, `pull` and `push` of the law say how fast a
    joint that has passed its limit comes back.
    """
    friction = mul(dt, joint.resistance.friction) if model.has_dry_friction(joint) else 0
    low, high = _limits(model, joint)
    return Bounds(
        friction,
        -FAR if low is None else neg(room(sub(q, low), law, dt)),
        FAR if high is None else room(sub(high, q), law, dt),
    )


def slopes_of_bounds(model: Model, joint: Joint, q: Scalar, law: Law, dt: Scalar) -> Slopes:
    """The derivatives of `bounds_of`."""
    low, high = _limits(model, joint)
    return Slopes(
        0 if low is None else neg(slope_of_room(sub(q, low), law, dt)),
        0 if high is None else neg(slope_of_room(sub(high, q), law, dt)),
    )


def _limits(model: Model, joint: Joint) -> tuple[float | None, float | None]:
    limit = joint.limit
    return (None, None) if limit is None or not model.has_limits(joint) else (limit.lower, limit.upper)


def bounds_in(values: Sequence[Scalar]) -> list[Bounds]:
    """The bounds in the array of the solver."""
    return [Bounds(*values[k : k + 3]) for k in range(0, len(values), 3)]
