"""Derivatives of a step with frictional contacts.

At the impulses lambda of the step, let f = lambda / dt, a = (v_next - v) / dt, and let ID_u be the derivative
of inverse dynamics with respect to u at fixed a and f. With the equations of `implicit.py` for dlambda,

    x = dv - dt M^-1 (ID_q dq + ID_v dv - dtau)
    dlambda = -S (J x + C_q dq + C_v dv) - N^-1 F_mu dmu,    S = N^-1 W
    dv_next = x + M^-1 J^T dlambda

where C_q and C_v are the derivatives of J v_next + b at fixed v_next, and R does not change. This is the
system of Carpentier, Budhiraja and Mansard, RSS 2021, for contacts that stick, slide or are open.

The linear velocity of a floating base changes the base's own vdot alone, see `derivatives/known_columns.py`.
With the derivative s of this part of vdot, dt s dv is added to x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rbdgen.functions.derivatives.forward import add_base_velocity
from rbdgen.functions.derivatives.solved import torque_derivatives
from rbdgen.functions.form import Outputs, flat
from rbdgen.functions.friction.directions import (
    BY_Q,
    BY_TAU,
    BY_V,
    INVERSE,
    PUSHES,
    SPEEDS,
    TORQUE_Q,
    TORQUE_V,
    TURNS,
)
from rbdgen.functions.friction.factored import OnFactor
from rbdgen.functions.friction.ground import slopes_of_bias
from rbdgen.functions.friction.mobility import mobilities
from rbdgen.functions.friction.resisted import without_dry_friction
from rbdgen.functions.friction.step import Step
from rbdgen.functions.inertia_matrix.inverse import inverse
from rbdgen.functions.trajectories.steps import ByState, in_state_space, plus, times
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.rows import Rows, transposed
from rbdgen.spatial.rows import times as matrix_times
from rbdgen.spatial.scalar import Scalar, add, mul, neg
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays


class DerivativesOfStep:
    """The derivatives of a step at a state: first `step.problem`, then `linearised`, with the impulses that
    solve the problem, and at last `matrices`, with the derivatives of v_next.
    """

    def __init__(self, reduced: ReducedModel, x: State) -> None:
        self.reduced, self.x = reduced, x
        self.step: Step[OnFactor] = Step(reduced, x, OnFactor, mobilities(reduced))
        nv = reduced.model.coupling.independent
        self._left: Rows = [[0] * nv for _ in range(nv)]
        for body in reduced.model.bodies:
            if body.floats:
                add_base_velocity(body.joint, x.v, self._left)

    def linearised(self, impulses: Sequence[Scalar]) -> Arrays:
        """The arrays that `directions.py` reads."""
        contacts, dt = self.step.contacts, self.step.dt
        rate, rows = 1 / dt, self.step.on_rows(impulses)
        accelerations = plus(contacts.free.accelerations, contacts.caused(rows), rate)
        by_q, by_v = self._torques(times(impulses, rate), accelerations)
        turns, speeds = self._velocities(contacts.moved(rows, dt), impulses)
        return {
            INVERSE: [mul(dt, value) for value in flat(inverse(contacts.free.factor))],
            PUSHES: flat(contacts.pushes),
            TORQUE_Q: flat(by_q),
            TORQUE_V: flat(by_v),
            TURNS: flat(turns),
            SPEEDS: flat(speeds),
        }

    def _torques(self, forces: Sequence[Scalar], a: Sequence[Scalar]) -> tuple[Rows, Rows]:
        """ID_q and ID_v."""
        model, contacts, rest = self.reduced.model, self.step.contacts, iter(forces)
        taken = []
        for touch in contacts.touches:
            own = [next(rest) for _ in range(touch.contact.rows)]
            taken.append(touch.six.torque_derivatives(touch.on_six(own), model.nv))
        x = replace(self.x, v=contacts.free.v, a=model.coupling.extended(a), arrays={})
        return torque_derivatives(without_dry_friction(self.reduced), x, taken)

    def _velocities(self, v_next: Sequence[Scalar], impulses: Sequence[Scalar]) -> tuple[Rows, Rows]:
        """C_q and H."""
        contacts, extended = self.step.contacts, self.reduced.model.coupling.extended

        def turning(v: Sequence[Scalar]) -> Rows:
            return contacts.folded(contacts.touches, lambda touch: touch.six.velocity_derivatives(v))

        by_q, before = turning(extended(v_next)), turning(self.x.v)
        J, approaches = contacts.J_of_impulses, self.step.approaches
        slips = (matrix_times(transposed(self._left), row) for row in J)
        by_v = [plus(row, slip, self.step.dt) for row, slip in zip(J, slips, strict=True)]
        for number, own in (touch for block in self.step.solver.blocks for touch in block.touches):
            k, normal = own.stop - 1, J[own.stop - 1]
            by_gap, by_before = slopes_of_bias(self.step.law, approaches[number])
            changed = zip(by_q[k], normal, before[k], strict=True)
            by_q[k] = [add(value, add(mul(by_gap, n), mul(by_before, turn))) for value, n, turn in changed]
            by_v[k] = plus(by_v[k], normal, by_before)
        return by_q + self._turns_of_joints(v_next, impulses), by_v

    def _turns_of_joints(self, v_next: Sequence[Scalar], impulses: Sequence[Scalar]) -> Rows:
        """C_q of joints with limits or dry friction: a joint at a limit has c = low or c = high."""
        model, found = self.reduced.model, list[list[Scalar]]()
        modes = self.step.held(v_next, impulses)
        for joint, mode, slopes in zip(model.held_joints, modes, self.step.slopes_of_bounds, strict=True):
            row: list[Scalar] = [0] * model.coupling.independent
            row[joint.idx_v] = neg(add(mul(mode.at_low, slopes.low), mul(mode.at_high, slopes.high)))
            found.append(row)
        return found

    def matrices(self, impulses: Sequence[Scalar], found: ByState) -> Outputs:
        """A and B, from the derivatives of v_next by rows, less the terms that are added here."""
        dt = self.step.dt
        by_v = [plus(*rows, dt) for rows in zip(found.v, self._left, strict=True)]
        for k, row in enumerate(by_v):
            row[k] = add(row[k], 1)
        u = times(self.step.contacts.moved(self.step.on_rows(impulses), dt), dt)
        return [
            flat(part)
            for part in in_state_space(self.reduced.model, u, dt, found._replace(v=by_v), self.x.elementary)
        ]


def by_state(arrays: Arrays, nv: int) -> ByState:
    """The derivatives of v_next by rows, from the arrays that `directions.py` gives."""
    return ByState(
        *([list(arrays[name][k : k + nv]) for k in range(0, nv * nv, nv)] for name in (BY_Q, BY_V, BY_TAU))
    )
