"""A step of inverse kinematics: damped least squares with limits of the joints.

The error of a frame is that of its position and of its attitude, in the axes of the frame:

    e = [R^T (p* - p); 2 sin(angle / 2) axis of R^T R*]

The second part is the rotation vector to third order, and it has no direction only at half a turn. With the
local Jacobian J of all frames and weights W of the joints, the step

    dq = W J^T (J W J^T + ik_damping 1)^-1 e

is the one of Wampler, IEEE SMC 1986, and of Nakamura and Hanafusa, 1986. W is the identity except for joints
that are at a limit and that the descent direction J^T e pushes beyond it; these do not move, as in the
projected Newton method of Bertsekas, SIAM J. Control and Optimization 1982. Finally, joints that would pass
a limit stop there. All operations are fixed; iterations are the user's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rbdgen.functions.configurations.manifold import joints_of
from rbdgen.functions.contacts.multipliers import Multipliers
from rbdgen.functions.form import Outputs
from rbdgen.functions.kinematics.placement import FromRoot, in_world
from rbdgen.functions.operational.frames import jacobian_rows, paths_of
from rbdgen.functions.resistance import model_of
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import ldl
from rbdgen.spatial.ops import Matrix, Transform, Vector
from rbdgen.spatial.rows import times, transposed
from rbdgen.spatial.scalar import Scalar, add, maximum, mul, neg, reciprocal, select, sqrt, sub
from rbdgen.sweeps.inputs import State

AT_LIMIT: Final = 1e-6
"""The distance from a limit, in rad or m, below which a joint is at the limit."""

HALF_TURN: Final = 1e-12
"""The least 1 + cos of the angle of an error, so that half a turn does not divide by zero."""


def frame_ik_step(robot: Model | ReducedModel, x: State) -> Outputs:
    """dq and e."""
    model = model_of(robot)
    error = _errors(robot, x)
    J = jacobian_rows(robot, paths_of(robot, x, "local"))
    gradient = times(transposed(J), error)
    rooms = list(_rooms(model, x))
    weights = [1 if room is None else _weight(g, *room) for g, room in zip(gradient, rooms, strict=True)]
    system = Multipliers([dict(enumerate(row)) for row in J], weights)
    G, (damping,) = system.G(x.naming), x.arrays["ik_damping"]
    for k, row in enumerate(G):
        row[k] = add(row[k], damping)
    z = ldl(G, naming=x.naming).solve(error)
    step = map(mul, weights, times(transposed(J), z))
    dq = [own if room is None else _clamped(own, *room) for own, room in zip(step, rooms, strict=True)]
    return [dq, error]


def _placements(robot: Model | ReducedModel, x: State) -> list[Transform]:
    if isinstance(robot, Model):
        return in_world(robot, x.q, x.naming)[1]
    return FromRoot.at(robot, x.q, x.naming).placements()


def _errors(robot: Model | ReducedModel, x: State) -> list[Scalar]:
    """e of all frames."""
    R_target, p_target = x.arrays["R_target"], x.arrays["p_target"]
    found: list[Scalar] = []
    for k, (R, p) in enumerate(_placements(robot, x)):
        nine = R_target[9 * k : 9 * k + 9]
        wanted = Matrix(*(Vector(*nine[i : i + 3]) for i in (0, 3, 6)))
        away = R.T.apply(Vector(*p_target[3 * k : 3 * k + 3]) - p)
        found += [*away, *_turn(R.T @ wanted)]
    return found


def _turn(R: Matrix) -> Vector:
    """2 sin(angle / 2) axis of a rotation.

    The skew part of R is sin(angle) axis, and sin(angle) = 2 sin(angle / 2) cos(angle / 2).
    """
    twice_sine = Vector(sub(R[2].y, R[1].z), sub(R[0].z, R[2].x), sub(R[1].x, R[0].y))
    # tr R + 1 = 2 (1 + cos(angle)) = 4 cos(angle / 2)^2
    cosine = maximum(add(R.trace(), 1), 2 * HALF_TURN)
    turn: Vector = twice_sine * reciprocal(sqrt(cosine))
    return turn


def _rooms(model: Model, x: State) -> Iterator[tuple[Scalar, Scalar] | None]:
    """For every independent degree of freedom, the distances to its lower and its upper limit. None for those
    of joints with several coordinates.
    """
    lower, upper = x.arrays["q_lower"], x.arrays["q_upper"]
    for joint in joints_of(model):
        k = joint.idx_q
        one: tuple[Scalar, Scalar] | None = None
        if joint.nq == 1:
            one = sub(lower[k], x.positions[k]), sub(upper[k], x.positions[k])
        yield from [one] * joint.nv


def _weight(g: Scalar, below: Scalar, above: Scalar) -> Scalar:
    """0 for a joint at the limit to which g points, else 1."""
    room: Scalar = select(0, g, above, neg(below))
    return select(room, AT_LIMIT, 0, 1)


def _clamped(step: Scalar, below: Scalar, above: Scalar) -> Scalar:
    """The step, no further than to the limits."""
    most: Scalar = select(above, step, above, step)
    return maximum(most, below)
