"""Articulated-body inertia and its factor at a joint (Featherstone 2008, section 7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdgen.model.inertia import Inertia
from rbdgen.spatial.ldl import LDL, ldl
from rbdgen.spatial.ops import NO_FORCE, Force, Matrix, Motion, Symmetric, Transform, Vector, mirrored
from rbdgen.spatial.scalar import Scalar, add, mul, sub


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """The symmetric 6 x 6 [[A, B], [B^T, C]] from motion (angular, linear) to force (moment, force)."""

    A: Symmetric
    B: Matrix
    C: Symmetric

    @staticmethod
    def of(inertia: Inertia) -> ArticulatedInertia:
        m = inertia.mass
        return ArticulatedInertia(
            inertia.rotational, Matrix.skew(inertia.first_moment), Matrix.diagonal(m, m, m)
        )

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(_symmetric(self.A, other.A), self.B + other.B, _symmetric(self.C, other.C))

    def apply(self, m: Motion) -> Force:
        return Force(
            self.A.apply(m.angular) + self.B.apply(m.linear),
            self.B.T.apply(m.angular) + self.C.apply(m.linear),
        )

    def transformed(self, placement: Transform) -> ArticulatedInertia:
        """Seen in the parent frame, X^T I X: turned by R, then moved by p."""
        R, p = placement
        turned = ArticulatedInertia(R.congruence(self.A), R @ self.B @ R.T, R.congruence(self.C))
        return turned.translated(p)

    def translated(self, p: Vector) -> ArticulatedInertia:
        """Seen in a parallel frame in which the old origin stands at p.

        A' = A + [p x] B^T - (B + [p x] C) [p x], B' = B + [p x] C, C' = C.
        """
        A, B, C = self.A, self.B, self.C
        skew = Matrix.skew(p)
        moved_B = B + skew @ C
        added = skew @ B.T - moved_B @ skew
        moved_A = mirrored([[add(A[i][j], added[i][j]) if j >= i else 0 for j in range(3)] for i in range(3)])
        return ArticulatedInertia(moved_A, moved_B, C)


@dataclass(frozen=True, slots=True)
class JointFactor:
    """U = IA S and D = S^T U of one joint, D factored."""

    S: tuple[Motion, ...]
    U: tuple[Force, ...]
    D: LDL

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """D^-1 right."""
        return self.D.solve(right)

    def force(self, u: Sequence[Scalar]) -> Force:
        """U D^-1 u."""
        total = NO_FORCE
        for U_k, rate in zip(self.U, self.solve(u), strict=True):
            total = total + U_k * rate
        return total

    @property
    def scaled(self) -> Force:
        """U D^-1 of a joint of one degree of freedom."""
        scaled: Force = self.U[0] * self.D.inverse_diagonal[0]
        return scaled

    def project(self, inertia: ArticulatedInertia) -> ArticulatedInertia:
        """Ia = IA - U D^-1 U^T: what the parent feels through the joint (one degree of freedom).

        Ia S = 0: along a coordinate axis that makes a row and a column of exact zeros.
        """
        (S,), (U,) = self.S, self.U
        scaled = self.scaled

        def entry(
            M: Matrix, i: int, j: int, left: Vector, right: Vector, free: tuple[Vector, Vector]
        ) -> Scalar:
            if free[0].coordinate_axis == i or free[1].coordinate_axis == j:
                return 0
            return sub(M[i][j], mul(left[i], right[j]))

        def block(M: Matrix, left: Vector, right: Vector, free: tuple[Vector, Vector]) -> list[list[Scalar]]:
            return [[entry(M, i, j, left, right, free) for j in range(3)] for i in range(3)]

        turning, sliding = S.angular, S.linear
        return ArticulatedInertia(
            mirrored(block(inertia.A, scaled.moment, U.moment, (turning, turning))),
            Matrix(*(Vector(*row) for row in block(inertia.B, scaled.moment, U.force, (turning, sliding)))),
            mirrored(block(inertia.C, scaled.force, U.force, (sliding, sliding))),
        )


def factor_joint(inertia: ArticulatedInertia, S: tuple[Motion, ...]) -> JointFactor:
    """U and D at a joint of any number of degrees of freedom; the base's 6 x 6 D by unrolled LDL^T."""
    U = tuple(inertia.apply(column) for column in S)
    return JointFactor(S, U, ldl([[row.dot(column) for column in U] for row in S]))


def _symmetric(a: Matrix, b: Matrix) -> Matrix:
    return mirrored([[add(a[i][j], b[i][j]) if j >= i else 0 for j in range(3)] for i in range(3)])
