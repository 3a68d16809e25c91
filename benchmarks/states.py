"""Random states, which are the same for every competitor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rbdgen.model.joints import Floating, Revolute
from rbdgen.runtime.configuration import Manifold
from rbdgen.runtime.space import JointCoordinates

Rows = NDArray[np.float64]

SAME = {"active": 1.0, "mu": 1e-8, "restitution": 0.0, "dt": 1e-3}
"""Inputs that are the same at every state: all contacts are closed, with a very small compliance;
time steps are 1 ms."""


@dataclass(frozen=True)
class States:
    """States, one per row. q is in rbdgen's convention: floating base first, an angle (rad) for continuous
    joints."""

    q: Rows  # (count, nq)
    v: Rows  # (count, nv)
    a: Rows  # (count, nv)
    tau: Rows  # (count, nv)

    def __len__(self) -> int:
        return len(self.q)

    def head(self, count: int) -> States:
        """The first `count` states."""
        return States(self.q[:count], self.v[:count], self.a[:count], self.tau[:count])


def random_states(nv: int, *, floating: bool, count: int = 64, seed: int = 0) -> States:
    """Random states; all joints are treated as revolute, with coordinates within a full turn."""
    rng = np.random.default_rng(seed)
    base = [JointCoordinates("base", Floating().space, 0, 0)] if floating else []
    at_q, at_v = (7, 6) if floating else (0, 0)
    joints = [JointCoordinates(f"joint{k}", Revolute().space, at_q + k, at_v + k) for k in range(nv - at_v)]
    q = Manifold((*base, *joints)).random(rng, (count,))
    v, a, tau = rng.normal(size=(3, count, nv))
    return States(q, v, a, tau)
