"""Three- and six-dimensional algebra over abstract scalars.

Vectors and matrices are immutable. A motion is (angular, linear) and a force is (moment, force), both at the
origin of one frame (Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 2). A `Transform` places a child
frame in its parent: x_parent = R x_child + p. Interfaces of emitted functions put the linear part first;
`sweeps/inputs.py` converts between the two orders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple, TypeAlias

from rbdgen.spatial.scalar import Naming, Scalar, add, is_number, is_zero, mul, neg, sub, unnamed


class Vector:
    """Three scalars in one frame."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: Scalar = 0, y: Scalar = 0, z: Scalar = 0) -> None:
        self.x = x
        self.y = y
        self.z = z

    def __iter__(self) -> Iterator[Scalar]:
        yield self.x
        yield self.y
        yield self.z

    def __getitem__(self, k: int) -> Scalar:
        return (self.x, self.y, self.z)[k]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Vector({self.x!r}, {self.y!r}, {self.z!r})"

    def __add__(self, other: Vector) -> Vector:
        return Vector(add(self.x, other.x), add(self.y, other.y), add(self.z, other.z))

    def __sub__(self, other: Vector) -> Vector:
        return Vector(sub(self.x, other.x), sub(self.y, other.y), sub(self.z, other.z))

    def __neg__(self) -> Vector:
        return Vector(neg(self.x), neg(self.y), neg(self.z))

    def __mul__(self, factor: Scalar) -> Vector:
        return Vector(mul(self.x, factor), mul(self.y, factor), mul(self.z, factor))

    def dot(self, other: Vector) -> Scalar:
        return add(add(mul(self.x, other.x), mul(self.y, other.y)), mul(self.z, other.z))

    def cross(self, other: Vector) -> Vector:
        return Vector(
            sub(mul(self.y, other.z), mul(self.z, other.y)),
            sub(mul(self.z, other.x), mul(self.x, other.z)),
            sub(mul(self.x, other.y), mul(self.y, other.x)),
        )

    @property
    def coordinate_axis(self) -> int | None:
        """k if the vector is known to be +-e_k; None for any other vector.

        The other two components must be exactly 0: a component of 1 may also be the rounded component of an
        axis that is tilted by up to 1e-8 rad.
        """
        known = [k for k in range(3) if not is_zero(self[k])]
        return (
            known[0] if len(known) == 1 and is_number(self[known[0]]) and abs(self[known[0]]) == 1 else None
        )

    def named(self, naming: Naming, label: str) -> Vector:
        """The vector with a name for each component, such as `force.x`."""
        if naming is unnamed:
            return self
        return Vector(*(naming(f"{label}.{axis}", value) for axis, value in zip("xyz", self, strict=True)))


ZERO = Vector()


class Matrix:
    """A 3 x 3 matrix, stored by rows."""

    __slots__ = ("rows",)

    def __init__(self, a: Vector, b: Vector, c: Vector) -> None:
        self.rows = (a, b, c)

    @staticmethod
    def diagonal(a: Scalar, b: Scalar, c: Scalar) -> Matrix:
        return Matrix(Vector(a, 0, 0), Vector(0, b, 0), Vector(0, 0, c))

    @staticmethod
    def skew(v: Vector) -> Matrix:
        """[v x]: skew(v) w = v x w."""
        return Matrix(Vector(0, neg(v.z), v.y), Vector(v.z, 0, neg(v.x)), Vector(neg(v.y), v.x, 0))

    @staticmethod
    def outer(a: Vector, b: Vector) -> Matrix:
        """a b^T."""
        return Matrix(b * a.x, b * a.y, b * a.z)

    def __getitem__(self, k: int) -> Vector:
        return self.rows[k]

    def __iter__(self) -> Iterator[Vector]:
        return iter(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matrix) and self.rows == other.rows

    def __hash__(self) -> int:
        return hash(self.rows)

    def __repr__(self) -> str:
        return f"Matrix{self.rows!r}"

    @property
    def T(self) -> Matrix:
        a, b, c = self.rows
        return Matrix(Vector(a.x, b.x, c.x), Vector(a.y, b.y, c.y), Vector(a.z, b.z, c.z))

    def __add__(self, other: Matrix) -> Matrix:
        return Matrix(*(a + b for a, b in zip(self.rows, other.rows, strict=True)))

    def __sub__(self, other: Matrix) -> Matrix:
        return Matrix(*(a - b for a, b in zip(self.rows, other.rows, strict=True)))

    def __neg__(self) -> Matrix:
        return Matrix(*(-row for row in self.rows))

    def __mul__(self, factor: Scalar) -> Matrix:
        return Matrix(*(row * factor for row in self.rows))

    def apply(self, v: Vector) -> Vector:
        """The product A v."""
        return Vector(*(row.dot(v) for row in self.rows))

    def __matmul__(self, other: Matrix) -> Matrix:
        columns = other.T.rows
        return Matrix(*(Vector(*(row.dot(column) for column in columns)) for row in self.rows))

    def trace(self) -> Scalar:
        return add(add(self.rows[0].x, self.rows[1].y), self.rows[2].z)

    def congruence(self, symmetric: Matrix) -> Matrix:
        """R A R^T for a symmetric A; the lower triangle is a copy of the upper one."""
        half = self @ symmetric
        upper = [[half[i].dot(self[j]) if j >= i else 0 for j in range(3)] for i in range(3)]
        return mirrored(upper)

    def turned(self, symmetric: Matrix) -> Matrix:
        """R A R^T for a symmetric A and a rotation R, with fewer operations than `congruence`.

        It computes R (A - a 1) R^T + a 1 with a = A_zz: one entry is zero, and the last diagonal entry
        follows from the trace. Errors are relative to the largest entry of A, even in small entries.
        """
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = symmetric
        a, b = sub(xx, zz), sub(yy, zz)
        rest = mirrored([[a, xy, xz], [0, b, yz], [0, 0, 0]])
        x, y, z = self.rows
        along_x, along_y = rest.apply(x), rest.apply(y)
        new_xx, new_yy = along_x.dot(x), along_y.dot(y)
        new_zz = sub(sub(add(a, yy), new_xx), new_yy)
        return mirrored(
            [
                [add(new_xx, zz), along_x.dot(y), along_x.dot(z)],
                [0, add(new_yy, zz), along_y.dot(z)],
                [0, 0, new_zz],
            ]
        )

    def named(self, naming: Naming, label: str) -> Matrix:
        if naming is unnamed:
            return self
        return Matrix(*(row.named(naming, f"{label}.{axis}") for axis, row in zip("xyz", self, strict=True)))


