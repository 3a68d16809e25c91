"""Odometry of a walking quadruped: 1000 filters in one call, each with its own inertial unit and encoders.

A filter integrates the inertial unit, and corrects the result by the feet in contact, which are at rest: the
encoders tell how fast the trunk moves away from them. It knows the error of the trunk's position, orientation
and velocity (Bloesch et al., State estimation for legged robots, RSS 2012, there with positions of feet).
Without feet in contact it integrates the inertial unit alone, which is done here for comparison.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import rbdgen

Array = npt.NDArray[np.float64]

FEET = [f"{end}_{side}" for end in ("front", "hind") for side in ("left", "right")]

ROBOT = rbdgen.load_robot(
    "quadruped12",
    base="floating",
    contacts=[rbdgen.Point(foot, f"{foot}_shank", (0, 0, -0.2)) for foot in FEET],
)

FILTERS, STEPS, STEP, STRIDE = 1000, 500, 4e-3, 50
"""The numbers of filters and of steps, the time step, in s, and the number of steps with the same feet in
contact.
"""

GYRO, ACCELEROMETER, ENCODER = 0.02, 0.2, 0.1
"""The standard deviations of the measured angular velocity, in rad/s, acceleration, in m/s^2, and rates of
joints, in rad/s.
"""

FOOT = 0.05
"""The standard deviation of the velocities of feet in contact that the filter expects, in m/s."""

START = np.repeat([0.0, 0.03, 0.2], 3)
"""The standard deviations of the first position, in m, orientation, in rad, and velocity, in m/s."""

GRAVITY, POSE = np.array([0, 0, -9.81]), np.array([0, 0.7, -1.4])

COVARIANCE = rbdgen.Quantity("1", (9, 9), symmetric=True, meaning="of position, orientation and velocity")


def measured(unit: str, *shape: int, **more: Any) -> rbdgen.Quantity:
    return rbdgen.Quantity(unit, shape, held=True, **more)


@rbdgen.function(
    inputs={
        "P": COVARIANCE,
        "gyro": measured("rad/s", 3),
        "force": measured("m/s^2", 3, meaning="by the accelerometer"),
        "joints": measured("rad", 12),
        "rates": measured("rad/s", 12),
        "closed": measured("1", 4, range=(0, 1), meaning="1 for feet in contact, 0 for others"),
    },
    outputs={"q_next": "q", "v_next": "v", "P_next": COVARIANCE},
)
def odometry(
    robot: Any, q: Any, v: Any, P: Any, gyro: Any, force: Any, joints: Any, rates: Any, closed: Any, dt: Any
) -> Any:
    """A step of an extended Kalman filter of the trunk with an inertial unit and feet in contact."""
    zero, one = np.zeros((3, 3)), np.eye(3)
    R = rbdgen.rotation(q[3:7])
    a, velocity = R @ force + GRAVITY, R @ v[:3]
    A = np.block(
        [
            [one, zero, dt * one],
            [zero, one - dt * rbdgen.skew(gyro), zero],
            [zero, -dt * R @ rbdgen.skew(force), one],
        ]
    )
    noise = np.repeat([0, GYRO**2, ACCELEROMETER**2], 3)
    P = rbdgen.congruence(A, P) + dt**2 * np.diag(noise)
    position, velocity = q[:3] + dt * velocity + dt**2 / 2 * a, velocity + dt * a
    turn = rbdgen.quaternion_product(q[3:7], rbdgen.exp3(dt * gyro))

    R, error = rbdgen.rotation(turn), rbdgen.zeros(9)
    at = np.concatenate([position, turn, joints])
    feet = robot.contact_motion(at, np.concatenate([R.T @ velocity, gyro, rates])).velocity.reshape(4, 3)
    for k in range(4):  # a foot in contact is at rest
        H = np.hstack([zero, -R @ rbdgen.skew(R.T @ (feet[k] - velocity)), one])
        S = H @ P @ H.T + FOOT**2 * one
        K = closed[k] * rbdgen.solve(S, H @ P).T
        error = error - K @ (feet[k] + H @ error)
        P = P - K @ (H @ P)
    turn = rbdgen.quaternion_product(turn, rbdgen.exp3(error[3:6]))
    own = rbdgen.rotation(turn).T @ (velocity + error[6:])
    return np.concatenate([position + error[:3], turn, joints]), np.concatenate([own, gyro, rates]), P


@rbdgen.function(
    inputs={"trunk": ("m/s, rad/s", 6), "change": ("m/s^2", 3), "closed": ("1", 4)},
    outputs={"v": "v", "force": ("m/s^2", 3)},
)
def walk(robot: Any, q: Any, trunk: Any, change: Any, closed: Any) -> Any:
    """The velocity of a robot whose closed feet are at rest, and what its accelerometer measures."""
    J, rates = robot.contact_jacobian(q), []
    for k in range(4):
        rows, leg = slice(3 * k, 3 * k + 3), slice(3 * k + 6, 3 * k + 9)
        rest = -rbdgen.inv(J[rows, leg]) @ (J[rows, :6] @ trunk)
        rates.append(np.where(closed[k] > 0.5, rest, 10 * (POSE - q[3 * k + 7 : 3 * k + 10])))
    force = change + rbdgen.cross(trunk[3:], trunk[:3]) - rbdgen.rotation(q[3:7]).T @ GRAVITY
    return np.concatenate([trunk, *rates]), force


def trunk(time: float, swing: Array, phase: Array) -> Array:
    """The velocity of every trunk, in its own axes: it walks ahead, and swings."""
    return np.array([0.3, 0, 0, 0, 0, 0]) + swing * np.sin(6 * time + phase)


def errors(library: Any, q: Array, v: Array, state: tuple[Array, ...]) -> str:
    """The errors of position, tilt and velocity, as root mean squares over the filters."""
    off, speed = library.difference(q, state[0]), v[:, :3] - state[1][:, :3]
    found = (np.sqrt(np.mean(x**2)) for x in (off[:, :3], off[:, 3:5], speed))
    return "{:.4f} m, {:.4f} rad, {:.4f} m/s".format(*found)


def main() -> None:
    """Walks 1000 robots for two seconds, and prints the errors of the filters and of the inertial units."""
    library = rbdgen.build(ROBOT, functions=[odometry, walk, "integrate", "difference"])
    print(f"odometry takes {library.odometry.cost['total']} operations")
    rng = np.random.default_rng(0)
    swing = np.array([0.2, 0.1, 0.1, 0.3, 0.3, 0.5]) * rng.uniform(size=(FILTERS, 6))
    phase = 2 * np.pi * rng.uniform(size=(FILTERS, 6))
    q = np.tile(library.neutral(), (FILTERS, 1))
    q[:, 7:] = np.tile(POSE, 4)
    off = START * rng.normal(size=(FILTERS, 9))
    first = library.integrate(q, np.pad(off[:, :6], ((0, 0), (0, 12))))
    speed = np.pad(trunk(0, swing, phase)[:, :3] + off[:, 6:], ((0, 0), (0, 15)))
    state = alone = (first, speed, np.tile(np.diag(START**2), (FILTERS, 1, 1)))
    for k in range(STEPS):
        now, soon = (trunk(time, swing, phase) for time in (k * STEP, (k + 1) * STEP))
        closed = np.array([1.0, 0, 0, 1] if k // STRIDE % 2 else [0.0, 1, 1, 0])
        v, force = library.walk(q, now, (soon - now)[:, :3] / STEP, closed)
        q = library.integrate(q, STEP * v)
        sensed = (
            now[:, 3:] + GYRO * rng.normal(size=(FILTERS, 3)),
            force + ACCELEROMETER * rng.normal(size=(FILTERS, 3)),
            q[:, 7:],
            v[:, 6:] + ENCODER * rng.normal(size=(FILTERS, 12)),
        )
        state = library.odometry(*state, *sensed, closed, STEP)
        alone = library.odometry(*alone, *sensed, 0 * closed, STEP)
        if (k + 1) % 100 == 0:
            print(f"{(k + 1) * STEP:.1f} s: errors of {errors(library, q, soon, state)};", end=" ")
            print(f"inertial unit alone: {errors(library, q, soon, alone)}")
    expected = np.sqrt(np.mean(state[2][:, range(3), range(3)]))
    print(f"the filters expect {expected:.4f} m")
    inputs = [x[0] for x in (*state, *sensed)]
    pairs = zip(library.odometry(*inputs, closed, STEP), odometry(ROBOT, *inputs, closed, STEP), strict=True)
    print("the compiled C and the text agree:", all(np.allclose(x, y, rtol=1e-9) for x, y in pairs))


if __name__ == "__main__":
    main()
