"""The rate of change of the torques of inverse dynamics along a direction (q_dot, v_dot, a_dot).

All quantities are in the axes of their body, in which S and the moments are constant, and d denotes a rate of
change along the direction. (phi, lam) is S q_dot and (w_J, u) is S v. A prime marks a quantity of the parent
in the body's axes. All other symbols are those of `classical.py`. Instead of dwdot, a body hands on g = dwdot
- w x dw:

    dw = dw' + w' x phi + dw_J
    g  = g' - U'^T phi + (2 dw - dw_J) x w_J + dwdot_J
       = g' - U^T phi + 2 dw' x w_J + dwdot_J, if the joint has one axis
    dU = [g x] + 2 [w x][dw x]
    da = da' + dU' p + a' x phi + U' lam + 2 (dw - dw_J) x u + 2 w' x du + dw_J x u + w_J x du + dudot

where a' is taken at the body's origin. The force that a joint hands on turns with the joint, so its rate is
df + (phi, lam) x* f. Differentiation of the straight-line code would take more operations, namely for dwdot
and for the sums w dw^T + dw w^T in dU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rbdgen.functions.inverse_dynamics.classical import (
    BodyMotion,
    acceleration_matrix,
    carried,
    entry_by_entry,
    inertial_force,
    inverse_dynamics,
)
from rbdgen.functions.resistance import by_acceleration, by_position, by_velocity, terms_of
from rbdgen.model.model import WORLD
from rbdgen.model.reduce import ReducedBody, ReducedModel
from rbdgen.signature import DOT
from rbdgen.spatial.ops import ZERO, Force, Matrix, Motion, Vector
from rbdgen.spatial.scalar import Scalar, add, mul
from rbdgen.sweeps.bodies import along_joint, force_to_parent, relative_motion
from rbdgen.sweeps.inputs import Lanes, State, external_forces, on_bodies
from rbdgen.sweeps.records import named
from rbdgen.sweeps.straight import Straight, straight

SLOPES = {"q": by_position, "v": by_velocity, "a": by_acceleration}
"""The partial derivatives of joint resistance with respect to q, v and a."""


class JointMotion(NamedTuple):
    """S v, and S q_dot, S v_dot and S a_dot for the direction, in a body's axes."""

    velocity: Motion
    step: Motion
    velocity_rate: Motion
    acceleration_rate: Motion


@dataclass(frozen=True)
class MotionRate:
    """The rate of change of a body's motion, in its axes: da, 2 dw and g = dwdot - w x dw. `w` is the angular
    velocity of the body.
    """

    a: Vector
    twice_w: Vector
    g: Vector
    w: Vector

    @cached_property
    def U(self) -> Matrix:
        return acceleration_matrix(self.g, self.w, self.twice_w)

    @property
    def squares(self) -> Vector:
        return entry_by_entry(self.w, self.twice_w)


def torque_rates(reduced: ReducedModel, x: State) -> list[Scalar]:
    """tau_dot of tau = ID(q, v, a, fext) over the independent degrees of freedom, in N m/s or N/s.

    x.arrays has `q_dot` (in the tangent space), `v_dot`, `a_dot` and `fext_dot`, as far as they are inputs.
    """
    sweeps = straight(reduced, x)
    sweeps.run(*inverse_dynamics(bool(x.v), bool(x.a), x.fext is not None))
    return reduced.model.coupling.folded(rates_at(reduced, x, sweeps))


def rates_at(reduced: ReducedModel, x: State, sweeps: Straight) -> list[Scalar]:
    """The rates of the torques over all degrees of freedom. `sweeps` must have computed the `motion` of every
    body, and the `force` on its subtree.
    """
    bodies, values, still = sweeps.bodies, sweeps.values, [0] * reduced.nv
    along = {of: reduced.model.coupling.extended(x.arrays[of + DOT]) for of in SLOPES if of + DOT in x.arrays}
    joints = [
        JointMotion(
            *(
                relative_motion(body, body.joint.slice(rates))
                for rates in (x.v or still, *(along.get(of, still) for of in SLOPES))
            )
        )
        for body in bodies
    ]
    world = BodyMotion(sweeps.world.upward, ZERO, ZERO), MotionRate(ZERO, ZERO, ZERO, ZERO)
    rates: list[MotionRate] = []
    for i, (body, joint) in enumerate(zip(bodies, joints, strict=True)):
        above, above_rate = (
            world if body.parent == WORLD else (values["motion"][body.parent], rates[body.parent])
        )
        rate = motion_rate(body, above, above_rate, values["motion"][i], joint)
        rates.append(named(MotionRate, rate, x.naming, f"motion_rate[{i}]"))
    forces = [inertial_force(body.moments, rate) for body, rate in zip(bodies, rates, strict=True)]
    if f"fext{DOT}" in x.arrays:
        given = on_bodies(reduced.model, external_forces(x.arrays[f"fext{DOT}"]))
        taken = reduced.external_forces(bodies, given) or ()
        forces = [own - other for own, other in zip(forces, taken, strict=True)]
    tau_dot = handed_on(bodies, values["force"], forces, [joint.step for joint in joints], x.lanes)
    for of, term in SLOPES.items():
        if of in along:
            slopes = terms_of(reduced.model, term, x)
            tau_dot = [add(t, mul(k, rate)) for t, k, rate in zip(tau_dot, slopes, along[of], strict=True)]
    return tau_dot


def motion_rate(
    body: ReducedBody, above: BodyMotion, above_rate: MotionRate, motion: BodyMotion, joint: JointMotion
) -> MotionRate:
    """The rate of a body's motion from that of its parent."""
    a, w, wdot = carried(body, above)
    velocity, step, dv, da = joint
    to_child = body.rotation.to_child
    handed = to_child(above_rate.twice_w)
    before = handed + w.cross(step.angular * 2)
    twice_w = before + dv.angular * 2
    if len(body.subspace) == 1:
        U, turning = motion.U, handed
    else:
        U, turning = acceleration_matrix(wdot, w, w), twice_w - dv.angular
    return MotionRate(
        to_child(above_rate.a + above_rate.U.apply(body.translation))
        + a.cross(step.angular)
        + U.apply(step.linear)
        + before.cross(velocity.linear)
        + w.cross(dv.linear * 2)
        + dv.angular.cross(velocity.linear)
        + velocity.angular.cross(dv.linear)
        + da.linear,
        twice_w,
        to_child(above_rate.g) - U.T.apply(step.angular) + turning.cross(velocity.angular) + da.angular,
        motion.w,
    )


def handed_on(
    bodies: Sequence[ReducedBody],
    force: Sequence[Force],
    rates: list[Force],
    steps: Sequence[Motion],
    lanes: Lanes,
) -> list[Scalar]:
    """The rates of all torques S^T f. `force` has the force on the subtree of each body, and `rates` the rate
    of the force on each body alone.
    """
    tau_dot: list[Scalar] = [0] * sum(body.joint.nv for body in bodies)
    for i in reversed(range(len(bodies))):
        body = bodies[i]
        for k, rate in enumerate(along_joint(body, rates[i]), body.joint.idx_v):
            tau_dot[k] = rate
        if body.parent != WORLD:
            turning = rates[i] + steps[i].cross_force(force[i])
            rates[body.parent] += lanes.handed_on(Force, force_to_parent(body, turning), i, body.parent)
    return tau_dot
