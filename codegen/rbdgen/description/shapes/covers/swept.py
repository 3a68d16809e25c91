"""A sphere that is swept along a line segment, which is a capsule, in the frame of a shape or of a link."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from rbdgen.spatial.ops import Transform

Array: TypeAlias = npt.NDArray[np.float64]


class Swept(NamedTuple):
    """A capsule, in m. A sphere has no half length, and its axis is any unit vector."""

    center: Array
    axis: Array
    half_length: float
    radius: float
    excess: float | None = 0.0
    """The largest distance from its surface to the shape that it covers; None if it is unknown."""

    @property
    def ends(self) -> tuple[Array, Array]:
        """The two ends (3,) of the segment."""
        reach = self.half_length * self.axis
        return self.center - reach, self.center + reach

    def placed(self, placement: Transform) -> Swept:
        """The capsule in an outer frame, in which its own frame has this placement."""
        R = np.array([[float(x) for x in row] for row in placement.rotation])
        p = np.array([float(x) for x in placement.translation])
        return self._replace(center=R @ self.center + p, axis=R @ self.axis)


def along(axis: Array, half_length: float, radius: float, excess: float) -> Swept:
    """A capsule about the origin."""
    return Swept(np.zeros(3), axis, half_length, radius, excess)


def between(a: Array, b: Array, radius: float, excess: float | None) -> Swept:
    """The capsule between two ends (3,), or a sphere if they coincide."""
    length = float(np.linalg.norm(b - a))
    axis = (b - a) / length if length > 0 else np.array([0.0, 0.0, 1.0])
    return Swept((a + b) / 2, axis, length / 2, radius, excess)


def millimetres(excess: float) -> float:
    """An excess in mm, rounded upwards to 0.1 mm."""
    return math.ceil(round(1e4 * excess, 4)) / 10


def unit(k: int) -> Array:
    """The unit vector along coordinate axis k."""
    axis = np.zeros(3)
    axis[k] = 1.0
    return axis


def beyond(points: Array, capsule: Swept) -> Array:
    """The signed distances (n,) from the surface of a capsule to points (n, 3), negative inside of it."""
    r = points - capsule.center
    t = np.clip(r @ capsule.axis, -capsule.half_length, capsule.half_length)
    return np.asarray(np.linalg.norm(r - t[:, None] * capsule.axis, axis=1) - capsule.radius)
