"""The compiled functions of a double pendulum agree with its equations of motion, in two seconds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from support.robots import BUNDLED

import rbdgen
from rbdgen.options import Options
from rbdgen.pipeline.page import generate

Array = NDArray[np.float64]

FUNCTIONS = ("rnea", "aba", "crba")

M1, L1, C1, I1 = 1.0, 1.0, 0.5, 0.083
M2, C2, I2 = 1.0, 1.0, 0.33
"""The numbers of Spong's acrobot: masses, length, and distances of and inertias about centres of mass."""

G = 9.81


def inertia_matrix(q: Array) -> Array:
    coupling = M2 * L1 * C2 * np.cos(q[..., 1])
    elbow = I2 + M2 * C2**2 + 0 * coupling
    shoulder = I1 + M1 * C1**2 + M2 * L1**2 + elbow + 2 * coupling
    return np.stack([shoulder, elbow + coupling, elbow + coupling, elbow], axis=-1).reshape(*q.shape, 2)


def bias_force(q: Array, v: Array) -> Array:
    """Centrifugal, Coriolis and gravity torques; both links hang down at q = 0."""
    h = M2 * L1 * C2 * np.sin(q[..., 1])
    lower = M2 * G * C2 * np.sin(q.sum(axis=-1))
    upper = (M1 * C1 + M2 * L1) * G * np.sin(q[..., 0])
    coriolis = -h * v[..., 1] * (2 * v[..., 0] + v[..., 1])
    return np.stack([coriolis + upper + lower, h * v[..., 0] ** 2 + lower], axis=-1)


def test_double_pendulum(tmp_path: Path) -> None:
    robot = rbdgen.load_robot(BUNDLED["double_pendulum"])
    folder = generate(robot, Options(functions=FUNCTIONS), tmp_path).folder
    lib = rbdgen.load(folder)
    q, v, a = np.random.default_rng(0).uniform(-3, 3, (3, 50, 2))
    tau = np.einsum("sij,sj->si", inertia_matrix(q), a) + bias_force(q, v)
    np.testing.assert_allclose(lib.crba(q), inertia_matrix(q), rtol=1e-13)
    np.testing.assert_allclose(lib.rnea(q, v, a), tau, rtol=0, atol=1e-12)
    np.testing.assert_allclose(lib.aba(q, v, tau), a, rtol=0, atol=1e-11)
    assert (lib.joint_names, lib.idx_v) == (("shoulder", "elbow"), (0, 1))
