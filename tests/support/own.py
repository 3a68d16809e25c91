"""Functions of a user's own on which tests run, and their operations."""

from __future__ import annotations

from typing import Any

import numpy as np

import rbdgen
from rbdgen.functions.composed import composed
from rbdgen.own.text import OwnFunction
from rbdgen.runtime import Library
from rbdgen.selection.axes import search
from rbdgen.selection.differentiate import Chooser

SHANKS = tuple(f"{end}_{side}_shank" for end in ("front", "hind") for side in ("left", "right"))

ARM = rbdgen.load_robot("arm7", frames=["link7"])

QUADRUPED = rbdgen.load_robot(
    "quadruped12",
    base="floating",
    frames=list(SHANKS),
    contacts=[rbdgen.Point(name, name, (0, 0, -0.2)) for name in SHANKS],
)


@rbdgen.function(inputs={"target": ("m", 3), "gains": ("1/s^2, 1/s", 2)}, outputs={"tau": "tau"})
def reach(robot: Any, q: Any, v: Any, target: Any, gains: Any) -> Any:
    """Operational-space control of the tool (Khatib 1987)."""
    J = robot.frame_jacobian_aligned(q)[0, :3]
    p = robot.frame_placement(q).p[0]
    drift = robot.frame_drift_aligned(q, v)[0, :3]
    wanted = gains[0] * (target - p) - gains[1] * (J @ v) - drift
    force = rbdgen.solve(J @ robot.minv(q) @ J.T, wanted)
    return J.T @ force + robot.nle(q, v)


@rbdgen.function(
    outputs={
        "M": rbdgen.Quantity("kg m^2", ("nv", "nv"), symmetric=True),
        "h": "tau",
        "J": ("1", "nc", "nv"),
        "c": ("m", 3),
    }
)
def terms(robot: Any, q: Any, v: Any) -> Any:
    """The terms of a whole-body controller."""
    return robot.crba(q), robot.nle(q, v), robot.contact_jacobian(q), robot.com(q)


def _held(unit: str, *shape: Any) -> rbdgen.Quantity:
    return rbdgen.Quantity(unit, shape, held=True)


@rbdgen.function(
    inputs={
        "a_joints": ("rad/s^2", 12),
        "f": ("N", 12),
        "x_ref": _held("m", 3),
        "feet_ref": _held("m", 4, 3),
        "h_ref": _held("kg m/s", 6),
        "w": rbdgen.Quantity("1", 5, held=True, range=(0, 1)),
    },
    outputs={"cost": "1"},
)
def running(
    robot: Any, q: Any, v: Any, a_joints: Any, f: Any, x_ref: Any, feet_ref: Any, h_ref: Any, w: Any
) -> Any:
    """A running cost of the quadruped."""
    e1 = robot.com(q) - x_ref
    e2 = (robot.frame_placement(q).p - feet_ref).ravel()
    e3 = robot.centroidal_momentum(q, v) - h_ref
    tau, base = robot.contact_rnea(q, v, a_joints, f)
    return w[0] * (e1 @ e1) + w[1] * (e2 @ e2) + w[2] * (e3 @ e3) + w[3] * (tau @ tau) + w[4] * (base @ base)


@rbdgen.function(outputs={"q_next": "q", "v_next": "v"})
def rk4(robot: Any, q: Any, v: Any, tau: Any, dt: Any) -> Any:
    """A step of Runge and Kutta on a robot whose configurations are a vector space."""
    a1 = robot.aba(q, v, tau)
    v2 = v + dt / 2 * a1
    a2 = robot.aba(robot.integrate(q, dt / 2 * v), v2, tau)
    v3 = v + dt / 2 * a2
    a3 = robot.aba(robot.integrate(q, dt / 2 * v2), v3, tau)
    v4 = v + dt * a3
    a4 = robot.aba(robot.integrate(q, dt * v3), v4, tau)
    q_next = robot.integrate(q, dt / 6 * ((v + v4) + 2 * (v2 + v3)))
    return q_next, v + dt / 6 * ((a1 + a4) + 2 * (a2 + a3))


