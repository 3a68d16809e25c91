"""Computes Jacobians, velocities and accelerations of frames as finite differences of the poses of links."""

from __future__ import annotations

import numpy as np
from support.below.evaluated import Below
from support.below.links import axial, crossed
from support.below.types import Array


def frames(f: Below) -> tuple[Array, Array]:
    """The poses of the frames."""
    return f("poses")


def twists(dR: Array, dp: Array, R: Array) -> Array:
    """Motions (..., 6) in convention aligned, from changes of poses."""
    return np.concatenate([dp, axial(dR @ R.swapaxes(-1, -2))], axis=-1)


def aligned_jacobian(f: Below) -> Array:
    """The Jacobians (states, links, 6, nv) in convention aligned."""
    R, _ = frames(f)
    dR, dp = f.by("poses", "q")
    return np.moveaxis(twists(np.moveaxis(dR, -1, 0), np.moveaxis(dp, -1, 0), R), 0, -1)


def seen(f: Below, convention: str) -> Array:
    """The matrices (states, links, 6, 6) from aligned motions to those of a convention."""
    R, p = frames(f)
    X = np.zeros((*p.shape[:2], 6, 6))
    turn = R.swapaxes(-1, -2) if convention == "local" else np.broadcast_to(np.eye(3), R.shape)
    X[..., :3, :3] = X[..., 3:, 3:] = turn
    if convention == "world":
        X[..., :3, 3:] = crossed(p)
    return X


def velocity(f: Below, convention: str) -> Array:
    dR, dp = f.rate("poses", q=f.inputs["v"])
    return times(seen(f, convention), twists(dR, dp, frames(f)[0]))


def acceleration(f: Below, convention: str) -> Array:
    """The spatial acceleration; for convention aligned, the local one is rotated."""
    if convention == "aligned":
        return times(np.linalg.inv(seen(f, "local")), acceleration(f, "local"))
    (A,) = f.rate(f"frame_velocity_{convention}", q=f.inputs["v"], v=f.inputs["a"])
    return A


def classical(f: Below, convention: str) -> Array:
    """The classical acceleration: the spatial one with omega x v added to the linear part."""
    A, V = acceleration(f, convention).copy(), velocity(f, convention)
    A[..., :3] += np.cross(V[..., 3:], V[..., :3])
    return A


def drift(f: Below, convention: str) -> Array:
    kind = "classical_acceleration" if convention == "aligned" else "acceleration"
    return np.asarray(f(f"frame_{kind}_{convention}", a=0 * f.inputs["a"]))


def times(A: Array, x: Array) -> Array:
    return np.asarray((A @ x[..., None])[..., 0])
