"""Identifies the base parameters and joint friction of the arm from noisy torques along a trajectory.

    python examples/identify.py             prints the errors of the identified parameters
    python examples/identify.py error.png   also plots them; needs matplotlib: pip install 'rbdgen[plot]'

The torques are linear in both, tau = Yb(q, v, a) beta + diag(v) d + diag(sign v) f, so all of them follow
from one linear least-squares problem. Base parameters are all that torques depend on; single masses cannot be
identified.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

import rbdgen

Array = npt.NDArray[np.float64]

SAMPLES = 4000
NOISE = 0.05
"""The standard deviation of the noise of measured torques, N m."""

VISCOUS = np.array([0.8, 0.8, 0.5, 0.5, 0.2, 0.2, 0.1])
COULOMB = np.array([0.6, 0.7, 0.4, 0.4, 0.2, 0.15, 0.1])
"""The viscous and Coulomb friction to identify, N m s/rad and N m."""


def trajectory(seed: int, joints: int, samples: int = SAMPLES) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations over 20 s: sines with five frequencies for each joint."""
    rng, t = np.random.default_rng(seed), np.linspace(0, 20, samples)[:, None]
    q, v, a = np.zeros((3, samples, joints))
    for k in range(1, 6):
        w, phase, size = 2 * np.pi * k / 10, rng.uniform(0, 2 * np.pi, joints), rng.uniform(0.2, 0.5, joints)
        q += size * np.sin(w * t + phase)
        v += size * w * np.cos(w * t + phase)
        a -= size * w * w * np.sin(w * t + phase)
    return q, v, a


def columns(library: Any, q: Array, v: Array, a: Array) -> Array:
    """The columns of base parameters, then of viscous and of Coulomb friction: (samples, joints,
    unknowns)."""
    joints = np.eye(v.shape[-1])
    return np.concatenate(
        [library.regressor_base(q, v, a), v[..., None] * joints, np.sign(v)[..., None] * joints], axis=-1
    )


def measured(library: Any, q: Array, v: Array, a: Array) -> Array:
    """The torques without noise, from inverse dynamics and friction."""
    return np.asarray(library.rnea(q, v, a) + VISCOUS * v + COULOMB * np.sign(v))


def identified(A: Array, tau: Array) -> tuple[Array, Array]:
    """The least-squares solution, and its standard deviations due to the noise."""
    A, b = A.reshape(-1, A.shape[-1]), tau.reshape(-1)
    scale = np.linalg.norm(A, axis=0)
    solution = np.linalg.lstsq(A / scale, b, rcond=None)[0]
    variance = np.sum((A / scale @ solution - b) ** 2) / (len(b) - len(solution))
    spread = np.sqrt(variance * np.diag(np.linalg.inv((A / scale).T @ (A / scale))))
    return solution / scale, spread / scale


def main(plot: str | None = None) -> None:
    """Identifies the parameters on one trajectory, and computes the errors of torques on another."""
    library = rbdgen.build(rbdgen.load_robot("arm7"), ["rnea", "regressor_base"])
    base = library.base_parameters
    assert base is not None
    joints = len(library.joint_names)
    q, v, a = trajectory(1, joints)
    tau = measured(library, q, v, a) + NOISE * np.random.default_rng(2).standard_normal(q.shape)
    found, spread = identified(columns(library, q, v, a), tau)
    names = [*base.names, *(f"{kind}:{x}" for kind in ("damping", "friction") for x in library.joint_names)]
    true = np.concatenate([base.values, VISCOUS, COULOMB])
    print(f"{len(base.names)} base parameters and {2 * joints} of friction from {len(q)} samples")
    print("parameter         true       found      error   2 sigma")
    for row in sorted(
        zip(names, true, found, found - true, 2 * spread, strict=True), key=lambda x: -abs(x[1])
    )[:12]:
        print("{:15s} {:10.4f} {:10.4f} {:10.1e} {:9.1e}".format(*row))
    outside = np.mean(np.abs(found - true) > 3 * spread)
    print(f"beyond three standard deviations: {outside:.0%}")
    q, v, a = trajectory(3, joints)
    error = columns(library, q, v, a) @ found - measured(library, q, v, a)
    worst = np.abs(error).max(axis=0)
    print("largest errors of torques on another trajectory:", ", ".join(f"{x:.3f}" for x in worst), "N m")
    if plot is not None:
        _plot(plot, names, found - true, spread, error)


def _plot(path: str, names: list[str], error: Array, spread: Array, torque_error: Array) -> None:
    """Plots the errors of parameters with their standard deviations, and torque errors on the other
    trajectory."""
    import matplotlib  # noqa: PLC0415  (an extra: the figures are printed without)

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 9))
    places = np.arange(len(names))
    left.barh(places, 2 * spread, color="0.8", label="two standard deviations")
    left.plot(np.abs(error), places, "k.", label="error")
    left.set(xscale="log", xlabel="SI units", yticks=places, title="parameters")
    left.set_yticklabels(names, fontsize=6)
    left.legend()
    right.plot(np.linspace(0, 20, len(torque_error)), torque_error, linewidth=0.7)
    right.set(xlabel="s", ylabel="N m", title="torques on another trajectory, less the true ones")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
