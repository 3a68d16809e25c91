"""Functions of a user's own as they are written in CasADi, from the traces of rbdgen's functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi
from casadi import SX
from support.own import ARM, QUADRUPED, ekf, reach, running

import rbdgen
from rbdgen.model.robot import Robot
from rbdgen.own.text import OwnFunction


def symbols(**shapes: int | tuple[int, int]) -> list[Any]:
    """A symbol of a vector or a matrix for every name."""
    return [SX.sym(name, *([shape] if isinstance(shape, int) else shape)) for name, shape in shapes.items()]


def function(name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """The `casadi.Function` of expressions, with dense outputs."""
    return casadi.Function(name, list(inputs), [casadi.densify(x) for x in outputs])


def operations(f: Any) -> int:
    """The operations of a function of SX expressions."""
    free = {casadi.OP_CONST, casadi.OP_INPUT, casadi.OP_OUTPUT}
    return sum(f.instruction_id(k) not in free for k in range(f.n_instructions()))


def _traces(robot: Robot, *names: str) -> list[Any]:
    return [rbdgen.trace(robot, name) for name in names]


def _traced(robot: Robot, own: OwnFunction, inputs: Sequence[Any]) -> Any:
    """The outputs of the trace of an own function, which takes matrices as vectors, row after row."""
    return rbdgen.trace(robot, own)(*(casadi.vec(x.T) for x in inputs))


def reach_of_parts() -> Any:
    """`reach`, with the inverse of a matrix of 3 x 3 by CasADi."""
    names = "frame_jacobian_aligned", "frame_placement", "minv", "nle", "frame_drift_aligned"
    jacobian, placement, minv, nle, drift = _traces(ARM, *names)
    q, v, target, gains = inputs = symbols(q=7, v=7, target=3, gains=2)
    J, p = jacobian(q)[:3, :], casadi.vec(placement(q)[1])
    wanted = gains[0] * (target - p) - gains[1] * casadi.mtimes(J, v) - casadi.vec(drift(q, v))[:3]
    force = casadi.mtimes(casadi.inv(casadi.mtimes([J, minv(q), J.T])), wanted)
    return function("casadi_parts", inputs, [casadi.mtimes(J.T, force) + nle(q, v)])


def reach_of_text() -> Any:
    """`reach`, with the operations that rbdgen finds."""
    inputs = symbols(q=7, v=7, target=3, gains=2)
    return function("casadi_text", inputs, [_traced(ARM, reach, inputs)])


def _cost_inputs() -> list[Any]:
    vectors = symbols(q=19, v=18, a_joints=12, f=12, x_ref=3)
    return [*vectors, *symbols(feet_ref=(4, 3), h_ref=6, w=5, cost_bar=1)]


def _gradient(name: str, inputs: Sequence[Any], cost: Any) -> Any:
    weighted = inputs[-1] * cost
    return function(name, inputs, [casadi.gradient(weighted, x) for x in inputs[:4]])


def cost_of_parts() -> Any:
    """The gradient of the running cost."""
    com, placement, momentum, dynamics = _traces(
        QUADRUPED, "com", "frame_placement", "centroidal_momentum", "contact_rnea"
    )
    inputs = q, v, a, f, x_ref, feet_ref, h_ref, w, _ = _cost_inputs()
    tau, base = dynamics(q, v, a, f)
    errors = [
        casadi.vec(com(q)) - x_ref,
        casadi.vec(placement(q)[1]) - casadi.vec(feet_ref),
        casadi.vec(momentum(q, v)) - h_ref,
        casadi.vec(tau),
        casadi.vec(base),
    ]
    cost = sum(w[k] * casadi.dot(error, error) for k, error in enumerate(errors))
    return _gradient("casadi_parts", inputs, cost)


def cost_of_text() -> Any:
    """The gradient of the running cost, which itself has the operations that rbdgen finds."""
    inputs = _cost_inputs()
    return _gradient("casadi_text", inputs, _traced(QUADRUPED, running, inputs[:-1]))


def _filter_inputs() -> list[Any]:
    return symbols(q=7, v=7, tau=7, dt=1, P=(14, 14), noise=14)


def filter_of_parts() -> Any:
    """The filter, whose symmetric matrix is read from its lower triangle."""
    step, derivatives = _traces(ARM, "step", "step_derivatives")
    inputs = q, v, tau, dt, P, noise = _filter_inputs()
    A = derivatives(q, v, tau, dt)[0]
    P_next = casadi.mtimes([A, casadi.tril2symm(casadi.tril(P)), A.T]) + casadi.diag(noise)
    return function("casadi_parts", inputs, [*step(q, v, tau, dt), P_next])


def filter_of_text() -> Any:
    """The filter, with the operations that rbdgen finds."""
    inputs = _filter_inputs()
    return function("casadi_text", inputs, _traced(ARM, ekf, inputs))
