"""Dynamics constrained by contacts, from M, J and the drift. The following equations are solved directly:

    M a + h = tau + J^T lambda,  J a + drift + mu lambda = 0,
    (J M^-1 J^T + mu 1) lambda = -drift - J M^-1 (tau - h)

Featherstone 2008, section 8.5; section 11.7 for impulses. On a `Model`, the textbook's algorithms give M, h,
J and the drift; on a `ReducedModel`, the algorithms on mass moments in chosen axes do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from rbdgen.functions.contacts import climbing
from rbdgen.functions.contacts.anchors import apart, pulled
from rbdgen.functions.contacts.multipliers import Multipliers, activity, softness
from rbdgen.functions.contacts.relative import contact_jacobian, contact_motion
from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.functions.inertia_matrix.inverse import factored
from rbdgen.functions.inertia_matrix.moments import crba_composite
from rbdgen.functions.inverse_dynamics.classical import rnea_classical
from rbdgen.functions.inverse_dynamics.newton_euler import rnea
from rbdgen.functions.resistance import model_of
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import LDL
from rbdgen.spatial.rows import Rows, times, transposed
from rbdgen.spatial.scalar import Scalar, add, dot, mul, neg, sub
from rbdgen.sweeps.inputs import State

Robot: TypeAlias = Model | ReducedModel


def delassus(robot: Robot, x: State) -> Rows:
    """J M^-1 J^T."""
    return multipliers(inertia(robot, x), jacobian(robot, x)).G(x.naming)


def contact_dynamics(robot: Robot, x: State, *, anchored: bool = False) -> tuple[list[Scalar], list[Scalar]]:
    """a of the independent degrees of freedom, and lambda. With `anchored`, the contacts are anchored."""
    model, M = model_of(robot), inertia(robot, x)
    u = [sub(t, b) for t, b in zip(x.tau, bias(robot, x), strict=True)]
    J, weights = jacobian(robot, x), activity(model.contacts, x)
    velocity, drift = motion(robot, x)
    wanted = list(map(neg, drift))
    if anchored:
        pull = pulled(x, apart(model, x.q, x.arrays["anchor"]), velocity)
        wanted = [add(a, b) for a, b in zip(pull, wanted, strict=True)]
    right = [mul(w, value) for w, value in zip(weights, wanted, strict=True)]
    return pushed(model, x, M, weighted(weights, J), right, u)


def contact_impulse(robot: Robot, x: State) -> tuple[list[Scalar], list[Scalar]]:
    """The velocity after an impulse, and the impulse, such that J v_plus = -restitution J v."""
    model, M = model_of(robot), inertia(robot, x)
    (restitution,) = x.arrays["restitution"]
    v, back = list(x.v[: model.coupling.independent]), neg(add(1, restitution))
    J = weighted(activity(model.contacts, x), jacobian(robot, x))
    right = [mul(back, dot(row, v)) for row in J]
    change, impulse = pushed(model, x, M, J, right, [0] * len(v))
    return [add(a, b) for a, b in zip(v, change, strict=True)], impulse


def pushed(
    model: Model, x: State, M: LDL, J: Rows, right: Sequence[Scalar], u: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """M^-1 (u + J^T lambda) and lambda, where lambda is such that J times the former is `right`, except for
    the compliance of contacts.
    """
    soft = softness(model.contacts, x)
    system, rates = multipliers(M, J), M.scale(M.back_substitute(u))
    forces = system.forces(system.factored(soft, x.naming), right, rates, x.naming)
    pushes = times(transposed(J), forces)
    return M.solve([add(a, b) for a, b in zip(u, pushes, strict=True)]), forces


def inertia(robot: Robot, x: State) -> LDL:
    """The factor of M over the independent degrees of freedom."""
    if isinstance(robot, ReducedModel):
        return factored(robot.model, crba_composite(robot, x.q, x.naming), x.naming)
    return factored(robot, crba(robot, x.q, x.naming), x.naming)


def bias(robot: Robot, x: State) -> list[Scalar]:
    """h over the independent degrees of freedom."""
    still = [0] * len(x.v)
    if isinstance(robot, ReducedModel):
        return robot.model.coupling.folded(rnea_classical(robot, x.q, x.v, still, None, x.naming))
    return robot.coupling.folded(rnea(robot, x.q, x.v, still, None, x.naming))


def jacobian(robot: Robot, x: State) -> Rows:
    """J over the independent degrees of freedom."""
    if isinstance(robot, ReducedModel):
        return list(map(robot.model.coupling.folded, climbing.contact_jacobian(robot, x.q)))
    return list(map(robot.coupling.folded, contact_jacobian(robot, x.q, x.naming)))


def motion(robot: Robot, x: State) -> tuple[list[Scalar], list[Scalar]]:
    """J v and the drift."""
    if isinstance(robot, ReducedModel):
        return climbing.contact_motion(robot, x)
    return contact_motion(robot, x.q, x.v, x.naming)


def multipliers(M: LDL, J: Rows) -> Multipliers:
    """The multipliers for all rows of J."""
    return Multipliers([dict(enumerate(M.back_substitute(row))) for row in J], M.inverse_diagonal)


def weighted(weights: Sequence[Scalar], J: Rows) -> Rows:
    """Multiply every row by its weight."""
    return [[mul(w, value) for value in row] for w, row in zip(weights, J, strict=True)]
