"""Operational-space control of the arm: the controller is one C function, and its tool reaches a target.

The same text becomes C for a Cortex-M7, in single precision: run this program with the name of a folder.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import rbdgen

ROBOT = rbdgen.load_robot("arm7", frames=["link7"])

STEP, STEPS = 1e-3, 3000
"""The time step, in s, and the number of steps."""

LIMIT = 80.0
"""The largest torque, in N m."""


@rbdgen.function(inputs={"target": ("m", 3), "gains": ("1/s^2, 1/s", 2)}, outputs={"tau": "tau"})
def reach(robot: Any, q: Any, v: Any, target: Any, gains: Any) -> Any:
    """Operational-space control of the tool (Khatib 1987), which also damps the motion of the joints."""
    J = robot.frame_jacobian_aligned(q)[0, :3]
    position = robot.frame_placement(q).p[0]
    drift = robot.frame_drift_aligned(q, v)[0, :3]
    wanted = gains[0] * (target - position) - gains[1] * (J @ v) - drift
    damping = -5 * v  # rad/s^2; the force on the tool takes its effect off
    force = rbdgen.solve(J @ robot.minv(q) @ J.T, wanted - J @ damping)
    return np.clip(J.T @ force + robot.rnea(q, v, damping), -LIMIT, LIMIT)


@rbdgen.function(outputs={"p": ("m", 3)})
def tool(robot: Any, q: Any) -> Any:
    """The position of the tool."""
    return robot.frame_placement(q).p[0]


def main() -> None:
    """Simulates the closed loop and prints the distance to the target twice a second."""
    library = rbdgen.build(ROBOT, functions=[reach, tool, "step"])
    print(f"reach takes {library.reach.cost['total']} operations")
    q, v = np.full(7, 0.4), np.zeros(7)
    target, gains = library.tool(q) + [0.1, -0.2, -0.15], np.array([100.0, 20.0])
    for k in range(STEPS + 1):
        if k % 500 == 0:
            print(f"{k * STEP:.1f} s: {1000 * np.linalg.norm(library.tool(q) - target):8.3f} mm")
        q, v = library.step(q, v, library.reach(q, v, target, gains), STEP)
    text = reach(ROBOT, q, v, target, gains)  # the text itself on floats
    difference = np.abs(library.reach(q, v, target, gains) - text).max()
    print(f"the compiled C and the text agree within 1e-9 N m: {difference < 1e-9}")
    if len(sys.argv) > 1:
        folder = rbdgen.generate(
            ROBOT, sys.argv[1], functions=[reach], target="cortex-m7", real="float", compiled=False
        )
        print(f"C for a Cortex-M7 is in {folder}")


if __name__ == "__main__":
    main()
