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
from typing import Final

from rbdgen.functions.friction.cone import Cone, Scale, cone
from rbdgen.spatial.scalar import Scalar, add, dot, mul, select, sub

Rows = list[list[Scalar]]

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

    def derivative(self, cones: Sequence[Cone | None]) -> Rows:
        """N = D + W G."""
        found: Rows = []
        for block, own in zip(self.blocks, cones, strict=True):
            rows, steps = self.G[block.rows], self.steps[block.rows]
            if own is None:
                found += [[mul(r, value) for value in row] for r, row in zip(steps, rows, strict=True)]
                continue
            assert block.number is not None
            found += _rows_of_cone(own, rows, steps, self.mu[block.number], block.first)
        return found


def _rows_of_cone(own: Cone, G: Rows, steps: Sequence[Scalar], mu: Scalar, first: int) -> Rows:
    """The rows of N of a contact with friction; T is the derivative of the disc."""
    (x, y), sliding = own.direction, mul(own.kappa, own.slides)
    T = ((own.kappa - sliding * x * x, -sliding * x * y), (-sliding * x * y, own.kappa - sliding * y * y))
    scaled = ((steps[0] * p, steps[0] * s) for p, s in T)
    rows = [[p * a + s * b for a, b in zip(G[0], G[1], strict=True)] for p, s in scaled]
    pressing = own.on * steps[2]
    rows.append([pressing * value for value in G[2]])
    tilt = mu * own.on * own.slides
    at = range(first, first + 3)
    for i in (0, 1):
        for j in (0, 1):
            rows[i][at[j]] = rows[i][at[j]] + (int(i == j) - T[i][j])
        rows[i][at[2]] = rows[i][at[2]] - tilt * own.direction[i]
    rows[2][at[2]] = rows[2][at[2]] + (1 - own.on)
    return rows


def solved(N: Rows, right: Sequence[Scalar]) -> list[Scalar]:
    """N^-1 right, by elimination without pivots."""
    rows, x, inverse = [list(row) for row in N], list(right), []
    for k, pivot in enumerate(rows):
        inverse.append(1 / pivot[k])
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] * inverse[k]
            for j in range(k + 1, len(rows)):
                rows[i][j] = rows[i][j] - factor * pivot[j]
            x[i] = x[i] - factor * x[k]
    for k in reversed(range(len(rows))):
        for j in range(k + 1, len(rows)):
            x[k] = sub(x[k], mul(rows[k][j], x[j]))
        x[k] = mul(x[k], inverse[k])
    return x


def newton_step(problem: Problem, impulses: Sequence[Scalar]) -> list[Scalar]:
    """The impulses after a guarded step."""
    velocities = problem.velocities(impulses)
    cones = problem.natural_map(impulses, velocities)
    F = problem.values(cones, velocities)
    d = [-value for value in solved(problem.derivative(cones), F)]
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
