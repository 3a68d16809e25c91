"""A guarded Newton step for the impulses of all contacts.

The derivative of the natural map F (see `cone.py`) is N = D + W G, where D is its derivative by the
impulses at fixed velocities, and W that by the velocities, with c = G lambda + g. The step -N^-1 F is exact
if no contact changes its mode. It is shortened to the factor with the least |F|^2 among a few, or left out
if none makes |F| smaller. N is eliminated without pivots; a step that is not finite is not taken, because
no comparison with NaN is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rbdgen.functions.friction.cone import Cone, Scale, cone
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, dot, mul, select, sub

TRIES: Final = (1, 0.5, 0.25, 0.1)
"""The factors of the step that are tried."""


@dataclass(frozen=True)
class Block:
    """The rows of one contact: three with friction, or those of a bilateral contact."""

    first: int
    size: int
    number: int | None
    """The number of a contact with friction among all of these; None for a bilateral contact."""

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.size)


@dataclass(frozen=True)
class Problem:
    """The impulses lambda of all contacts, with velocities c = G lambda + g."""

    blocks: Sequence[Block]
    G: Rows
    g: Sequence[Scalar]
    mu: Sequence[Scalar]
    """The coefficients of friction."""
    steps: Sequence[Scalar]
    """The numbers r of the natural map, one for each row; the two tangential ones of a contact are equal."""
    smoothing: Scalar
    """4 sigma."""

    def velocities(self, impulses: Sequence[Scalar]) -> list[Scalar]:
        """G lambda + g."""
        return [add(own, dot(row, list(impulses))) for own, row in zip(self.g, self.G, strict=True)]

    def natural_map(self, impulses: Sequence[Scalar], velocities: Sequence[Scalar]) -> list[Cone | None]:
        """The natural map of every contact with friction, and None for bilateral contacts."""
        found: list[Cone | None] = []
        for block in self.blocks:
            own = None
            if block.number is not None:
                tangential, _, normal = self.steps[block.rows]
                scale = Scale(tangential, normal, mul(self.smoothing, normal))
                mu = self.mu[block.number]
                own = cone(impulses[block.rows], velocities[block.rows], mu, scale)
            found.append(own)
        return found

    def values(self, cones: Sequence[Cone | None], velocities: Sequence[Scalar]) -> list[Scalar]:
        """F. For a bilateral contact it is r c."""
        found: list[Scalar] = []
        for block, own in zip(self.blocks, cones, strict=True):
            moving = zip(self.steps[block.rows], velocities[block.rows], strict=True)
            found += [mul(*pair) for pair in moving] if own is None else own.F
        return found

    def slopes(self, cones: Sequence[Cone | None]) -> list[Slopes]:
        """The derivative of the natural map of every contact."""
        return [
            _of_joint(self.steps[block.rows])
            if own is None or block.number is None
            else _of_cone(own, self.steps[block.rows], self.mu[block.number])
            for block, own in zip(self.blocks, cones, strict=True)
        ]

    def derivative(self, slopes: Sequence[Slopes]) -> Rows:
        """N = D + W G."""
        found: Rows = []
        for block, own in zip(self.blocks, slopes, strict=True):
            columns = list(zip(*self.G[block.rows], strict=True))
            rows = [[dot(row, list(column)) for column in columns] for row in own.W]
            for row, entries in zip(rows, own.D, strict=True):
                row[block.rows] = [add(*pair) for pair in zip(row[block.rows], entries, strict=True)]
            found += rows
        return found


class Slopes(NamedTuple):
    """The derivative of the natural map of one contact: dF = D dlambda + W dc, square matrices by rows."""

    D: Rows
    W: Rows


def _of_joint(steps: Sequence[Scalar]) -> Slopes:
    size = range(len(steps))
    return Slopes(
        [[0] * len(steps) for _ in size], [[r if i == j else 0 for j in size] for i, r in enumerate(steps)]
    )


def _of_cone(own: Cone, steps: Sequence[Scalar], mu: Scalar) -> Slopes:
    """The derivative for a contact with friction; T is the derivative of the disc."""
    (x, y), sliding = own.direction, mul(own.kappa, own.slides)
    T = ((own.kappa - sliding * x * x, -sliding * x * y), (-sliding * x * y, own.kappa - sliding * y * y))
    tilt = mu * own.held * own.slides
    D = [[int(i == j) - T[i][j] for j in (0, 1)] + [-(tilt * own.direction[i])] for i in (0, 1)]
    W = [[steps[0] * value for value in row] + [0] for row in T]
    return Slopes([*D, [0, 0, 1 - own.on]], [*W, [0, 0, own.on * steps[2]]])


def factored(N: Rows) -> Rows:
    """L and U of N = L U, by elimination without pivots: L below the diagonal, U above, and the inverses of
    the diagonal of U on it.
    """
    rows = [list(row) for row in N]
    for k, pivot in enumerate(rows):
        pivot[k] = 1 / pivot[k]
        for row in rows[k + 1 :]:
            row[k] = row[k] * pivot[k]
            for j in range(k + 1, len(rows)):
                row[j] = row[j] - row[k] * pivot[j]
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


def newton_step(problem: Problem, impulses: Sequence[Scalar]) -> list[Scalar]:
    """The impulses after a guarded step."""
    velocities = problem.velocities(impulses)
    cones = problem.natural_map(impulses, velocities)
    F = problem.values(cones, velocities)
    d = [-value for value in solved(problem.derivative(problem.slopes(cones)), F)]
    dc = [dot(row, d) for row in problem.G]
    least, taken = dot(F, F), 0
    for factor in TRIES:
        moved, faster = _along(impulses, d, factor), _along(velocities, dc, factor)
        F = problem.values(problem.natural_map(moved, faster), faster)
        size = dot(F, F)
        taken = select(size, least, factor, taken)
        least = select(size, least, size, least)
    return [add(x, select(0, taken, taken * dx, 0)) for x, dx in zip(impulses, d, strict=True)]


def _along(x: Sequence[Scalar], d: Sequence[Scalar], factor: Scalar) -> list[Scalar]:
    return [add(a, mul(factor, b)) for a, b in zip(x, d, strict=True)]
