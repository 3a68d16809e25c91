"""The data of a page, which its program reads: one object for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

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
    """The name of the description's file; empty for a robot that was not read from a file."""
    manifest: Mapping[str, Any]
    """The manifest of the folder whose C the page runs: sizes, joints, bodies, contacts and functions."""
    engine: str
    """The language of the program in the page: "WebAssembly" or "JavaScript"."""
    ellipsoids: Sequence[Mapping[str, Any] | None]
    """For every body the solid ellipsoid of the same mass and inertia, with its `com`, `R`, `radii`
    and `moments` as in `ellipsoid.py`; None for a body without mass."""
    neutral: Sequence[float]
    """The configuration at which the joints have not moved."""
    radii: Mapping[str, float]
    """The radii of the spheres of contacts in m, by the names of the contacts."""
    frames: Sequence[int]
    """For every body the index of its frame among those of `frame_placement`; -1 if it has none."""
    costs: Mapping[str, Mapping[str, Any]]
    """The facts of functions that the page only counts, as in the manifest."""
    figures: Mapping[str, Mapping[str, int]]
    """The bytes of `flash` and of `stack` of functions on a Cortex-M4F in float; empty if not asked for."""
    code: Mapping[str, Code]
    """The texts of the functions that are shown line by line."""
    links: Sequence[Mapping[str, Any]]
    meshes: Sequence[Sequence[Mapping[str, Any]]]
    triangles: tuple[int, int]
    missing: Sequence[str]
    """One line for everything that the page does not show."""
    warnings: Sequence[str]
    doubts: Mapping[int, Sequence[str]]
    """The reasons why the inertia of a body does not fit its shapes, by the index of the body."""
    q: Sequence[float] | None
    """The configuration at the beginning, if it is given."""
    pose: Mapping[str, float]
    """The positions of joints at the beginning, in rad or m."""
    equations: str
    """The equations of a small robot as HTML; empty for others."""

    def as_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}
