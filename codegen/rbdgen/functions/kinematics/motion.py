"""Velocities and accelerations of frames from the columns of their Jacobians, without gravity.

All quantities are in the coordinates of the columns, which are the same for all bodies. Let J be the columns
of one joint. The velocity of a body is the sum of J v over the joints above it. Its acceleration is that of
its parent plus J a + v x J v, where the first v of the product is the velocity of the parent (Featherstone
2008, section 2.11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdgen.functions.kinematics.columns import Convention, Passed, Path
from rbdgen.spatial.ops import NO_MOTION, Motion
from rbdgen.spatial.scalar import Naming, Scalar, unnamed


@dataclass(frozen=True)
class Rates:
    """A joint between the world and a frame, and velocities in the coordinates of its columns."""

    passed: Passed
    above: Motion
    """The velocity of the body above the joint."""
    own: Motion
    """The velocity of the body below the joint relative to the body above it."""
    rest: Motion
    """The velocity of the frame relative to the body below the joint."""

    @property
    def below(self) -> Motion:
        """The velocity of the body below the joint."""
        return self.above + self.own

    @property
    def onward(self) -> Motion:
        """The velocity of the frame relative to the body above the joint."""
        return self.rest + self.own


def rates(path: Path, v: Sequence[Scalar], naming: Naming = unnamed) -> list[Rates]:
    """The rates at every joint of the path."""
    own = [combined(passed, v) for passed in path]
    named = zip(path, before(own, naming, "v"), own, behind(own, naming, "u"), strict=True)
    return [Rates(*values) for values in named]


def combined(passed: Passed, values: Sequence[Scalar]) -> Motion:
    """A joint's columns times its part of a vector."""
    total = NO_MOTION
    for column, value in zip(passed.columns, passed.joint.slice(values), strict=True):
        total = total + column * value
    return total


def before(parts: Sequence[Motion], naming: Naming, name: str) -> list[Motion]:
    """For every part, the sum of those before it."""
    sums = [NO_MOTION]
    for k, part in enumerate(parts):
        sums.append((sums[-1] + part).named(naming, f"{name}[{k}]"))
    return sums[:-1]


def behind(parts: Sequence[Motion], naming: Naming, name: str) -> list[Motion]:
    """For every part, the sum of those after it."""
    return before(parts[::-1], naming, name)[::-1]


def gained(moving: Sequence[Rates], a: Sequence[Scalar]) -> list[Motion]:
    """The acceleration of the body below each joint, minus that of the body above."""
    return [combined(x.passed, a) + x.above.cross(x.own) for x in moving]


def total(parts: Sequence[Motion]) -> Motion:
    """The sum of motions."""
    found = NO_MOTION
    for part in parts:
        found = found + part
    return found


def velocity(path: Path, v: Sequence[Scalar]) -> Motion:
    """The velocity of the frame, V = J v."""
    return total([combined(passed, v) for passed in path])


def acceleration(path: Path, v: Sequence[Scalar], a: Sequence[Scalar], naming: Naming = unnamed) -> Motion:
    """The spatial acceleration of the frame."""
    return total(gained(rates(path, v, naming), a))


def classical_acceleration(
    path: Path, v: Sequence[Scalar], a: Sequence[Scalar], naming: Naming = unnamed
) -> Motion:
    """The acceleration of the point itself: the spatial acceleration plus w x v."""
    return of_point(acceleration(path, v, a, naming), velocity(path, v))


def of_point(acceleration: Motion, velocity: Motion) -> Motion:
    """The classical acceleration from the spatial one."""
    slip = velocity.angular.cross(velocity.linear)
    return Motion(acceleration.angular, acceleration.linear + slip)


def drift(path: Path, v: Sequence[Scalar], convention: Convention, naming: Naming = unnamed) -> Motion:
    """dJ/dt v: the rates of the components of V at a = 0, in coordinates that may move with the frame.

    It is a spatial acceleration in local and world coordinates, and a classical one in aligned coordinates.
    """
    moving, V = rates(path, v, naming), velocity(path, v)
    still = total([x.above.cross(x.own) for x in moving])
    return still if convention != "aligned" else of_point(still, V)
