"""The impulses of the corners of one sole if those of all other contacts are known, approximately.

The corners take turns (Gauss-Seidel): the impulse of a corner is projected on its cone, first its normal part
and then its friction. A few rounds find out which corners are open, stick and slide. As corners push on
one another through the foot, this converges slowly, so a guarded Newton step for the whole foot follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rbdgen.functions.friction.cone import shrunk
from rbdgen.functions.friction.newton import Problem, newton_step
from rbdgen.functions.friction.sole import Corner, Response
from rbdgen.spatial.rows import Rows, times
from rbdgen.spatial.scalar import Scalar, add, maximum, mul, sub

ROUNDS: Final = 5
"""The number of rounds over the corners."""

PROJECTIONS: Final = 2
"""The number of projections of a corner in a round."""

CAUTION: Final = 0.8
"""The steps of projections, relative to r. Shorter ones converge more often where friction makes its own
normal impulse.
"""


class Turn(NamedTuple):
    """The result of the turn of a corner."""

    impulse: list[Scalar]
    velocities: list[Scalar]
    """The velocities of the frame along its rows."""


class Taken(NamedTuple):
    """All that the turn of a corner reads."""

    corner: Corner
    response: Response
    mu: Scalar
    steps: Sequence[Scalar]
    """The numbers r of the natural map."""
    before: Turn


def turn(x: Taken) -> Turn:
    """The impulse of a corner after its turn, and the velocity of the frame."""
    (impulse, rows), R = x.before, x.corner.compliance
    moving = zip(x.corner.arm.velocity(rows), R.rows, impulse, strict=True)
    c = [add(v, mul(soft, own)) for v, soft, own in moving]
    c[2] = add(c[2], x.corner.bias)
    found = projected(x.response.softened(R), c, impulse, x.mu, [mul(CAUTION, r) for r in x.steps])
    change = [sub(*pair) for pair in zip(found, impulse, strict=True)]
    return Turn(found, [add(*pair) for pair in zip(rows, times(x.response.rows, change), strict=True)])


def step_of_sole(
    problem: Problem, each: Sequence[Scalar], velocities: Sequence[Scalar], damping: Scalar
) -> list[Scalar]:
    """The impulses of the corners of one sole after a guarded Newton step.

    Args:
        problem: the equations of the sole. The impulses of other contacts count as constant.
        each: the impulses of its corners.
        velocities: the velocities of its frame along its rows.
        damping: the damping of the step.
    """
    c = problem.yielding(problem.felt(velocities), each, biased=True)
    change = newton_step(problem, each, c, damping)
    return [add(*pair) for pair in zip(each, change.each, strict=True)]


def projected(
    D: Rows, c: Sequence[Scalar], impulse: Sequence[Scalar], mu: Scalar, steps: Sequence[Scalar]
) -> list[Scalar]:
    """The impulse of a point after projections on its cone.

    Args:
        D: its block of G, 3 x 3.
        c: its velocity.
        impulse: its impulse before.
        mu: the coefficient of friction.
        steps: the steps of the projections.
    """
    (x, y, z), (u, w, n) = impulse, c
    (a, d, tilt), (_, b, lean), (_, _, normal) = D
    for _ in range(PROJECTIONS):
        pressing = maximum(z - steps[2] * n, 0)
        dz = pressing - z
        u, w = add(u, mul(tilt, dz)), add(w, mul(lean, dz))
        p, s = shrunk(x - steps[0] * u, y - steps[1] * w, mu * pressing)
        dx, dy = p - x, s - y
        u, w = u + a * dx + d * dy, w + d * dx + b * dy
        n = n + tilt * dx + lean * dy + normal * dz
        x, y, z = p, s, pressing
    return [x, y, z]
