"""Rotations given by unit quaternions (x, y, z, w)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, TypeAlias

from rbdgen.spatial.ops import Matrix, Vector, mirrored
from rbdgen.spatial.scalar import Scalar, add, dot, is_number, mul, neg, sub

HALF: Final = Fraction(1, 2)

Quaternion: TypeAlias = tuple[Scalar, Scalar, Scalar, Scalar]


class KnownRotation(tuple[Scalar, Scalar, Scalar, Scalar]):
    """A quaternion whose rotation matrix is known and is used instead of one computed from its elements."""

    matrix: Matrix

    def __new__(cls, quaternion: Quaternion, matrix: Matrix) -> KnownRotation:
        self = super().__new__(cls, quaternion)
        self.matrix = matrix
        return self


def rotation_of(quaternion: Quaternion) -> Matrix:
    """The rotation matrix of a quaternion (x, y, z, w), which must have unit length: it is not normalised."""
    if isinstance(quaternion, KnownRotation):
        return quaternion.matrix
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


def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """The quaternion product: the rotation b, followed by the rotation a."""
    (*_, s), (*_, t) = a, b
    u, v = Vector(*a[:3]), Vector(*b[:3])
    x, y, z = v * s + u * t + u.cross(v)
    return x, y, z, sub(mul(s, t), u.dot(v))


def conjugate(quaternion: Quaternion) -> Quaternion:
    """The inverse of a unit quaternion."""
    x, y, z, w = quaternion
    return neg(x), neg(y), neg(z), w


def unit(quaternion: Quaternion, sqrt: Callable[[Scalar], Scalar]) -> Quaternion:
    """The quaternion scaled to unit length."""
    inverse = 1 / sqrt(dot(quaternion, quaternion))
    x, y, z, w = (mul(element, inverse) for element in quaternion)
    return x, y, z, w


def rates_of(quaternion: Quaternion, w: Vector) -> Quaternion:
    """The rates of the elements at an angular velocity in the rotated axes."""
    return product(quaternion, (*(w * HALF), 0))


def turning_of(quaternion: Quaternion, rates: Quaternion) -> Vector:
    """The angular velocity in the rotated axes at these rates of the elements."""
    x, y, z, _ = product(conjugate(quaternion), rates)
    return Vector(x, y, z) * 2


def at_unit_length(quaternion: Quaternion, rates: Quaternion) -> Quaternion:
    """The rates of a unit quaternion without their part along it, which would change its length."""
    along = dot(quaternion, rates)
    x, y, z, s = (sub(rate, mul(own, along)) for own, rate in zip(quaternion, rates, strict=True))
    return x, y, z, s


@dataclass(frozen=True)
class QuaternionRotation:
    """A factor of a `FactoredRotation`: the rotation of a unit quaternion, or its inverse."""

    quaternion: Quaternion
    inverted: bool = False

    is_identity = False

    @cached_property
    def matrix(self) -> Matrix:
        """The rotation matrix R."""
        R = rotation_of(self.quaternion)
        return R.T if self.inverted else R

    @property
    def inverse(self) -> QuaternionRotation:
        return QuaternionRotation(self.quaternion, not self.inverted)

    def apply(self, v: Vector) -> Vector:
        """R v. For a vector of known numbers, such as gravity, the entries of R are not needed."""
        turned = isinstance(self.quaternion, KnownRotation) or not all(map(is_number, v))
        return self.matrix.apply(v) if turned else self._known(v)

    def _known(self, u: Vector) -> Vector:
        """u + 2 (r (r.u) - |r|^2 u + s r x u), where r is the vector and s the scalar of the quaternion."""
        x, y, z, s = self.quaternion
        s = s if self.inverted else neg(s)
        r, twice = (x, y, z), u * 2

        def entry(k: int) -> Scalar:
            m, n = (k + 1) % 3, (k + 2) % 3
            total = sub(u[k], mul(twice[k], add(mul(r[m], r[m]), mul(r[n], r[n])))) if u[k] != 0 else 0
            total = add(total, mul(twice[m], add(mul(r[k], r[m]), mul(s, r[n]))))
            return add(total, mul(twice[n], sub(mul(r[k], r[n]), mul(s, r[m]))))

        return Vector(entry(0), entry(1), entry(2))

    def symmetric(self, A: Matrix) -> Matrix:
        """R A R^T for a symmetric A. A_zz times the identity is invariant, and the trace gives the last
        entry.
        """
        R, zz = self.matrix, A[2].z
        xx, yy = sub(A[0].x, zz), sub(A[1].y, zz)
        rest = mirrored([[xx, A[0].y, A[0].z], [0, yy, A[1].z], [0, 0, 0]])
        half = [rest.apply(R[i]) for i in range(2)]
        a, b, c = (half[0].dot(R[j]) for j in range(3))
        d, e = (half[1].dot(R[j]) for j in (1, 2))
        f = sub(sub(add(xx, yy), a), d)
        return mirrored([[add(a, zz), b, c], [0, add(d, zz), e], [0, 0, add(f, zz)]])

    def general(self, A: Matrix) -> Matrix:
        """R A R^T for any A."""
        return self.matrix @ A @ self.matrix.T
