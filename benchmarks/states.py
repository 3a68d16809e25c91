"""Random states, the same for every contestant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import JointCoordinates

Rows = NDArray[np.float64]

SAME = {"active": 1.0, "mu": 1e-8, "restitution": 0.0}
"""Elements of inputs that are the same at every state: all contacts hold, hardly giving way."""


@dataclass(frozen=True)
class States:
    """A row a state. q is in rbdgen's convention: floating base first, one angle (rad) a continuous joint."""

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
    """States whose joints are all taken for revolute ones, coordinates within a full turn."""
    rng = np.random.default_rng(seed)
    base = [JointCoordinates("base", "floating", 0, 7, 0, 6)] if floating else []
    at_q, at_v = (7, 6) if floating else (0, 0)
    joints = [JointCoordinates(f"joint{k}", "angle", at_q + k, 1, at_v + k, 1) for k in range(nv - at_v)]
    q = Manifold((*base, *joints)).random(rng, (count,))
    v, a, tau = rng.normal(size=(3, count, nv))
    return States(q, v, a, tau)
