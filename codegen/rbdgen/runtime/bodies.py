"""Checks whether the inertias that parameters give to links are physical."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .arrays import Array

ROUNDING: Final = 1e-12
"""The tolerance for negative eigenvalues of a second moment of mass, which rounding causes, relative to its
trace."""

LINEAR, ABOUT_CENTER, CONSTANT_INERTIA = 0, 1, 2
"""The kinds of links, as in `bodies.h`. A `LINEAR` link has its mass, first moment and inertia about the
origin as parameters, in which the dynamics is linear. A link `ABOUT_CENTER` has its mass, centre of mass and
inertia about that centre. `CONSTANT_INERTIA` stands for such a link if this inertia is constant and physical.
"""


class Bodies:
    """The links of a library that have inertial parameters, as its manifest lists them.

    Args:
        links: the links of the manifest.
        calls: the module of quick calls; None if it does not fit this version of Python.
    """

    def __init__(self, links: Sequence[Mapping[str, Any]], calls: Any = None) -> None:
        self._links, self._quick = links, getattr(calls, "are_bodies", None)
        self._values = np.array([link["values"] for link in links], float).reshape(-1, 10)
        places = [[-1 if place is None else place for place in link["places"]] for link in links]
        self._places = np.array(places, np.intp).reshape(-1, 10)
        self._kinds = np.array([_kind(link) for link in links], np.uint8)

    def unphysical(self, p: npt.ArrayLike) -> dict[str, float]:
        """The links whose inertia is not physical, by name, with the largest deviation over all rows of
        p (..., np).

        The deviation is in kg m^2 if the largest principal moment of inertia about the centre of mass exceeds
        the sum of the two others, and in kg if the mass is negative.
        """
        given = np.ascontiguousarray(p, float)
        if self._quick is not None and self._quick(given, self._values, self._places, self._kinds):
            return {}
        rows = given.reshape(-1, given.shape[-1])
        distances = {}
        for link in self._links:
            doubtful = rows[~certain(link, rows)]
            distance = float(np.max(distance_of(link, doubtful), initial=0))
            if distance > 0:
                distances[link["link"]] = distance
        return distances


def _kind(link: Mapping[str, Any]) -> int:
    if not link["about_center"]:
        return LINEAR
    constant = all(place is None for place in link["places"][4:])
    some = np.array([[1.0, *link["values"][1:]]])
    return (
        CONSTANT_INERTIA
        if constant and certain({**link, "places": [0, *[None] * 9]}, some)[0]
        else ABOUT_CENTER
    )


def certain(link: Mapping[str, Any], p: Array) -> npt.NDArray[np.bool_]:
    """Whether the inertia of a link is certainly physical, for each row of p (rows, np): booleans (rows,).

    The test has a closed form, which takes a hundredth of the time of eigenvalues. `bodies.h` explains the
    test, and implements it in C.
    """
    pairs = zip(link["values"], link["places"], strict=True)
    with np.errstate(all="ignore"):
        m, x, y, z, xx, xy, yy, xz, yz, zz = (v if k is None else p[:, k] for v, k in pairs)
        half = 0.5 * (xx + yy + zz)
        a, b, c, d, e, f = half - xx, half - yy, half - zz, -xy, -xz, -yz
        rounding = 0.0
        if not link["about_center"]:
            a, b, c = m * a - x * x, m * b - y * y, m * c - z * z
            d, e, f = m * d - x * y, m * e - x * z, m * f - y * z
            rounding = 2e-15 * (m * half + x * x + y * y + z * z)
        little = 0.99 * ROUNDING * (a + b + c) - rounding
        a, b, c = a + little, b + little, c + little
        ab, ac, af = a * b - d * d, a * c - e * e, a * f - d * e
        sound = (m > 0) & (a > 0) & (ab > 0) & (ab * ac - af * af > 0)
    return np.broadcast_to(sound, p.shape[:1])


def distance_of(link: Mapping[str, Any], p: Array) -> Array:
    """The deviation (rows,) of a link from a physical body for p (rows, np); 0 if it is physical or NaN."""
    values = np.array(np.broadcast_to(link["values"], (len(p), 10)), float)
    for k, place in enumerate(link["places"]):
        if place is not None:
            values[:, k] = p[:, place]
    m, vector = values[:, 0], values[:, 1:4]
    J = values[:, [[4, 5, 7], [5, 6, 8], [7, 8, 9]]]
    with np.errstate(all="ignore"):
        half = np.trace(J, axis1=-2, axis2=-1)[:, None, None] / 2
        second = half * np.eye(3) - J
        if not link["about_center"]:
            square = vector[:, :, None] * vector[:, None, :]
            second = second - square / np.where(m > 0, m, np.inf)[:, None, None]
        size = np.abs(np.trace(second, axis1=-2, axis2=-1))
        bounded = np.isfinite(second).all((-2, -1)) & np.isfinite(size)
        least = np.linalg.eigvalsh(np.where(bounded[:, None, None], second, np.eye(3)))[:, 0]
        inertia = np.where(bounded, np.where(least < -ROUNDING * size, -2 * least, 0), np.inf)
        massless = np.where(m < 0, -m, np.linalg.norm(values, axis=-1))
    unknown = np.isnan(values).any(-1)
    empty = (m == 0) & ~np.any(values != 0, axis=-1)
    return np.where(empty | unknown, 0, np.where(m > 0, inertia, massless))
