"""Rotations about one coordinate axis, and products of them.

A rotation in factors of this kind rotates a vector with 4 multiplications and 2 additions per factor, whereas
a 3 x 3 matrix takes 9 and 6. Right angles, whose entries are exactly 0 and +-1, become signed permutations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

from rbdgen.spatial.ops import Matrix, Vector
from rbdgen.spatial.scalar import Scalar, add, is_number, is_zero, mul, neg, sub

X, Z = 0, 2


@dataclass(frozen=True, slots=True)
class PlanarRotation:
    """The rotation about coordinate axis `axis` by the angle with this cosine and sine."""

    axis: int
    cos: Scalar
    sin: Scalar

    @property
    def plane(self) -> tuple[int, int]:
        """The two axes of its plane; a positive angle rotates the first axis towards the second."""
        return (self.axis + 1) % 3, (self.axis + 2) % 3

    @property
    def inverse(self) -> PlanarRotation:
        return PlanarRotation(self.axis, self.cos, neg(self.sin))

    @property
    def is_identity(self) -> bool:
        return is_zero(self.sin) and is_number(self.cos) and self.cos == 1

    @property
    def is_right_angle(self) -> bool:
        """Whether it is a signed permutation, including the identity and the half turn."""
        return is_number(self.cos) and is_number(self.sin) and (self.cos == 0 or self.sin == 0)

    def apply(self, v: Vector) -> Vector:
        """R v."""
        if self.axis == Z:
            return Vector(*self._pair(v.x, v.y), v.z)
        if self.axis == X:
            return Vector(v.x, *self._pair(v.y, v.z))
        z, x = self._pair(v.z, v.x)
        return Vector(x, v.y, z)

    def symmetric(self, A: Matrix) -> Matrix:
        """R A R^T for a symmetric A; see `general`, with A_12 = A_21."""
        i, j = self.plane
        k = self.axis
        if self.is_right_angle:
            return self._permuted(A)
        c, s = self.cos, self.sin
        a, b, x = A[i][i], A[j][j], A[i][j]
        e = sub(mul(c, sub(a, b)), mul(mul(2, s), x))
        ce = mul(c, e)
        new_x = add(x, mul(s, e))
        ik, jk = self._pair(A[i][k], A[j][k])
        return _placed(i, j, k, (add(b, ce), new_x, ik), (new_x, sub(a, ce), jk), (ik, jk, A[k][k]))

    def general(self, A: Matrix) -> Matrix:
        """R A R^T for any A.

        In the plane, with e = c (A_11 - A_22) - s (A_12 + A_21), A_11' = A_22 + c e, A_22' = A_11 - c e,
        A_12' = A_12 + s e and A_21' = A_21 + s e. This takes four products instead of sixteen.
        """
        i, j = self.plane
        k = self.axis
        if self.is_right_angle:
            return self._permuted(A)
        c, s = self.cos, self.sin
        a, b, x, y = A[i][i], A[j][j], A[i][j], A[j][i]
        e = sub(mul(c, sub(a, b)), mul(s, add(x, y)))
        ce, se = mul(c, e), mul(s, e)
        ik, jk = self._pair(A[i][k], A[j][k])
        ki, kj = self._pair(A[k][i], A[k][j])
        return _placed(i, j, k, (add(b, ce), add(x, se), ik), (add(y, se), sub(a, ce), jk), (ki, kj, A[k][k]))

    def _pair(self, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
        c, s = self.cos, self.sin
        return sub(mul(c, x), mul(s, y)), add(mul(s, x), mul(c, y))

    def _permuted(self, A: Matrix) -> Matrix:
        """R A R^T for a right angle, where rotations of rows and columns take no operations."""
        half = [self.apply(column) for column in A.T]
        rows = Matrix(*half).T
        return Matrix(*(self.apply(row) for row in rows))


def _placed(
    i: int,
    j: int,
    k: int,
    row_i: tuple[Scalar, Scalar, Scalar],
    row_j: tuple[Scalar, Scalar, Scalar],
    row_k: tuple[Scalar, Scalar, Scalar],
) -> Matrix:
    """The matrix whose rows i, j, k are given with their columns in the order i, j, k."""
    rows: list[Vector] = [Vector()] * 3
    for index, row in ((i, row_i), (j, row_j), (k, row_k)):
        entries: list[Scalar] = [0] * 3
        entries[i], entries[j], entries[k] = row
        rows[index] = Vector(*entries)
    return Matrix(*rows)


class Factor(Protocol):
    """A rotation that can rotate vectors and matrices."""

    @property
    def inverse(self) -> Self: ...

    @property
    def is_identity(self) -> bool: ...

    def apply(self, v: Vector) -> Vector: ...

    def symmetric(self, A: Matrix) -> Matrix: ...

    def general(self, A: Matrix) -> Matrix: ...


@dataclass(frozen=True, slots=True)
class FactoredRotation:
    """A rotation R = R_1 R_2 ... R_n from a child's axes to its parent's.

    Its factors are planar rotations, or others such as that of a quaternion.
    """

    factors: tuple[Factor, ...] = ()

    @staticmethod
    def of(*factors: Factor) -> FactoredRotation:
        """The product of these factors, without identities."""
        return FactoredRotation(tuple(factor for factor in factors if not factor.is_identity))

    @property
    def inverse(self) -> FactoredRotation:
        return FactoredRotation(tuple(factor.inverse for factor in reversed(self.factors)))

    def to_parent(self, v: Vector) -> Vector:
        """R v."""
        for factor in reversed(self.factors):
            v = factor.apply(v)
        return v

    def to_child(self, v: Vector) -> Vector:
        """R^T v."""
        for factor in self.factors:
            v = factor.inverse.apply(v)
        return v

    def symmetric_to_parent(self, A: Matrix) -> Matrix:
        """R A R^T for a symmetric A."""
        for factor in reversed(self.factors):
            A = factor.symmetric(A)
        return A

    def general_to_parent(self, A: Matrix) -> Matrix:
        """R A R^T for any A."""
        for factor in reversed(self.factors):
            A = factor.general(A)
        return A
