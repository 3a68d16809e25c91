"""The solid ellipsoid of the mass and the inertia of a body: what the inertia looks like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rbdgen.model.inertia import Inertia
from rbdgen.show.extent import Array


@dataclass(frozen=True)
class Ellipsoid:
    """A solid ellipsoid of uniform density, in the frame of the body's joint."""

    com: Array
    """The centre of mass (3,), which is the centre of the ellipsoid, in m."""
    R: Array
    """The principal axes as columns (3, 3), right-handed."""
    radii: Array
    """The radii (3,) along these axes, in m."""
    moments: Array
    """The principal moments (3,) about the centre of mass, in kg m^2, ascending."""


def ellipsoid_of(inertia: Inertia) -> Ellipsoid | None:
    """The solid ellipsoid of the same mass, centre of mass and inertia; None for a body without mass.

    Along a principal axis the mean square distance of mass from the centre is s_i^2 = (tr(J)/2 - J_i) / m,
    which is a fifth of the square of the radius. It is taken as 0 where an inertia violates the triangle
    inequality.
    """
    mass = float(inertia.mass)
    if mass <= 0:
        return None
    com = np.array([float(x) for x in inertia.first_moment]) / mass
    about_origin = np.array([[float(x) for x in row] for row in inertia.rotational])
    central = about_origin - mass * (com @ com * np.eye(3) - np.outer(com, com))
    moments, R = np.linalg.eigh(central)
    if np.linalg.det(R) < 0:
        R[:, 0] *= -1
    radii = np.sqrt(np.maximum(5 * (moments.sum() / 2 - moments) / mass, 0.0))
    return Ellipsoid(com, R, radii, moments)
