"""Articulated-body inertia and its factor at a joint (Featherstone 2008, section 7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdgen.model.inertia import Inertia, added_symmetric
from rbdgen.spatial.ldl import LDL, ldl
from rbdgen.spatial.ops import NO_FORCE, Force, Matrix, Motion, Symmetric, Transform, Vector, mirrored
from rbdgen.spatial.scalar import Scalar, add, is_number, is_zero, mul, sub


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """The symmetric 6 x 6 matrix [[A, B], [B^T, C]] from motion (angular, linear) to force (moment,
    force).
    """

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
        return ArticulatedInertia(
            added_symmetric(self.A, other.A), self.B + other.B, added_symmetric(self.C, other.C)
        )

    def apply(self, m: Motion) -> Force:
        return Force(
            self.A.apply(m.angular) + self.B.apply(m.linear),
            self.B.T.apply(m.angular) + self.C.apply(m.linear),
        )

    def transformed(self, placement: Transform) -> ArticulatedInertia:
        """The inertia in the parent frame, X^T I X: rotated by R, then translated by p."""
        R, p = placement
        turned = ArticulatedInertia(R.congruence(self.A), R @ self.B @ R.T, R.congruence(self.C))
        return turned.translated(p)

    def translated(self, p: Vector) -> ArticulatedInertia:
        """The inertia in a parallel frame, in which the old origin is at p.

        A' = A + [p x] B^T - (B + [p x] C) [p x], B' = B + [p x] C, C' = C.
        """
        A, B, C = self.A, self.B, self.C
        skew = Matrix.skew(p)
        moved_B = B + skew @ C
        added = skew @ B.T - moved_B @ skew
        moved_A = mirrored([[add(A[i][j], added[i][j]) if j >= i else 0 for j in range(3)] for i in range(3)])
        return ArticulatedInertia(moved_A, moved_B, C)


@dataclass(frozen=True)
class JointFactor:
    """U = IA S, and the factors of S^T U + A = L^T D L at one joint. IA is the articulated-body inertia.

    `D` has both factors, and A is the diagonal matrix of `armature`. With V = U L^-1 the degrees of freedom
    are decoupled: U (S^T U + A)^-1 U^T is the sum of v_k v_k^T / D_k. For a joint with one degree of freedom
    V = U.
    """

    S: tuple[Motion, ...]
    U: tuple[Force, ...]
    D: LDL
    armature: tuple[Scalar, ...]

    @cached_property
    def V(self) -> tuple[Force, ...]:
        """U L^-1, one force per degree of freedom."""
        rows = [self.D.back_substitute(row) for row in zip(*map(_components, self.U), strict=True)]
        return tuple(_force(column) for column in zip(*rows, strict=True))

    @cached_property
    def scaled(self) -> list[Force]:
        """V D^-1."""
        return [V * inverse for V, inverse in zip(self.V, self.D.inverse_diagonal, strict=True)]

    @property
    def lower(self) -> list[Scalar]:
        """L below its diagonal, row by row."""
        return [row[j] for i, row in enumerate(self.D.lower) for j in range(i)]

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """(S^T U + A)^-1 right."""
        return self.D.solve(right)

    def decoupled(self, right: Sequence[Scalar]) -> list[Scalar]:
        """z = D^-1 L^-T right. Then U (S^T U + A)^-1 right = V z, and (S^T U + A)^-1 right = L^-1 z."""
        return self.D.scale(self.D.back_substitute(right))

    def force(self, u: Sequence[Scalar]) -> Force:
        """U (S^T U + A)^-1 u."""
        return combination(self.U, self.solve(u))

    def _moved_with_rotors(self) -> Sequence[Scalar] | None:
        """The columns of Ia along S: 0 without rotors, U D^-1 A for one coordinate axis; None in other
        cases.
        """
        if all(map(is_zero, self.armature)):
            return [0] * 6
        if len(self.S) > 1 or coordinate_components(self.S) is None:
            return None
        along = sum((*self.S[0].angular, *self.S[0].linear))  # 1 or -1 for a coordinate axis
        return [mul(mul(along, self.armature[0]), entry) for entry in _components(self.scaled[0])]

    def project(self, inertia: ArticulatedInertia) -> ArticulatedInertia:
        """Ia = IA - U (S^T U + A)^-1 U^T: the inertia that the parent feels through the joint.

        Ia S = U (S^T U + A)^-1 A, so without rotors the rows and columns along coordinate axes are exactly
        zero.
        """
        moved = self._moved_with_rotors()
        free = [] if moved is None else coordinate_components(self.S) or []
        pairs = [(_components(scaled), _components(V)) for scaled, V in zip(self.scaled, self.V, strict=True)]

        def entry(M: Matrix, i: int, j: int, row: int, column: int) -> Scalar:
            if moved is not None and (row + i in free or column + j in free):
                return moved[row + i if column + j in free else column + j]
            value = M[i][j]
            for scaled, V in pairs:
                value = sub(value, mul(scaled[row + i], V[column + j]))
            return value

        def block(M: Matrix, row: int, column: int) -> list[list[Scalar]]:
            return [[entry(M, i, j, row, column) for j in range(3)] for i in range(3)]

        return ArticulatedInertia(
            mirrored(block(inertia.A, 0, 0)),
            Matrix(*(Vector(*row) for row in block(inertia.B, 0, 3))),
            mirrored(block(inertia.C, 3, 3)),
        )


def coordinate_components(S: Sequence[Motion]) -> list[int] | None:
    """The only nonzero component (angular, linear) of each column of S if it is +-1; None in other cases."""
    found = []
    for column in S:
        known = [k for k, value in enumerate((*column.angular, *column.linear)) if not is_zero(value)]
        value = (*column.angular, *column.linear)[known[0]] if len(known) == 1 else 0
        if not is_number(value) or abs(value) != 1:
            return None
        found += known
    return found


def combination(forces: Sequence[Force], weights: Sequence[Scalar]) -> Force:
    """The sum of forces times their weights."""
    total = NO_FORCE
    for force, weight in zip(forces, weights, strict=True):
        total = total + force * weight
    return total


def _components(force: Force) -> tuple[Scalar, ...]:
    return (*force.moment, *force.force)


def _force(components: Sequence[Scalar]) -> Force:
    return Force(Vector(*components[:3]), Vector(*components[3:]))


def factor_joint(
    inertia: ArticulatedInertia, S: tuple[Motion, ...], armature: tuple[Scalar, ...]
) -> JointFactor:
    """U and D of a joint with any number of degrees of freedom, such as a floating base with six."""
    U = tuple(inertia.apply(column) for column in S)
    power = [[row.dot(column) for column in U] for row in S]
    for k, rotor in enumerate(armature):
        power[k][k] = add(power[k][k], rotor)
    return JointFactor(S, U, ldl(power), armature)
