"""A quadruped trots over rough ground and is pushed; every trot is one call of C.

    python examples/rough_ground.py

`contact_step_servo` simulates the robot: its feet touch the ground by the law of Coulomb, and servos pull its
joints to targets. There is no controller besides these servos. The targets repeat a trot: two diagonal feet
stand and move backwards, while the other two swing. C samples the ground, which is a field of heights, below
every foot at every step. After two seconds, a force pushes the trunk to the side.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

import rbdgen
from rbdgen.runtime import Library

Array = npt.NDArray[np.float64]

DT, SECONDS = 2e-3, 5.0
"""The time step and the duration, in s."""

PERIOD, STRIDE, LIFT, CROUCH = 0.3, 0.2, 0.35, 0.75
"""The period of the trot, s; the swing of the hips, the lift and the angle of the hips in the middle of a
stance, rad."""

PUSHES, AT, LASTS = (0.0, 30.0, -30.0, 60.0), 2.0, 0.1
"""The forces to the side, N, and the time at which they begin and their duration, s."""

UPRIGHT = 0.2
"""The least height of the trunk of a robot that has not fallen, m."""

FEET = ("front_left", "front_right", "hind_left", "hind_right")


def built() -> Library:
    """The quadruped on spheres at the ends of its four legs."""
    feet = [rbdgen.Point(foot, f"{foot}_shank", (0, 0, -0.2), radius=0.015) for foot in FEET]
    robot = rbdgen.load_robot("quadruped12", base="floating", contacts=feet)
    return rbdgen.build(robot, functions=["contact_step_servo", "contact_pose"])


def trot(steps: int) -> Array:
    """The targets of all joints at every step, (steps, 12)."""
    phase = 2 * np.pi * DT * np.arange(steps) / PERIOD
    targets = np.zeros((steps, 4, 3))
    for leg, foot in enumerate(FEET):
        own = phase + (0 if foot in ("front_left", "hind_right") else np.pi)
        lift = LIFT * np.maximum(np.sin(own), 0)
        targets[:, leg, 1] = CROUCH + STRIDE * np.cos(own) + lift
        targets[:, leg, 2] = -2 * CROUCH - 2 * lift
    return targets.reshape(steps, 12)


def rough(rng: np.random.Generator, height: float) -> tuple[Array, tuple[float, float, float, float]]:
    """Smooth random heights up to `height`, and the grid on which they are given."""
    heights = rng.uniform(0, height, (81, 81))
    return heights, (-4.0, -4.0, 0.1, 0.1)


def simulated(lib: Library, heights: Array, grid: Any, push: Array) -> Any:
    """Trots on the same ground, one for each push: all their states."""
    steps = round(SECONDS / DT)
    targets = trot(steps)
    q, v = lib.neutral(), np.zeros(18)
    q[7:] = targets[0]
    q[2] = heights.max() - lib.contact_pose(q)[0][:, 2].min() + 0.015
    tau = np.zeros((len(push), steps, 18))
    tau[:, round(AT / DT) : round((AT + LASTS) / DT), 1] = push[:, None]
    return lib.rollout(
        q,
        v,
        tau,
        DT,
        scheme="contact_step_servo",
        friction=np.full(4, 0.8),
        kp=np.full(12, 60.0),
        kd=np.full(12, 1.5),
        target=targets,
        per_step=["target"],
        heights=heights,
        grid=grid,
    )


def main() -> None:
    lib = built()
    heights, grid = rough(np.random.default_rng(0), 0.02)
    begin = time.perf_counter()
    states = simulated(lib, heights, grid, np.array(PUSHES))
    took = time.perf_counter() - begin
    print("push in N   way in m   to the side in m   largest residual in m/s")
    for k, force in enumerate(PUSHES):
        way, side = states.q[k, -1, :2]
        fell = "" if states.q[k, :, 2].min() > UPRIGHT else "   fell"
        print(f"{force:9.0f} {way:10.2f} {side:18.2f} {states.residual[k].max():25.0e}{fell}")
    print(f"{len(PUSHES) * SECONDS / took:.0f} times as fast as real time")


if __name__ == "__main__":
    main()
