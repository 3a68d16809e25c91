"""Converts derivatives by coordinates to those in the tangent space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rbdgen.model.joints import Floating
from rbdgen.model.model import Model
from rbdgen.spatial.quaternion import rotation_of

Array = NDArray[np.float64]


def tangent_map(model: Model, q: Array) -> Array:
    """dq/dxi (nq, nv): the rates of the coordinates at unit velocities; those of a base are in its axes."""
    result = np.zeros((model.nq, model.nv))
    for body in model.bodies:
        joint = body.joint
        if isinstance(joint.type, Floating):
            x, y, z, w = quaternion = q[joint.idx_q + 3 : joint.idx_q + 7].tolist()
            result[:3, :3] = [list(row) for row in rotation_of(tuple(quaternion))]
            # the product of the quaternion with (w_x, w_y, w_z, 0) / 2
            result[3:7, 3:6] = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
        else:
            result[joint.idx_q, joint.idx_v] = 1.0
    return result