@rbdgen.function(
    inputs={"P": rbdgen.Quantity("1", ("nx", "nx"), symmetric=True), "noise": ("1", "nx")},
    outputs={"q_next": "q", "v_next": "v", "P_next": ("1", "nx", "nx")},
)
def ekf(robot: Any, q: Any, v: Any, tau: Any, dt: Any, P: Any, noise: Any) -> Any:
    """The prediction of an extended Kalman filter."""
    q_next, v_next = robot.step(q, v, tau, dt)
    A = robot.step_derivatives(q, v, tau, dt).A
    return q_next, v_next, rbdgen.congruence(A, P) + np.diag(noise)


@rbdgen.function(
    outputs={
        "M": rbdgen.Quantity("kg m^2", ("nv", "nv"), symmetric=True),
        "h": "tau",
        "J": ("1", "nc", "nv"),
        "velocity": ("m/s", "nc"),
        "drift": ("m/s^2", "nc"),
        "c": ("m", 3),
        "J_com": ("m", 3, "nv"),
    }
)
def control_terms(robot: Any, q: Any, v: Any) -> Any:
    """Six functions of a whole-body controller, side by side."""
    J, J_com = robot.contact_jacobian(q), robot.com_jacobian(q)
    return robot.crba(q), robot.nle(q, v), J, *robot.contact_motion(q, v), robot.com(q), J_com


@rbdgen.function(outputs={"tau": "tau", "J": ("1", "nc", "nv"), "A": ("1", 6, "nv"), "c": ("m", 3)})
def momentum_terms(robot: Any, q: Any, v: Any, a: Any) -> Any:
    """Four functions of a planner by momenta, side by side."""
    return robot.rnea(q, v, a), robot.contact_jacobian(q), robot.centroidal_matrix(q), robot.com(q)


_REFERENCE = {
    "wanted": rbdgen.Quantity("rad", "nv", held=True),
    "gains": rbdgen.Quantity("1/s^2, 1/s", 2, held=True),
}


@rbdgen.function(inputs=_REFERENCE, outputs={"a": "a"})
def closed_loop(robot: Any, q: Any, v: Any, wanted: Any, gains: Any) -> Any:
    """The acceleration under a controller of joints."""
    return robot.aba(q, v, gains[0] * (wanted - q) - gains[1] * v)


@rbdgen.function(inputs=_REFERENCE, outputs={"tau": "tau"})
def computed_torque(robot: Any, q: Any, v: Any, wanted: Any, gains: Any) -> Any:
    """The torques of a controller of accelerations."""
    return robot.rnea(q, v, gains[0] * (wanted - q) - gains[1] * v)


@rbdgen.function(outputs={"q_next": "q", "v_next": "v"})
def motor_step(robot: Any, q: Any, v: Any, tau: Any, dt: Any) -> Any:
    """A step with motors whose largest torque falls with the speed."""
    most = np.maximum(60 - 4 * abs(v), 0)
    return robot.step(q, v, np.clip(tau, -most, most) - 0.1 * np.tanh(v), dt)


COUNTED = [
    (reach, ARM, 1329),
    (running, QUADRUPED, 2735),
    (control_terms, QUADRUPED, 2590),
    (momentum_terms, QUADRUPED, 2496),
    (rk4, ARM, 2844),
    (ekf, ARM, 11073),
]
"""Functions, robots and the operations that they take."""

JACOBIANS = [
    (reach, 10058),
    (closed_loop, 3551),
    (computed_torque, 1806),
    (motor_step, 4531),
    (rk4, 26892),
]
"""Functions of the arm and the operations of their Jacobians."""


def drawn(library: Library, name: str, states: tuple[int, ...] = ()) -> list[Any]:
    """Random inputs of a function of a library, in order."""
    inputs = library.functions[name].signature.inputs
    return list(library.manifold.random_inputs(inputs, np.random.default_rng(3), states).values())


def cost(function: OwnFunction, robot: Any) -> int:
    """The operations of the code that is emitted for a function."""
    row = composed(function.composition(robot), robot.model)
    chooser = Chooser(robot.model, search(robot.model), "graph")
    return chooser.choose(row).program.cost.total
