"""Computes each function from more basic functions, those below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from support.below.contacts import contact_motion, contact_pose, contact_rows
from support.below.evaluated import Below
from support.below.frames import (
    acceleration,
    aligned_jacobian,
    classical,
    drift,
    frames,
    seen,
    times,
    velocity,
)
from support.below.momentum import center, momentum
from support.below.torques import Joints, energies, energy_regressor, pushed, regressor, rnea, tens
from support.below.types import Array
from support.forms import relative_error

from rbdgen.functions.function import Function
from rbdgen.functions.kinematics.columns import CONVENTIONS
from rbdgen.functions.table import lookup

Expected = Callable[[Below], Sequence[Any]]


def _derivatives(of: str, *inputs: str) -> Expected:
    """The derivatives of every output by every input."""

    def found(f: Below) -> list[Array]:
        slopes = [f.by(of, x) for x in inputs]
        return [slope[k] for k in range(len(slopes[0])) for slope in slopes]

    return found


def _second(f: Below, of: str, last: str) -> list[Array]:
    by_q, by_v = f.by(of, "q"), f.by(of, "v")
    qlast = by_q[2] if last == "a" else by_q[2].swapaxes(2, 3)
    return [by_q[0], by_v[0], by_v[1], qlast]


def _integrated(f: Below) -> list[Array]:
    return [f.model.manifold.integrate(f.inputs["q"], f.inputs["v"])]


def _difference(f: Below) -> list[Array]:
    return [f.model.manifold.difference(f.inputs["q0"], f.inputs["q1"])]


def _step(f: Below) -> list[Array]:
    x = f.inputs
    v = x["v"] + x["dt"] * f("aba")
    return [f.model.manifold.integrate(x["q"], x["dt"] * v), v]


def _step_rk4(f: Below) -> list[Array]:
    """Many small steps of the midpoint rule, extrapolated.

    The error of RK4 is of the fourth power of dt, and that of the midpoint rule of the square of its small
    step.
    """
    x = f.inputs

    def arrived(count: int) -> tuple[Array, Array]:
        q, v, h = x["q"], x["v"], x["dt"] / count
        for _ in range(count):
            a = f("aba", q=q, v=v)
            middle = f.model.manifold.integrate(q, h / 2 * v)
            half = v + h / 2 * a
            q, v = f.model.manifold.integrate(q, h * half), v + h * f("aba", q=middle, v=half)
        return q, v

    (coarse_q, coarse_v), (q, v) = arrived(4), arrived(8)
    ahead = f.model.manifold.difference(coarse_q, q) / 3
    return [f.model.manifold.integrate(q, ahead), v + (v - coarse_v) / 3]


def _step_derivatives(f: Below) -> list[Array]:
    by = [f.by("step", x) for x in ("q", "v", "tau")]
    A = np.concatenate([np.concatenate([x[k] for x in by[:2]], axis=2) for k in (0, 1)], axis=1)
    return [A, np.concatenate(by[2], axis=1)]


def _to_world(f: Below) -> Array:
    """The matrix that rotates the base's rows from its own axes to world axes."""
    T = np.broadcast_to(np.eye(f.model.sizes["nv"]), (len(f.inputs["q"]), *(f.model.sizes["nv"],) * 2)).copy()
    T[:, :3, :3] = T[:, 3:6, 3:6] = frames(f)[0][:, 0]
    return T


def _nle_world(f: Below) -> list[Array]:
    """Nonlinear effects for a base velocity that is constant in world axes, and rotates in base axes."""
    v, a = f.inputs["v"], np.zeros_like(f.inputs["v"])
    a[:, :3] = np.cross(v[:, :3], v[:, 3:6])
    return [times(_to_world(f), f("rnea", a=a))]


def _base_regressor(f: Below) -> list[Array]:
    """The independent columns of Y, of which all other columns are linear combinations."""
    basis = lookup("regressor_base", f.model).basis
    assert basis is not None
    Y, chosen = f("regressor"), basis(f.model)
    Yb = Y[..., list(chosen.columns)]
    assert relative_error(Yb @ np.array(chosen.matrix, float), Y, floor=1.0) < 1e-9
    return [Yb]


