"""The impulses of the corners of one sole if those of all other contacts are known, approximately.

The corners take turns (Gauss-Seidel): the impulse of a corner is projected on its cone, first its normal part
and then its friction. A few rounds find out which corners are open, stick and slide. As corners push on
one another through the foot, this converges slowly, so a guarded Newton step for the whole foot follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rbdgen.functions.friction.cone import shrunk
from rbdgen.functions.friction.newton import Impulses, Problem, newton_step
from rbdgen.functions.friction.sole import Response, gathered
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


def impulses_of_sole(
    problem: Problem, responses: Sequence[Response], before: Impulses, damping: Scalar
) -> Impulses:
    """The impulses of a sole.

    Args:
        problem: the equations of the sole, with the impulses of all other contacts in g.
        responses: what the impulse of each corner causes.
        before: the impulses from which it starts.
        damping: the damping of the Newton step.
    """
    each = list(before.each)
    rows = [add(own, x) for own, x in zip(problem.g, times(problem.G, before.rows), strict=True)]
    for _ in range(ROUNDS):
        for k, (corner, response) in enumerate(zip(problem.corners, responses, strict=True)):
            own = slice(3 * k, 3 * k + 3)
            c = [
                add(v, mul(corner.compliance, x))
                for v, x in zip(corner.arm.velocity(rows), each[own], strict=True)
            ]
            c[2] = add(c[2], corner.bias)
            steps = [mul(CAUTION, r) for r in problem.steps[own]]
            after = projected(response.softened(corner.compliance), c, each[own], problem.mu[k], steps)
            change = [sub(*pair) for pair in zip(after, each[own], strict=True)]
            rows = [add(*pair) for pair in zip(rows, times(response.rows, change), strict=True)]
            each[own] = after
    arms = [corner.arm for corner in problem.corners]
    return newton_step(problem, Impulses(gathered(arms, each), each), damping)


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
