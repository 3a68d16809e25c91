"""Soles: the corners of a foot as points with friction on the six rows of its frame.

A corner with the arm r from the point of the frame has the velocity v + w x r. Along the axes of its plane,
which are the rows of E, this is P (v, w) with P = E [1, -r x]. With G of the frames alone,

    c = P G P^T lambda + R lambda + P g + b

There are more corners than rows, so only the compliance R makes the impulses unique. In the natural map, R
belongs to a corner by itself: with A = D + R W, in blocks of 3 x 3, and dy = P^T dlambda, the equations dF =
right are

    A dlambda + W P G dy = right
    (1 + Q G) dy = P^T A^-1 right,  Q = P^T M P,  M = A^-1 W
    dlambda = A^-1 right - M P G dy

so six rows of a foot are eliminated in place of three for each corner (Woodbury, Inverting modified matrices,
1950).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rbdgen.functions.friction.cone import Cone
from rbdgen.functions.friction.linear import Equations, of_cone
from rbdgen.spatial.ops import Matrix, Vector
from rbdgen.spatial.rows import Rows, block_diagonal, times, transposed
from rbdgen.spatial.scalar import Scalar, add, neg, sub

CERTAINTY: Final = 16
"""The steps of the natural map of corners in Newton steps, relative to r. Larger ones change fewer modes
wrongly.
"""

FRAME_ROWS: Final = 6
"""The number of rows of a sole."""

NUMBERS: Final = 12
"""The number of numbers of an `Arm`."""


class Arm(NamedTuple):
    """P of a corner."""

    axes: Matrix
    """E: the axes of the corner's plane, by rows."""
    arm: Vector
    """r: the corner, from the point of the frame."""

    @classmethod
    def of(cls, numbers: Sequence[Scalar]) -> Arm:
        """P from its numbers, row by row and then r."""
        x, y, z, arm = (Vector(*numbers[k : k + 3]) for k in range(0, NUMBERS, 3))
        return cls(Matrix(x, y, z), arm)

    @property
    def numbers(self) -> list[Scalar]:
        return [*(value for row in self.axes for value in row), *self.arm]

    def moving(self, rows: Sequence[Scalar]) -> Vector:
        """The velocity of the corner, from that of the frame, in axes of the frame's rows."""
        v, w = Vector(*rows[:3]), Vector(*rows[3:])
        return v + w.cross(self.arm)

    def velocity(self, rows: Sequence[Scalar]) -> list[Scalar]:
        """P times the velocity of the frame."""
        return list(self.axes.apply(self.moving(rows)))

    def force(self, impulse: Sequence[Scalar]) -> list[Scalar]:
        """P^T times an impulse: the impulse on the frame and its moment."""
        f = self.axes.T.apply(Vector(*impulse))
        return [*f, *self.arm.cross(f)]

    def congruence(self, M: Rows) -> Rows:
        """P^T M P."""
        own = self.axes.T @ Matrix(*(Vector(*row) for row in M)) @ self.axes
        turned = Matrix(*(self.arm.cross(row) for row in own))  # -own [r x]
        parts = ((own, turned), (self._lever(own), self._lever(turned)))
        return [[*a, *b] for left, right in parts for a, b in zip(left, right, strict=True)]

    def _lever(self, matrix: Matrix) -> Matrix:
        """[r x] times a matrix."""
        return Matrix(*(self.arm.cross(column) for column in matrix.T)).T


def spread(arms: Sequence[Arm], rows: Sequence[Scalar]) -> list[Scalar]:
    """The velocities of corners, from that of their frame."""
    return [value for arm in arms for value in arm.velocity(rows)]


def gathered(arms: Sequence[Arm], impulses: Sequence[Scalar]) -> list[Scalar]:
    """The impulse on a frame and its moment, from the impulses of its corners."""
    return summed([arm.force(impulses[3 * k : 3 * k + 3]) for k, arm in enumerate(arms)])


