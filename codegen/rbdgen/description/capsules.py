"""Capsules on links, and the pairs and obstacles whose distances are wanted.

A capsule is a line segment with a radius. A sphere is a capsule whose segment has no length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Vector3: TypeAlias = tuple[float, float, float]

Reason: TypeAlias = str
"""Why a pair is left out, such as "neighbours", "proved apart: 511 boxes" or "SRDF: Never"."""

Segments: TypeAlias = Literal["plain", "exact"]
"""The formula for the closest points of two segments, see `docs/distances.md`."""


@dataclass(frozen=True, slots=True)
class Capsule:
    """A capsule in the frame of its link, in m. `name` is unique in a robot, such as "hand/1"."""

    name: str
    link: str
    center: Vector3
    axis: Vector3
    """The unit vector along the segment; any one for a sphere."""
    half_length: float
    """Half the length of the segment; 0 for a sphere."""
    radius: float
    excess: float | None = None
    """The largest distance from the surface of the capsule to the shape that it covers; 0 if both are the
    same, None if unknown."""


@dataclass(frozen=True, slots=True)
class Obstacles:
    """The largest number of obstacles of each kind, which are inputs of the functions."""

    spheres: int = 0
    capsules: int = 0
    boxes: int = 0
    halfspaces: int = 0


@dataclass(frozen=True, slots=True)
class Distances:
    """All that functions of distances are generated for."""

    capsules: tuple[Capsule, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    """The names of the two capsules of each pair of the robot with itself, in the order of the results."""
    left_out: tuple[tuple[str, str, Reason], ...] = ()
    obstacles: Obstacles = Obstacles()
    segments: Segments | None = None
    """None stands for "exact" in float, and for "plain" in double."""
    floor: float = 0.0
    """Length in m below which a distance of axes is rounded off, so that second derivatives stay bounded."""
    softmin: float = 100.0
    """The sharpness of the smooth minimum, in 1/m: it is below the minimum of K distances by at most log(K) /
    softmin."""
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The names of the groups of pairs that have one smooth minimum each, and patterns of the names of their
    pairs; empty for one group of all pairs."""


NO_DISTANCES: Final = Distances()
"""The value for a robot for which no distances are wanted."""