Symmetric: TypeAlias = Annotated[Matrix, "symmetric"]
"""The type of a symmetric matrix, which has only six different entries."""


def mirrored(upper: list[list[Scalar]]) -> Matrix:
    """The symmetric matrix with this upper triangle."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = upper
    return Matrix(Vector(xx, xy, xz), Vector(xy, yy, yz), Vector(xz, yz, zz))


IDENTITY = Matrix.diagonal(1, 1, 1)
ZERO_MATRIX = Matrix(ZERO, ZERO, ZERO)


@dataclass(frozen=True, slots=True)
class Force:
    """A spatial force: moment about the origin in N m, force in N."""

    moment: Vector
    force: Vector

    def __add__(self, other: Force) -> Force:
        return Force(self.moment + other.moment, self.force + other.force)

    def __sub__(self, other: Force) -> Force:
        return Force(self.moment - other.moment, self.force - other.force)

    def __neg__(self) -> Force:
        return Force(-self.moment, -self.force)

    def __mul__(self, factor: Scalar) -> Force:
        return Force(self.moment * factor, self.force * factor)

    def named(self, naming: Naming, label: str) -> Force:
        if naming is unnamed:
            return self
        return Force(self.moment.named(naming, f"{label}.n"), self.force.named(naming, f"{label}.f"))


@dataclass(frozen=True, slots=True)
class Motion:
    """A spatial velocity: angular in rad/s, linear in m/s, of the body-fixed point at the origin; or the rate
    of one, a spatial acceleration.
    """

    angular: Vector
    linear: Vector

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Motion) -> Motion:
        return Motion(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self) -> Motion:
        return Motion(-self.angular, -self.linear)

    def __mul__(self, factor: Scalar) -> Motion:
        return Motion(self.angular * factor, self.linear * factor)

    def dot(self, force: Force) -> Scalar:
        """The power of a force along this motion."""
        return add(self.angular.dot(force.moment), self.linear.dot(force.force))

    def cross(self, other: Motion) -> Motion:
        """v x m, Featherstone eq. 2.31."""
        return Motion(
            self.angular.cross(other.angular),
            self.angular.cross(other.linear) + self.linear.cross(other.angular),
        )

    def cross_force(self, force: Force) -> Force:
        """v x* f, Featherstone eq. 2.32."""
        return Force(
            self.angular.cross(force.moment) + self.linear.cross(force.force),
            self.angular.cross(force.force),
        )

    def named(self, naming: Naming, label: str) -> Motion:
        if naming is unnamed:
            return self
        return Motion(self.angular.named(naming, f"{label}.w"), self.linear.named(naming, f"{label}.v"))


NO_MOTION = Motion(ZERO, ZERO)
NO_FORCE = Force(ZERO, ZERO)


class Transform(NamedTuple):
    """A frame placed in its parent: x_parent = rotation x_child + translation."""

    rotation: Matrix
    translation: Vector

    def __matmul__(self, other: Transform) -> Transform:
        """Composes placements: `other` places a frame in this one, and the result places it in the parent."""
        return Transform(
            self.rotation @ other.rotation, self.rotation.apply(other.translation) + self.translation
        )

    @property
    def inverse(self) -> Transform:
        """The placement of the parent in this frame."""
        back = self.rotation.T
        return Transform(back, -back.apply(self.translation))

    def motion_to_child(self, m: Motion) -> Motion:
        """X m, X = ^child X_parent."""
        rotate = self.rotation.T.apply
        return Motion(rotate(m.angular), rotate(m.linear + m.angular.cross(self.translation)))

    def motion_to_parent(self, m: Motion) -> Motion:
        """X^-1 m."""
        angular = self.rotation.apply(m.angular)
        return Motion(angular, self.rotation.apply(m.linear) + self.translation.cross(angular))

    def force_to_parent(self, f: Force) -> Force:
        """X^T f."""
        force = self.rotation.apply(f.force)
        return Force(self.rotation.apply(f.moment) + self.translation.cross(force), force)

    def force_to_child(self, f: Force) -> Force:
        """X^-T f."""
        rotate = self.rotation.T.apply
        return Force(rotate(f.moment - self.translation.cross(f.force)), rotate(f.force))


NO_TRANSFORM = Transform(IDENTITY, ZERO)
