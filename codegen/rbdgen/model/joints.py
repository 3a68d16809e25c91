"""Joint types: their coordinates, transforms and motion subspaces.

A joint's frame is the frame of its child body; at q = 0 it stands at the joint's placement in the parent.
Every joint's motion subspace S is constant in the child's frame, so that the drift c_J = dS/dt qdot is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from rbdgen.description.schema import Limit
from rbdgen.signature import CoordinatesKind, JointCoordinates
from rbdgen.spatial.ops import IDENTITY, ZERO, Matrix, Motion, Transform, Vector
from rbdgen.spatial.scalar import Scalar, add, mul, neg, sub


class JointKind(Enum):
    """The types of moving joints; a continuous joint is a revolute one without limits."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    FLOATING = "floating"

    @property
    def nq(self) -> int:
        return 7 if self is JointKind.FLOATING else 1

    @property
    def nv(self) -> int:
        return 6 if self is JointKind.FLOATING else 1

    @property
    def coordinates(self) -> CoordinatesKind:
        return _COORDINATES[self]


_COORDINATES: Final[Mapping[JointKind, CoordinatesKind]] = {
    JointKind.REVOLUTE: "angle",
    JointKind.PRISMATIC: "slide",
    JointKind.FLOATING: "floating",
}


class Angle(NamedTuple):
    """A revolute coordinate as its cosine and sine: all that the dynamics sees of it."""

    cos: Scalar
    sin: Scalar

    def __add__(self, other: object) -> Angle:
        """The sum of two angles by the addition theorems."""
        if not isinstance(other, Angle):
            return NotImplemented
        return Angle(
            sub(mul(self.cos, other.cos), mul(self.sin, other.sin)),
            add(mul(self.sin, other.cos), mul(self.cos, other.sin)),
        )


class Pose(NamedTuple):
    """The coordinates of a floating base: position in the world, unit quaternion (x, y, z, w)."""

    position: Vector
    quaternion: tuple[Scalar, Scalar, Scalar, Scalar]


Coordinate: TypeAlias = Angle | Pose | Scalar
"""Angle of a revolute joint, displacement of a prismatic one, pose of a floating base."""


@dataclass(frozen=True)
class Joint:
    """A moving joint. `axis` is a unit vector in the joint's frame; unused by a floating base.

    Limits are carried, never enforced.
    """

    name: str
    kind: JointKind
    axis: Vector
    idx_q: int
    idx_v: int
    limit: Limit | None = None
    damping: float = 0.0
    friction: float = 0.0

    @property
    def nq(self) -> int:
        return self.kind.nq

    @property
    def nv(self) -> int:
        return self.kind.nv

    @property
    def coordinates(self) -> JointCoordinates:
        """Its elements of q and v, and what they are."""
        return JointCoordinates(self.name, self.kind.coordinates, self.idx_q, self.nq, self.idx_v, self.nv)

    def slice(self, vector: Sequence[Scalar]) -> Sequence[Scalar]:
        """This joint's elements of a vector over all degrees of freedom."""
        return vector[self.idx_v : self.idx_v + self.nv]

    @property
    def motion_subspace(self) -> tuple[Motion, ...]:
        """S, one motion a degree of freedom; a floating base moves along its own axes, linear first."""
        if self.kind is JointKind.REVOLUTE:
            return (Motion(self.axis, ZERO),)
        if self.kind is JointKind.PRISMATIC:
            return (Motion(ZERO, self.axis),)
        return tuple(Motion(ZERO, e) for e in IDENTITY) + tuple(Motion(e, ZERO) for e in IDENTITY)

    def transform(self, q: Coordinate) -> Transform:
        """The moved frame seen in the frame at q = 0."""
        if isinstance(q, Angle):
            return Transform(rotation_about(self.axis, q), ZERO)
        if isinstance(q, Pose):
            return Transform(rotation_of(q.quaternion), q.position)
        return Transform(IDENTITY, self.axis * q)


def rotation_about(axis: Vector, angle: Angle) -> Matrix:
    """Rodrigues' formula for a unit axis n: n n^T + cos (1 - n n^T) + sin [n x]; zeros stay exact."""
    n, skew = axis, Matrix.skew(axis)

    def entry(i: int, j: int) -> Scalar:
        product = mul(n[i], n[j])
        rest = sub(1 if i == j else 0, product)
        return add(add(product, mul(rest, angle.cos)), mul(skew[i][j], angle.sin))

    return Matrix(*(Vector(*(entry(i, j) for j in range(3))) for i in range(3)))


def rotation_of(quaternion: tuple[Scalar, Scalar, Scalar, Scalar]) -> Matrix:
    """The rotation of a unit quaternion (x, y, z, w), used as given."""
    x, y, z, w = quaternion

    def off(a: Scalar, b: Scalar, c: Scalar) -> Scalar:
        return mul(2, add(mul(a, b), mul(w, c)))

    def diag(a: Scalar, b: Scalar) -> Scalar:
        return sub(1, mul(2, add(mul(a, a), mul(b, b))))

    return Matrix(
        Vector(diag(y, z), off(x, y, neg(z)), off(x, z, y)),
        Vector(off(x, y, z), diag(x, z), off(y, z, neg(x))),
        Vector(off(x, z, neg(y)), off(y, z, x), diag(x, y)),
    )
