"""Random states, the same for every contestant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]


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
    """States with joint coordinates in (-pi, pi) and, for a floating base, a unit quaternion (x y z w)."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, size=(count, nv + int(floating)))
    if floating:
        quaternion = rng.normal(size=(count, 4))
        q[:, 3:7] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    v, a, tau = rng.normal(size=(3, count, nv))
    return States(q, v, a, tau)