def summed(vectors: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """The sum of vectors."""
    first, *others = vectors
    found = list(first)
    for other in others:
        found = [add(*pair) for pair in zip(found, other, strict=True)]
    return found


class Compliance(NamedTuple):
    """R of a corner, in 1/kg."""

    tangential: Scalar
    normal: Scalar

    @property
    def rows(self) -> tuple[Scalar, Scalar, Scalar]:
        """R of every row."""
        return self.tangential, self.tangential, self.normal


class Corner(NamedTuple):
    """A corner of a sole in the equations of a step."""

    arm: Arm
    bias: Scalar
    """b of the law of its normal row."""
    compliance: Compliance


class Response(NamedTuple):
    """The velocities that the impulse of a corner causes along the axes of its plane."""

    rows: Rows
    """The velocities of the frame, G P^T, 6 x 3."""
    own: Rows
    """The velocities of the corner, P G P^T, 3 x 3."""

    @classmethod
    def of(cls, arm: Arm, G: Rows) -> Response:
        """The response of a corner, with the part of G that belongs to its sole."""
        rows = [arm.velocity(row) for row in G]
        return cls(rows, transposed([arm.velocity(column) for column in zip(*rows, strict=True)]))

    def softened(self, compliance: Compliance) -> Rows:
        """P G P^T + R."""
        return [
            [add(value, compliance.rows[i]) if i == j else value for j, value in enumerate(row)]
            for i, row in enumerate(self.own)
        ]


class Alone(NamedTuple):
    """The equations of a corner with its compliance alone."""

    own: Equations
    inverse: Rows
    """A^-1."""
    M: Rows
    """A^-1 W."""

    @classmethod
    def of(
        cls, own: Cone, steps: Sequence[Scalar], mu: Scalar, damping: Scalar, compliance: Compliance
    ) -> Alone:
        """The equations of a corner. A is inverted in closed form: its tangential part is 1 - p T with the
        derivative T = kappa (1 - s h h^T) of the disc, where h is the direction and s is 1 if it slides.
        """
        tangential, _, normal = steps
        rest = sub(1, damping)
        a = 1 / (1 - sub(rest, compliance.tangential * tangential) * own.kappa)
        n = 1 / (1 - sub(rest, compliance.normal * normal) * own.on)
        x, y = h = own.direction
        along, tilt = own.slides * (1 - a), mu * own.held * own.slides
        H = ((x * x, x * y), (x * y, y * y))
        inverse = [
            [add(a if i == j else 0, along * H[i][j]) for j in (0, 1)] + [tilt * h[i] * n] for i in (0, 1)
        ]
        scale, pressed = tangential * own.kappa * a, normal * own.on * n
        M = [
            [scale * sub(int(i == j), own.slides * H[i][j]) for j in (0, 1)] + [tilt * h[i] * pressed]
            for i in (0, 1)
        ]
        equations = of_cone(own, steps, mu, damping)
        return cls(equations, [*inverse, [0, 0, n]], [*M, [0, 0, pressed]])


@dataclass(frozen=True)
class OfSole(Equations):
    """The equations of a sole, condensed to its rows. D and W are 1 and Q."""

    arms: Sequence[Arm]
    corners: Sequence[Alone]

    def condensed(self, right: Sequence[Scalar]) -> list[Scalar]:
        return gathered(self.arms, by_corner([x.inverse for x in self.corners], right))

    def impulses(
        self, right: Sequence[Scalar], rows: Sequence[Scalar], velocities: Sequence[Scalar]
    ) -> list[Scalar]:
        del rows
        alone = by_corner([x.inverse for x in self.corners], right)
        less = by_corner([x.M for x in self.corners], spread(self.arms, velocities))
        return [sub(*pair) for pair in zip(alone, less, strict=True)]

    def bars(self, bar: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        back = gathered(self.arms, by_corner([transposed(x.M) for x in self.corners], bar))
        return [0] * FRAME_ROWS, list(map(neg, back))

    def right_bar(self, bar: Sequence[Scalar], condensed: Sequence[Scalar]) -> list[Scalar]:
        whole = [add(*pair) for pair in zip(bar, spread(self.arms, condensed), strict=True)]
        return by_corner([transposed(x.inverse) for x in self.corners], whole)

    @property
    def by_velocity(self) -> Rows:
        return block_diagonal([x.own.W for x in self.corners])

    @property
    def slopes(self) -> Rows:
        columns = [
            arm.force(column)
            for arm, x in zip(self.arms, self.corners, strict=True)
            for column in zip(*x.M, strict=True)
        ]
        return transposed([*columns, *transposed(self.W)])


def of_sole(arms: Sequence[Arm], corners: Sequence[Alone]) -> OfSole:
    """The equations of a sole, from those of its corners."""
    parts = [arm.congruence(own.M) for arm, own in zip(arms, corners, strict=True)]
    Q = [summed(rows) for rows in zip(*parts, strict=True)]
    one = [[int(i == j) for j in range(FRAME_ROWS)] for i in range(FRAME_ROWS)]
    return OfSole(one, Q, arms, corners)


def by_corner(matrices: Sequence[Rows], values: Sequence[Scalar]) -> list[Scalar]:
    """The products of a matrix for each corner and its own three values."""
    return [x for k, matrix in enumerate(matrices) for x in times(matrix, values[3 * k : 3 * k + 3])]
