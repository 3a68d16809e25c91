"""The properties and functions that each joint type defines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Final, NamedTuple

import numpy as np

from rbdgen.model.joints.coordinates import Angle, Coordinate
from rbdgen.model.moments import MassMoments
from rbdgen.runtime.space import Element, Space
from rbdgen.runtime.straight_line import sign_of
from rbdgen.spatial.exponential import Elementary, Logarithm
from rbdgen.spatial.ops import ZERO, Motion, Transform, Vector
from rbdgen.spatial.quaternion import Quaternion
from rbdgen.spatial.scalar import Scalar, add, sub


def _angle(x: Scalar) -> Angle:
    return Angle(np.cos(x), np.sin(x))


OF_ARRAYS: Final = Elementary(_angle, np.sqrt, sign_of)
"""The elementary functions of numbers, arrays of numbers, and scalars under construction."""


class Displacement(NamedTuple):
    """The pose of a body relative to its pose at q = 0, in the axes that it has there."""

    shift: Vector = ZERO
    """The displacement of its origin, in m."""
    turn: Angle | None = None
    """A rotation about z."""
    attitude: Quaternion | None = None
    """A general rotation, after `turn`."""


class JointType(ABC):
    """A type of moving joint, whose motion subspace S is constant in the child's axes."""

    name: ClassVar[str]
    kind: ClassVar[str]
    """The name of the space of its elements of q. Types with the same space have the same name for it."""
    elements: ClassVar[tuple[Element, ...]]
    """The kinds of its elements of q, in order."""
    layout: ClassVar[str] = ""
    """A description of the elements of q and v; empty if there is one of each."""
    nv: ClassVar[int] = 1
    """The number of elements of v."""
    flat: ClassVar[bool] = True
    """Whether v is the rate of q."""
    one_axis: ClassVar[bool] = True
    """Whether it only turns about one axis or slides along it, so that its body's axes may be chosen with z
    on this axis.
    """
    turns: ClassVar[bool] = False
    """Whether it only turns about one axis."""
    free: ClassVar[bool] = False
    """Whether it does not constrain its body."""
    resists: ClassVar[bool] = True
    """Whether damping, friction and rotors can act on its degrees of freedom."""

    @property
    def nq(self) -> int:
        """The number of elements of q."""
        return len(self.elements)

    @property
    def space(self) -> Space:
        """The space of its elements of q, for numbers, arrays of numbers, and scalars under construction."""
        return Space(
            self.kind,
            self.elements,
            self.nv,
            self.layout,
            self.flat,
            partial(self.integrate, functions=OF_ARRAYS),
            partial(self.difference, functions=OF_ARRAYS),
            partial(self.velocities, angle=_angle),
        )

    @abstractmethod
    def motion_subspace(self, axis: Vector) -> tuple[Motion, ...]:
        """S, one motion per degree of freedom. `axis` has unit length and is in the child's axes."""

    @abstractmethod
    def transform(self, axis: Vector, q: Coordinate) -> Transform:
        """The pose of the joint's frame at q, relative to the same frame at q = 0."""

    @abstractmethod
    def displacement(self, q: Coordinate) -> Displacement:
        """The pose of the body at q, relative to that at q = 0, for a joint with z on its axis."""

    @abstractmethod
    def coordinate(self, q: Sequence[Scalar], angle: Callable[[Scalar], Angle]) -> Coordinate:
        """The coordinate, from the joint's nq elements of q."""

    def rates(
        self, q: Sequence[Scalar], v: Sequence[Scalar], angle: Callable[[Scalar], Angle]
    ) -> Sequence[Scalar]:
        """The rates of the joint's nq elements of q at its nv elements of v."""
        del q, angle
        return v

    def velocities(
        self, q: Sequence[Scalar], rates: Sequence[Scalar], angle: Callable[[Scalar], Angle]
    ) -> Sequence[Scalar]:
        """The joint's nv elements of v at these rates of its nq elements of q; the inverse of `rates`."""
        del q, angle
        return rates

    def within(self, q: Sequence[Scalar], rates: Sequence[Scalar]) -> Sequence[Scalar]:
        """The rates of the joint's nq elements of q, projected so that q keeps its constraints, such as the
        unit length of a quaternion.
        """
        del q
        return rates

    @abstractmethod
    def some_position(self, value: float, length: float) -> Coordinate:
        """A generic position, from a number between 1 and 2 and a length in m."""

    @abstractmethod
    def split(self, own: MassMoments) -> tuple[MassMoments, MassMoments | None]:
        """The moments of the joint's body that the joint feels, and those that only the parent feels; z is on
        the axis.

        For the latter I S = 0 and S x* I = I S x, so the parent feels the same moments in every position.
        """

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar], functions: Elementary) -> Sequence[Scalar]:
        """The elements of q after one second at the constant velocity v."""
        del functions
        return [add(position, rate) for position, rate in zip(q, v, strict=True)]

    def difference(
        self, start: Sequence[Scalar], end: Sequence[Scalar], functions: Elementary
    ) -> Sequence[Scalar]:
        """The velocity that leads from `start` to `end` in one second."""
        del functions
        return [sub(there, here) for here, there in zip(start, end, strict=True)]


class Turning(JointType):
    """A joint type whose motions do not commute, because some of them rotate others."""

    moves: ClassVar[tuple[int, ...]]
    """For each element of v, its index in [linear x y z, angular x y z] in body axes."""
    one_axis = False
    flat = False

    @abstractmethod
    def displaced(
        self, start: Sequence[Scalar], end: Sequence[Scalar], functions: Elementary
    ) -> tuple[Quaternion, Vector]:
        """The pose at `end` relative to the one at `start`, with a quaternion of unit length."""

    def motion(self, v: Sequence[Scalar]) -> Motion:
        """The motion of the body in its own axes, at v."""
        rates = dict(zip(self.moves, v, strict=True))
        linear, angular = (Vector(*(rates.get(k + axis, 0) for axis in range(3))) for k in (0, 3))
        return Motion(angular, linear)

    def velocity(self, motion: Motion) -> list[Scalar]:
        """The elements of v for a motion of the body in its own axes; the inverse of `motion`."""
        both = [*motion.linear, *motion.angular]
        return [both[k] for k in self.moves]

    def difference(
        self, start: Sequence[Scalar], end: Sequence[Scalar], functions: Elementary
    ) -> Sequence[Scalar]:
        """The velocity that leads from `start` to `end` in one second, by at most half a turn."""
        return self.velocity(Logarithm(*self.displaced(start, end, functions), functions).motion)
