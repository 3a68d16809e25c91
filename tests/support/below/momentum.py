"""Computes the centre of mass and the momentum as sums over the links."""

from __future__ import annotations

import numpy as np
from support.below.evaluated import Below
from support.below.frames import frames, times, velocity
from support.below.torques import Solid, tens
from support.below.types import Array


def center(f: Below) -> Array:
    R, p = frames(f)
    links = tens(f.robot)
    total = sum(ten[0] * p[:, k] + R[:, k] @ ten[1:4] for k, ten in enumerate(links))
    return np.asarray(total / sum(ten[0] for ten in links))


def momentum(f: Below) -> Array:
    """The momentum: linear, then angular about the centre of mass, in world axes."""
    (R, p), V, c = frames(f), velocity(f, "local"), center(f)
    found = np.zeros((len(p), 6))
    for k, ten in enumerate(tens(f.robot)):
        solid, v, w = Solid(ten), V[:, k, :3], V[:, k, 3:]
        own = times(R[:, k], solid.mass * v + np.cross(w, solid.first))
        found[:, :3] += own
        found[:, 3:] += times(R[:, k], w @ solid.J + np.cross(solid.first, v)) + np.cross(p[:, k] - c, own)
    return found
