"""An extended Kalman filter of an arm with three joints, with known torques and noisy encoders: 1000
filters in one call.

Prediction and correction are one function. Its covariance is symmetric, and half of it is computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rbdgen

ROBOT = rbdgen.load_robot("planar3r")

FILTERS, STEPS, STEP = 1000, 200, 5e-3
"""The number of filters and of steps, and the time step, in s."""

SENSOR, PROCESS = 0.02, 1e-2
"""The standard deviations of measured angles, in rad, and of the unknown change of velocities per step, in
rad/s."""

COVARIANCE = rbdgen.Quantity("1", ("nx", "nx"), symmetric=True, meaning="covariance of q and v")


@rbdgen.function(
    inputs={"P": COVARIANCE, "measured": rbdgen.Quantity("rad", "nq", held=True)},
    outputs={"q_next": "q", "v_next": "v", "P_next": COVARIANCE},
)
def estimate(robot: Any, q: Any, v: Any, tau: Any, dt: Any, P: Any, measured: Any) -> Any:
    """A step of an extended Kalman filter with encoders of joints."""
    n = robot.nv
    A = robot.step_derivatives(q, v, tau, dt).A
    q, v = robot.step(q, v, tau, dt)
    P = rbdgen.congruence(A, P) + np.diag([0.0] * n + [PROCESS**2] * n)
    S = P[:n, :n] + SENSOR**2 * np.eye(n)
    K = rbdgen.solve(S, P[:n]).T
    correction = K @ robot.difference(q, measured)
    P = P - K @ P[:n]
    return robot.integrate(q, correction[:n]), v + correction[n:], P


def main() -> None:
    """Simulates 1000 arms with noise, and prints the errors of sensors and of filters."""
    library = rbdgen.build(ROBOT, functions=[estimate, "step"])
    print(f"estimate takes {library.estimate.cost['total']} operations")
    rng, n = np.random.default_rng(0), library.nv
    q, v = rng.normal(size=(2, FILTERS, n))
    q_hat, v_hat = q + 0.3 * rng.normal(size=q.shape), np.zeros_like(v)
    P = np.tile(np.diag([0.3**2] * n + [1.0] * n), (FILTERS, 1, 1))
    for k in range(STEPS + 1):
        if k % 50 == 0:
            angles, rates = ((x - y).std() for x, y in ((q_hat, q), (v_hat, v)))
            print(f"{k * STEP:.2f} s: errors of {angles:.4f} rad and {rates:.3f} rad/s")
        tau = 0.3 * np.sin(7 * k * STEP) - 0.1 * v
        q, v = library.step(q, v, tau, STEP)
        v = v + PROCESS * rng.normal(size=v.shape)
        measured = q + SENSOR * rng.normal(size=q.shape)
        q_hat, v_hat, P = library.estimate(q_hat, v_hat, tau, STEP, P, measured)
    print(f"the filters expect {np.sqrt(P[:, 0, 0].mean()):.4f} rad; the sensors have {SENSOR} rad")
    state = (q_hat[0], v_hat[0], tau[0], STEP, P[0], measured[0])
    pairs = zip(library.estimate(*state), estimate(ROBOT, *state), strict=True)
    print("the compiled C and the text agree:", all(np.allclose(x, y, rtol=1e-9) for x, y in pairs))


if __name__ == "__main__":
    main()
