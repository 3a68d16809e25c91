"""What a joint type says of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from rbdgen.model.joints.coordinates import Angle, Coordinate
from rbdgen.model.moments import MassMoments
from rbdgen.signature import CoordinatesKind
from rbdgen.spatial.exponential import Elementary, Logarithm
from rbdgen.spatial.ops import ZERO, Motion, Transform, Vector
from rbdgen.spatial.quaternion import Quaternion
from rbdgen.spatial.scalar import Scalar, add, sub


class Displacement(NamedTuple):
    """How a body stands beside where it stands at q = 0, in the axes that it has there.

    `shift`: of its origin, in m; `turn`: about z; `attitude`: in any way, after that.
    """

    shift: Vector = ZERO
    turn: Angle | None = None
    attitude: Quaternion | None = None


class JointType(ABC):
    """A type of moving joint, its motion subspace S constant in the child's axes.

    `nq`, `nv`: elements of q and v; `kind`: the space that its part of q lies in; `one_axis`: whether it only
    turns about one axis or slides along it, so that other axes of its body may be chosen, with z on it;
    `turns`: whether it only turns about one; `free`: whether it takes away no freedom at all;
    `resists`: whether damping, friction and rotors can act on its degrees of freedom.
    """

    name: ClassVar[str]
    kind: ClassVar[CoordinatesKind]
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    one_axis: ClassVar[bool] = True
    turns: ClassVar[bool] = False
    free: ClassVar[bool] = False
    resists: ClassVar[bool] = True

    @abstractmethod
    def motion_subspace(self, axis: Vector) -> tuple[Motion, ...]:
        """S, one motion a degree of freedom; `axis`: of unit length, in the child's axes."""

    @abstractmethod
    def transform(self, axis: Vector, q: Coordinate) -> Transform:
        """The moved frame seen in the frame at q = 0."""

    @abstractmethod
    def displacement(self, q: Coordinate) -> Displacement:
        """The same, of a joint with z on its axis."""

    @abstractmethod
    def coordinate(self, q: Sequence[Scalar], angle: Callable[[Scalar], Angle]) -> Coordinate:
        """From the joint's nq elements of q."""

    def rates(
        self, q: Sequence[Scalar], v: Sequence[Scalar], angle: Callable[[Scalar], Angle]
    ) -> Sequence[Scalar]:
        """How fast the joint's nq elements of q change at its nv elements of v."""
        del q, angle
        return v

    def velocities(
        self, q: Sequence[Scalar], rates: Sequence[Scalar], angle: Callable[[Scalar], Angle]
    ) -> Sequence[Scalar]:
        """Its nv elements of v where its nq elements of q change so fast: what `rates` turns round."""
        del q, angle
        return rates

    def within(self, q: Sequence[Scalar], rates: Sequence[Scalar]) -> Sequence[Scalar]:
        """What is left of rates of its nq elements where they stay such as they must be."""
        del q
        return rates

    @abstractmethod
    def some_position(self, value: float, length: float) -> Coordinate:
        """A position that is no special one, for a number between 1 and 2 and a length in m."""

    @abstractmethod
    def split(self, own: MassMoments) -> tuple[MassMoments, MassMoments | None]:
        """What of its body's moments the joint feels, and what only the parent does; z is on the axis.

        On what only the parent feels I S = 0 and S x* I = I S x: it is the same in every position.
        """

    def integrate(self, q: Sequence[Scalar], v: Sequence[Scalar], functions: Elementary) -> Sequence[Scalar]:
        """Where its elements of q come to in one second at the constant velocity v."""
        del functions
        return [add(position, rate) for position, rate in zip(q, v, strict=True)]

    def difference(
        self, start: Sequence[Scalar], end: Sequence[Scalar], functions: Elementary
    ) -> Sequence[Scalar]:
        """The velocity that leads from one to the other in one second."""
        del functions
        return [sub(there, here) for here, there in zip(start, end, strict=True)]


class Turning(JointType):
    """A type whose motions do not commute, since some of them turn others.

    `moves`: which of linear x y z and angular x y z its v are, in the moved axes.
    """

    moves: ClassVar[tuple[int, ...]]
    one_axis = False

    @abstractmethod
    def displaced(
        self, start: Sequence[Scalar], end: Sequence[Scalar], functions: Elementary
    ) -> tuple[Quaternion, Vector]:
        """How the body stands at `end` as seen from where it stood, the quaternion of unit length."""

    def motion(self, v: Sequence[Scalar]) -> Motion:
        """The motion of the body in its own axes."""
        rates = dict(zip(self.moves, v, strict=True))
        linear, angular = (Vector(*(rates.get(k + axis, 0) for axis in range(3))) for k in (0, 3))
        return Motion(angular, linear)

    def velocity(self, motion: Motion) -> list[Scalar]:
        """v of such a motion."""
        both = [*motion.linear, *motion.angular]
        return [both[k] for k in self.moves]

    def difference(
        self, start: Sequence[Scalar], end: Sequence[Scalar], functions: Elementary
    ) -> Sequence[Scalar]:
        """By half a turn at most."""
        return self.velocity(Logarithm(*self.displaced(start, end, functions), functions).motion)
