"""Converts states to the convention of MuJoCo and frax for a floating base.

Their linear velocity is in world axes, and their angular velocity in body axes. In rbdgen both parts are in
body axes. The conversion is v' = (R v, w) and a' = (R (a + w x v), dw); forces are rotated like velocities,
and the order of a quaternion is w x y z in place of x y z w.
"""

from __future__ import annotations

import numpy as np

from benchmarks.states import Rows, States


def world_velocity(states: States, *, floating: bool) -> States:
    """The states in that convention; those of a fixed base are unchanged."""
    if not floating:
        return states
    q, v, a, tau = (array.copy() for array in (states.q, states.v, states.a, states.tau))
    R = _rotations(states.q[:, 3:7])
    q[:, 3:7] = states.q[:, [6, 3, 4, 5]]
    a[:, :3] += np.cross(states.v[:, 3:6], states.v[:, :3])
    for array in (v, a, tau):
        array[:, :3] = np.einsum("kij,kj->ki", R, array[:, :3])
    return States(q, v, a, tau)


def _rotations(quaternions: Rows) -> Rows:
    """The rotation matrices of unit quaternions x y z w, from body to world axes."""
    vector, w = quaternions[:, :3], quaternions[:, 3, None, None]
    x, y, z = vector.T
    o = np.zeros_like(x)
    cross = np.stack([o, -z, y, z, o, -x, -y, x, o], axis=1).reshape(-1, 3, 3)
    return np.asarray(np.eye(3) + 2 * (w * cross + cross @ cross))
