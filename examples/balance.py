"""A whole-body controller of the quadruped in one C function: the trunk is pushed and comes back.

The controller distributes the wanted force on the trunk among the four feet, keeps every foot's force in a
friction pyramid, and the torques of the motors in their limits. `contact_aba` simulates the robot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rbdgen

FEET = [f"{end}_{side}" for end in ("front", "hind") for side in ("left", "right")]

ROBOT = rbdgen.load_robot(
    "quadruped12",
    base="floating",
    contacts=[rbdgen.Point(foot, f"{foot}_shank", (0, 0, -0.2)) for foot in FEET],
)

LIMIT, FRICTION, LEAST = 6.0, 0.6, 1.0
"""The largest torque, in N m, the coefficient of friction, and the least normal force of a foot, in N."""

STEP, STEPS, PUSH = 1e-3, 1500, 60.0
"""The time step, in s, the number of steps, and the force of the push, in N, which lasts 0.1 s."""


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


def main() -> None:
    """Simulates a push to the left, and prints where the trunk is four times a second."""
    library = rbdgen.build(ROBOT, functions=[balance, "contact_aba", "integrate"])
    print(f"balance takes {library.balance.cost['total']} operations")
    q = library.neutral()
    q[7:] = np.tile([0, 0.7, -1.4], 4)
    q_ref, gains = q.copy(), np.array([100.0, 20.0])
    v, largest, lightest = np.zeros(18), 0.0, np.inf
    for k in range(STEPS + 1):
        tau, forces = library.balance(q, v, q_ref, gains)
        largest, lightest = max(largest, np.abs(tau).max()), min(lightest, forces[:, 2].min())
        if k % 250 == 0:
            x, y, z = 1000 * (q[:3] - q_ref[:3])
            print(f"{k * STEP:.2f} s: the trunk is off by {x:.1f}, {y:.1f}, {z:.1f} mm")
        push = PUSH if k * STEP < 0.1 else 0.0
        a, _ = library.contact_aba(q, v, np.concatenate([[0, push, 0, 0, 0, 0], tau]))
        v = v + STEP * a
        q = library.integrate(q, STEP * v)
    print(f"the largest torque is {largest:.2f} N m, the least normal force {lightest:.2f} N")


if __name__ == "__main__":
    main()
