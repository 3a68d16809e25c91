"""A whole-body controller of the quadruped in one C function: the trunk is pushed, and comes back if it can.

The controller distributes the wanted force on the trunk among the four feet, keeps every foot's force in a
friction pyramid, and the torques of the motors in their limits. `contact_step` simulates the robot: its feet
lift off and slide, by the exact law of Coulomb. A weak push moves no foot. After a stronger one the trunk
comes back even though feet slip, and a hard push makes the robot fall.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import rbdgen

FEET = [f"{end}_{side}" for end in ("front", "hind") for side in ("left", "right")]

ROBOT = rbdgen.load_robot(
    "quadruped12",
    base="floating",
    contacts=[rbdgen.Point(foot, f"{foot}_shank", (0, 0, -0.2)) for foot in FEET],
)

LIMIT, FRICTION, LEAST = 6.0, 0.4, 1.0
"""The largest torque, in N m, the coefficient of friction that the controller assumes, and the least normal
force of a foot that it asks for, in N."""

FLOOR = 0.5
"""The coefficient of friction of the floor."""

STEP, STEPS, PUSHES = 1e-3, 1500, (20.0, 40.0, 60.0)
"""The time step, in s, the number of steps, and the forces of the pushes, in N, which last 0.1 s."""


@rbdgen.function(
    inputs={"q_ref": "q", "gains": rbdgen.Quantity("1/s^2, 1/s", 2, held=True, range=(1, 100))},
    outputs={"tau": ("N m", 12), "f": ("N", 4, 3)},
)
def balance(robot: Any, q: Any, v: Any, q_ref: Any, gains: Any) -> Any:
    """The torques of the joints and the forces on the feet that bring the trunk to q_ref."""
    M, h, J = robot.crba(q), robot.nle(q, v), robot.contact_jacobian(q)
    drift = robot.contact_motion(q, v).drift
    trunk = gains[0] * robot.difference(q, q_ref)[:6] - gains[1] * v[:6]
    a = [trunk]
    for k in range(4):  # the joints of a leg accelerate so that the foot stays in place
        rows, leg = slice(3 * k, 3 * k + 3), slice(3 * k + 6, 3 * k + 9)
        a.append(rbdgen.inv(J[rows, leg]) @ (-drift[rows] - J[rows, :6] @ trunk))
    force = M @ np.concatenate(a) + h
    G = J[:, :6]
    f = (G @ rbdgen.solve(G.T @ G, force[:6])).reshape(4, 3)  # the least forces with the wanted sum
    normal = np.maximum(f[:, 2], LEAST)
    sideways = [np.maximum(np.minimum(f[:, k], FRICTION * normal), -FRICTION * normal) for k in (0, 1)]
    f = np.stack([*sideways, normal], axis=1)
    return np.clip((force - J.T @ f.ravel())[6:], -LIMIT, LIMIT), f


class Pushed(NamedTuple):
    """How far the trunk and the feet moved in mm, at most and in the end, and the largest torque in N m."""

    trunk: float
    end: float
    feet: float
    torque: float


def pushed(library: Any, push: float) -> Pushed:
    """Simulates a push to the left."""
    q = library.neutral()
    q[7:] = np.tile([0, 0.7, -1.4], 4)
    q[2] -= library.contact_pose(q)[0][0, 2]  # the feet are on the floor
    q_ref, v, gains, feet = q.copy(), np.zeros(18), np.array([100.0, 20.0]), library.contact_pose(q)[0]
    trunk, moved, torque = [], 0.0, 0.0
    for k in range(STEPS):
        tau, _ = library.balance(q, v, q_ref, gains)
        forces = np.concatenate([[0, push if k * STEP < 0.1 else 0, 0, 0, 0, 0], tau])
        q, v, *_ = library.contact_step(q, v, forces, STEP, friction=np.full(4, FLOOR))
        trunk.append(1000 * np.linalg.norm(q[:3] - q_ref[:3]))
        moved = max(moved, 1000 * np.linalg.norm(library.contact_pose(q)[0] - feet, axis=1).max())
        torque = max(torque, np.abs(tau).max())
    return Pushed(max(trunk), trunk[-1], moved, torque)


def main() -> None:
    """Simulates pushes, and prints how far the robot moved."""
    library = rbdgen.build(ROBOT, functions=[balance, "contact_step", "contact_pose"])
    print(f"balance takes {library.balance.cost['total']} operations")
    for push in PUSHES:
        found = pushed(library, push)
        print(
            f"{push:.0f} N: the trunk moves by {found.trunk:.1f} mm and is off by {found.end:.1f} mm after "
            f"{STEP * STEPS:.1f} s; feet move by {found.feet:.1f} mm; the largest torque is "
            f"{found.torque:.2f} N m"
        )


if __name__ == "__main__":
    main()
