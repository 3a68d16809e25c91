"""The derivative N of the natural map, and linear equations with it.

For dF = D dlambda + W dc, with D and W for each contact by itself, N = D + W G. A sole has fewer rows than
impulses, so its equations are first condensed to its rows, see `sole.py`; those of other contacts stay as
they are. N is eliminated without pivots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rbdgen.functions.friction.cone import Cone
from rbdgen.functions.friction.layout import Block
from rbdgen.spatial.rows import Rows, times, transposed
from rbdgen.spatial.scalar import Scalar, add, dot, mul, sub


@dataclass(frozen=True)
class Equations:
    """The derivative of the natural map of one contact: dF = D dlambda + W dc, square matrices by rows."""

    D: Rows
    W: Rows

    def condensed(self, right: Sequence[Scalar]) -> list[Scalar]:
        """The right-hand side for the rows, from that for the impulses."""
        return list(right)

    def impulses(
        self, right: Sequence[Scalar], rows: Sequence[Scalar], velocities: Sequence[Scalar]
    ) -> list[Scalar]:
        """dlambda, from the right-hand side, the solution along the rows, and the velocities that it causes
        there.
        """
        del right, velocities
        return list(rows)

    def bars(self, bar: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """The adjoints of `rows` and `velocities` of `impulses`, from that of dlambda."""
        return list(bar), [0] * len(bar)

    def right_bar(self, bar: Sequence[Scalar], condensed: Sequence[Scalar]) -> list[Scalar]:
        """The adjoint of the right-hand side, from those of dlambda and of the condensed right-hand side."""
        del bar
        return list(condensed)

    @property
    def by_velocity(self) -> Rows:
        """W over the impulses."""
        return self.W

    @property
    def slopes(self) -> Rows:
        """The condensed right-hand side W c by c and, for a sole, by the velocities of its rows too."""
        return self.W


def of_joint(steps: Sequence[Scalar], damping: Scalar) -> Equations:
    """The equations of a bilateral contact, F = r c."""
    size = range(len(steps))
    D = [[damping if i == j else 0 for j in size] for i in size]
    return Equations(D, [[r if i == j else 0 for j in size] for i, r in enumerate(steps)])


def of_bounded(free: Scalar, step: Scalar) -> Equations:
    """The equations of a joint with limits or dry friction, F = r (c - P(c - lambda / r)), where `free` is
    the derivative of P.
    """
    return Equations([[free]], [[mul(step, sub(1, free))]])


def of_cone(own: Cone, steps: Sequence[Scalar], mu: Scalar, damping: Scalar) -> Equations:
    """The equations of a point with friction, where T is the derivative of the disc.

    D + damping W / r takes the place of D.
    """
    (x, y), sliding = own.direction, mul(own.kappa, own.slides)
    T = ((own.kappa - sliding * x * x, -sliding * x * y), (-sliding * x * y, own.kappa - sliding * y * y))
    tilt, less = mu * own.held * own.slides, sub(1, damping)
    D = [
        [sub(int(i == j), mul(less, T[i][j])) for j in (0, 1)] + [-(tilt * own.direction[i])] for i in (0, 1)
    ]
    W = [[steps[0] * value for value in row] + [0] for row in T]
    return Equations([*D, [0, 0, 1 - mul(less, own.on)]], [*W, [0, 0, own.on * steps[2]]])


class Solution(NamedTuple):
    """The solution of linear equations with N."""

    rows: list[Scalar]
    """The impulses along the rows of G."""
    velocities: list[Scalar]
    """The velocities that they cause along the rows."""
    each: list[Scalar]
    """dlambda."""


@dataclass(frozen=True)
class Linear:
    """Linear equations with N, from those of every contact."""

    blocks: Sequence[Block]
    G: Rows
    equations: Sequence[Equations]

    @cached_property
    def N(self) -> Rows:
        """D + W G over the rows of G."""
        found: Rows = []
        for block, own in zip(self.blocks, self.equations, strict=True):
            columns = list(zip(*self.G[block.rows], strict=True))
            rows = [[dot(row, list(column)) for column in columns] for row in own.W]
            for row, entries in zip(rows, own.D, strict=True):
                row[block.rows] = [add(*pair) for pair in zip(row[block.rows], entries, strict=True)]
            found += rows
        return found

    def condensed(self, right: Sequence[Scalar]) -> list[Scalar]:
        """The right-hand side for the rows of G."""
        found: list[Scalar] = []
        for block, own in zip(self.blocks, self.equations, strict=True):
            found += own.condensed(right[block.impulses])
        return found

    def solve(self, right: Sequence[Scalar]) -> Solution:
        """N^-1 right."""
        rows = solved(self.N, self.condensed(right))
        velocities, each = times(self.G, rows), list[Scalar]()
        for block, own in zip(self.blocks, self.equations, strict=True):
            each += own.impulses(right[block.impulses], rows[block.rows], velocities[block.rows])
        return Solution(rows, velocities, each)

    def solve_transposed(self, right: Sequence[Scalar]) -> list[Scalar]:
        """N^-T right."""
        rows: list[Scalar] = []
        moving: list[Scalar] = []
        for block, own in zip(self.blocks, self.equations, strict=True):
            direct, by_velocity = own.bars(right[block.impulses])
            rows, moving = [*rows, *direct], [*moving, *by_velocity]
        rows = [add(*pair) for pair in zip(rows, times(self.G, moving), strict=True)]  # G is symmetric
        condensed, found = solved(transposed(self.N), rows), list[Scalar]()
        for block, own in zip(self.blocks, self.equations, strict=True):
            found += own.right_bar(right[block.impulses], condensed[block.rows])
        return found

    def by_velocity(self, values: Sequence[Scalar], *, adjoint: bool = False) -> list[Scalar]:
        """W values or, for the adjoint, W^T values."""
        found: list[Scalar] = []
        for block, own in zip(self.blocks, self.equations, strict=True):
            W = transposed(own.by_velocity) if adjoint else own.by_velocity
            found += times(W, values[block.impulses])
        return found


def factored(N: Rows) -> Rows:
    """L and U of N = L U, by elimination without pivots: L below the diagonal, U above, and the inverses of
    the diagonal of U on it.
    """
    rows = [list(row) for row in N]
    for k, pivot in enumerate(rows):
        pivot[k] = 1 / pivot[k]
        for row in rows[k + 1 :]:
            row[k] = mul(row[k], pivot[k])
            for j in range(k + 1, len(rows)):
                row[j] = sub(row[j], mul(row[k], pivot[j]))
    return rows


def substituted(factors: Rows, right: Sequence[Scalar]) -> list[Scalar]:
    """N^-1 right, from the factors of N."""
    x, n = list(right), len(factors)
    for i, row in enumerate(factors):
        for k in range(i):
            x[i] = sub(x[i], mul(row[k], x[k]))
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            x[k] = sub(x[k], mul(factors[k][j], x[j]))
        x[k] = mul(x[k], factors[k][k])
    return x


def solved(N: Rows, right: Sequence[Scalar]) -> list[Scalar]:
    """N^-1 right, by elimination without pivots."""
    return substituted(factored(N), right)
