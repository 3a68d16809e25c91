"""A floating joint, which does not constrain its body, such as the joint of a floating base."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rbdgen.model.joints.coordinates import Angle, Coordinate, Pose
from rbdgen.model.joints.joint_type import Displacement, Turning
from rbdgen.model.joints.spherical import some_quaternion
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.exponential import Elementary, Exponential
from rbdgen.spatial.ops import IDENTITY, ZERO, Motion, Transform, Vector
from rbdgen.spatial.quaternion import (
    Quaternion,
    at_unit_length,
    conjugate,
    product,
    rates_of,
    rotation_of,
    turning_of,
    unit,
)
from rbdgen.spatial.scalar import Scalar


@dataclass(frozen=True)
class Floating(Turning):
    """q: the origin in m, and a unit quaternion (x, y, z, w). v: linear, then angular, in the body's axes."""

    name = "floating"
    kind = "floating"
    elements = ("length",) * 3 + ("quaternion",) * 4
    layout = "q: x y z, quaternion x y z w; v: linear, angular, in body axes"
    nv = 6
    moves = (0, 1, 2, 3, 4, 5)
    free = True
    resists = False

    def motion_subspace(self, axis: Vector) -> tuple[Motion, ...]:
        return tuple(Motion(ZERO, e) for e in IDENTITY) + tuple(Motion(e, ZERO) for e in IDENTITY)

    def transform(self, axis: Vector, q: Any) -> Transform:
        return Transform(rotation_of(q.quaternion), q.position)

    def displacement(self, q: Any) -> Displacement:
        return Displacement(q.position, attitude=q.quaternion)

    def coordinate(self, q: Sequence[Scalar], angle: Callable[[Scalar], Angle]) -> Coordinate:
        return Pose(Vector(*q[:3]), (q[3], q[4], q[5], q[6]))

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar], functions: Elementary) -> Sequence[Scalar]:
        moved = Exponential(self.motion(v), functions)
        attitude = unit((q[3], q[4], q[5], q[6]), functions.sqrt)
        position = Vector(*q[:3]) + rotation_of(attitude).apply(moved.translation)
        return [*position, *product(attitude, moved.quaternion)]

    def displaced(
        self, start: Sequence[Scalar], end: Sequence[Scalar], functions: Elementary
    ) -> tuple[Quaternion, Vector]:
        here, there = (unit((q[3], q[4], q[5], q[6]), functions.sqrt) for q in (start, end))
        shift = rotation_of(here).T.apply(Vector(*end[:3]) - Vector(*start[:3]))
        return unit(product(conjugate(here), there), functions.sqrt), shift

    def rates(
        self, q: Sequence[Scalar], v: Sequence[Scalar], angle: Callable[[Scalar], Angle]
    ) -> Sequence[Scalar]:
        quaternion = q[3], q[4], q[5], q[6]
        return *rotation_of(quaternion).apply(Vector(*v[:3])), *rates_of(quaternion, Vector(*v[3:]))

    def velocities(
        self, q: Sequence[Scalar], rates: Sequence[Scalar], angle: Callable[[Scalar], Angle]
    ) -> Sequence[Scalar]:
        quaternion = q[3], q[4], q[5], q[6]
        angular = turning_of(quaternion, (rates[3], rates[4], rates[5], rates[6]))
        return *rotation_of(quaternion).T.apply(Vector(*rates[:3])), *angular

    def within(self, q: Sequence[Scalar], rates: Sequence[Scalar]) -> Sequence[Scalar]:
        turning = rates[3], rates[4], rates[5], rates[6]
        return *rates[:3], *at_unit_length((q[3], q[4], q[5], q[6]), turning)

    def some_position(self, value: float, length: float) -> Coordinate:
        position = Vector(value * length, (3 - value) * length, 0.7 * length)
        return Pose(position, some_quaternion(value))

    def split(self, own: MassMoments) -> tuple[MassMoments, MassMoments | None]:
        """The joint feels all moments."""
        return own, None
