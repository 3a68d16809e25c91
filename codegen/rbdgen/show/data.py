"""The data of a page, which its program reads: one object for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rbdgen.show.provenance import Line

FORMAT = 1
"""The version of the data. A page has its own program, so that nothing else reads it."""


@dataclass(frozen=True)
class Code:
    """The C of a function beside the text of its algorithm."""

    c: list[Line]
    text: str


@dataclass(frozen=True)
class PageData:
    """The data of a page."""

    title: str
    source: str
    """The name of the description's file; empty for a robot that was built in Python."""
    manifest: Mapping[str, Any]
    """The manifest of the folder whose C the page runs: sizes, joints, bodies, contacts and functions."""
    engine: str
    """What the C was compiled to: "WebAssembly" or "JavaScript"."""
    ellipsoids: Sequence[Mapping[str, Any] | None]
    """For every body the solid ellipsoid of the same mass and inertia, see `ellipsoid`; None without mass."""
    neutral: Sequence[float]
    """The configuration at which the joints have not moved."""
    radii: Mapping[str, float]
    """By name the radii of the spheres of contacts, in m."""
    frames: Sequence[int]
    """For every body the index of its frame among those of `frame_placement`; -1 if it has none."""
    code: Mapping[str, Code]
    """The texts of the functions that are shown line by line."""
    links: Sequence[Mapping[str, Any]]
    meshes: Sequence[Sequence[Mapping[str, Any]]]
    triangles: tuple[int, int]
    missing: Sequence[str]
    """One line for everything that the page does not show."""
    warnings: Sequence[str]
    doubts: Mapping[int, str]
    """By index of a body, why its inertia does not fit its shapes."""
    q: Sequence[float] | None
    """The configuration at the beginning, if it is given."""
    pose: Mapping[str, float]
    """The positions of joints at the beginning, in rad or m."""
    equations: str
    """The equations of a small robot as HTML; empty for others."""

    def as_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}


def ellipsoid(
    mass: float, first_moment: Sequence[float], inertia: Sequence[Sequence[float]]
) -> Mapping[str, Any] | None:
    """The solid ellipsoid of the same mass and inertia as a body; None for a body without mass.

    Args:
        mass: kg.
        first_moment: mass times the centre of mass, kg m.
        inertia: the rotational inertia about the origin of the body's frame, kg m^2.

    Returns:
        `com` (m), the principal axes as columns of `R`, the `radii` (m) along them, and the principal
        `moments` (kg m^2). A solid ellipsoid has the moments m (b^2 + c^2) / 5, and so on.
    """
    if mass <= 0:
        return None
    com = np.asarray(first_moment, float) / mass
    central = np.asarray(inertia, float) - mass * (com @ com * np.eye(3) - np.outer(com, com))
    moments, axes = np.linalg.eigh((central + central.T) / 2)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    radii = np.sqrt(np.maximum(2.5 / mass * (moments.sum() - 2 * moments), 1e-12))
    return {
        "com": com.tolist(),
        "R": axes.tolist(),
        "radii": radii.tolist(),
        "moments": moments.tolist(),
    }
