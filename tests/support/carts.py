"""A small robot whose velocities are not the rates of its coordinates: q has 8 elements, and v has 7."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rbdgen
from rbdgen.runtime.configuration import Manifold

Array = NDArray[np.float64]

BODY: Mapping[str, Any] = {"mass": 1.3, "com": (0.1, -0.05, 0.2), "inertia": (0.03, 0.04, 0.02)}


def cart_with_a_ball() -> rbdgen.RobotBuilder:
    """A robot with a planar, a spherical and a revolute joint."""
    builder = rbdgen.RobotBuilder("cart").add_body("ground")
    builder.add_body("wagon", parent="ground", type="planar", **BODY)
    builder.add_body("ball", parent="wagon", type="spherical", xyz=(0.1, 0.2, 0.3), **BODY)
    return builder.add_body("hand", parent="ball", type="revolute", axis=(0, 1, 0), xyz=(0.3, 0, 0.1), **BODY)


def motions(manifold: Manifold, q: Array) -> Array:
    """dq/dt for every unit velocity, nq x nv, by finite differences."""
    steps = 1e-3 * np.eye(manifold.nv)
    ends = [manifold.integrate(np.broadcast_to(q, (manifold.nv, q.size)), s * steps) for s in (1, -1, 2, -2)]
    return np.asarray(8 * (ends[0] - ends[1]) - (ends[2] - ends[3])).T / 12e-3
