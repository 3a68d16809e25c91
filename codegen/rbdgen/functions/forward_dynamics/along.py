"""The rate of change of forward dynamics along a direction (q_dot, v_dot, tau_dot):

    a_dot = M^-1 (tau_dot - dID)

where dID is the rate of change of the torques of inverse dynamics at constant a. The motion at a is the
motion for which the bias forces are computed, plus the change of acceleration from the last sweep of forward
dynamics. The sweeps of forward dynamics, without bias forces, also compute the product of M^-1 and tau_dot -
dID. The articulated-body inertias are known already.
"""

from __future__ import annotations

from dataclasses import replace

from rbdgen.functions.articulated.step import ACCELERATIONS, ARTICULATED, forward_dynamics
from rbdgen.functions.inverse_dynamics.along import rates_at
from rbdgen.functions.inverse_dynamics.classical import HAND_ON, BodyMotion, inertial_force
from rbdgen.functions.resistance import less
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ops import NO_FORCE, Force
from rbdgen.spatial.scalar import Scalar, sub
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.straight import straight


def acceleration_rates(reduced: ReducedModel, x: State) -> list[Scalar]:
    """a_dot of a = FD(q, v, tau, fext), in rad/s^3 or m/s^3.

    x.arrays has `q_dot` (in the tangent space), `v_dot`, `tau_dot` and `fext_dot`, as far as they are inputs.
    """
    sweeps = straight(reduced, replace(x, tau=less(reduced.model, x)))
    values = sweeps.run(*forward_dynamics(x.fext is not None))
    values["motion"] = [
        BodyMotion(motion.a + change.linear, motion.w, motion.wdot + change.angular)
        for motion, change in zip(values["motion"], values["change"], strict=True)
    ]
    external = sweeps.fext or [NO_FORCE] * reduced.nbodies
    values["force"] = [
        inertial_force(body.moments, motion) - taken
        for body, motion, taken in zip(sweeps.bodies, values["motion"], external, strict=True)
    ]
    sweeps.run(HAND_ON)
    rates = zip(x.arrays["tau_dot"], rates_at(reduced, x, sweeps), strict=True)
    solving = straight(reduced, replace(x, tau=[sub(*both) for both in rates], fext=None))
    solving.values["force"] = [NO_FORCE] * reduced.nbodies
    solving.kinds["force"] = Force
    found: list[Scalar] = solving.run(ARTICULATED, ACCELERATIONS)["a"]
    return found