def _of_frames(c: str) -> dict[str, Expected]:
    return {
        f"frame_velocity_{c}": lambda f: [velocity(f, c)],
        f"frame_acceleration_{c}": lambda f: [acceleration(f, c)],
        f"frame_classical_acceleration_{c}": lambda f: [classical(f, c)],
        f"frame_jacobian_{c}": lambda f: [seen(f, c) @ aligned_jacobian(f)],
        f"frame_jacobian_rate_{c}": lambda f: f.rate(f"frame_jacobian_{c}", q=f.inputs["v"]),
        f"frame_drift_{c}": lambda f: [drift(f, c)],
        f"frame_velocity_derivatives_{c}": _derivatives(f"frame_velocity_{c}", "q", "v"),
        f"frame_acceleration_derivatives_{c}": _derivatives(f"frame_acceleration_{c}", "q", "v", "a"),
    }


EXPECTED: Final[Mapping[str, Expected]] = {
    "frame_placement": frames,
    **{name: row for c in CONVENTIONS for name, row in _of_frames(c).items()},
    "rnea": lambda f: [rnea(f)],
    "nle": lambda f: [f("rnea", a=0 * f.inputs["a"])],
    "gravity": lambda f: [f("rnea", v=0 * f.inputs["v"], a=0 * f.inputs["a"])],
    "crba": lambda f: f.by("rnea", "a"),
    "minv": lambda f: [np.linalg.inv(f("crba"))],
    "aba": lambda f: [times(np.linalg.inv(f("crba")), f.inputs["tau"] - f("nle"))],
    "rnea_fext": lambda f: [f("rnea") - pushed(f)],
    "aba_fext": lambda f: [f("aba", tau=f.inputs["tau"] + pushed(f))],
    "rnea_derivatives": _derivatives("rnea", "q", "v", "a"),
    "aba_derivatives": _derivatives("aba", "q", "v", "tau"),
    "rnea_fext_derivatives": _derivatives("rnea_fext", "q", "v", "a", "fext"),
    "aba_fext_derivatives": _derivatives("aba_fext", "q", "v", "tau", "fext"),
    "kinetic_energy": lambda f: [energies(f, tens(f.robot))[0] + Joints(f).kinetic],
    "potential_energy": lambda f: [energies(f, tens(f.robot))[1] + Joints(f).potential],
    "com": lambda f: [center(f)],
    "com_velocity": lambda f: f.rate("com", q=f.inputs["v"]),
    "com_acceleration": lambda f: f.rate("com_velocity", q=f.inputs["v"], v=f.inputs["a"]),
    "com_jacobian": lambda f: f.by("com", "q"),
    "centroidal_momentum": lambda f: [momentum(f)],
    "centroidal_matrix": lambda f: f.by("centroidal_momentum", "v"),
    "centroidal_matrix_rate": lambda f: f.rate("centroidal_matrix", q=f.inputs["v"]),
    "regressor": lambda f: [regressor(f)],
    "regressor_base": _base_regressor,
    "kinetic_regressor": lambda f: [energy_regressor(f, 0)],
    "potential_regressor": lambda f: [energy_regressor(f, 1)],
    "rnea_second": lambda f: _second(f, "rnea_derivatives", "a"),
    "aba_second": lambda f: _second(f, "aba_derivatives", "tau"),
    "integrate": _integrated,
    "difference": _difference,
    "integrate_derivatives": _derivatives("integrate", "q", "v"),
    "difference_derivatives": _derivatives("difference", "q0", "q1"),
    "step": _step,
    "step_rk4": _step_rk4,
    "step_derivatives": _step_derivatives,
    "crba_world": lambda f: [_to_world(f) @ f("crba") @ _to_world(f).swapaxes(1, 2)],
    "nle_world": _nle_world,
    "contact_pose": contact_pose,
    "contact_jacobian": lambda f: [contact_rows(f, aligned_jacobian(f))],
    "contact_motion": contact_motion,
    "contact_aba_derivatives": _derivatives("contact_aba", "q", "v", "tau"),
    "contact_aba_derivatives_held": _derivatives("contact_aba_held", "q", "v", "tau"),
}
"""The expected outputs by function. Functions of contacts that are missing are checked by the dense equations
of their rows, from M, J, the drift and `nle`."""


def expected(f: Below, row: Function) -> list[Array]:
    """The outputs of a function from more basic ones; empty for functions that only identities check."""
    if row.name in EXPECTED:
        return list(EXPECTED[row.name](f))
    if row.projected is None:
        assert row.identities, row.name
        return []
    found = row.projected(f, {**f.inputs, "contacts": f.model.contacts})
    return list(found) if isinstance(found, tuple) else [found]
