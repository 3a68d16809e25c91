"""The ten inertial parameters of a body, in which its dynamics is linear.

The order is that of Pinocchio: m, m c, then the rotational inertia about the origin as Ixx, Ixy, Iyy, Ixz,
Iyz, Izz. Atkeson, An and Hollerbach, Estimation of inertial parameters of manipulator loads and links, 1986.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rbdgen.model.inertia import Inertia
from rbdgen.spatial.ops import Matrix, Vector, mirrored
from rbdgen.spatial.scalar import Scalar

NAMES: Final = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""The parameters' names; mx is m c_x in kg m."""

UNITS: Final = ("kg", *("kg m",) * 3, *("kg m^2",) * 6)

ENTRIES: Final = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""The row and the column of each entry of the rotational inertia, in order."""


def entries(symmetric: Matrix) -> list[Scalar]:
    """xx xy yy xz yz zz of a symmetric matrix, from its upper triangle."""
    return [symmetric[i][j] for i, j in ENTRIES]


def parameters_of(inertia: Inertia) -> list[Scalar]:
    """The ten parameters of an inertia."""
    return [inertia.mass, *inertia.first_moment, *entries(inertia.rotational)]


def inertia_of(parameters: Iterable[Scalar]) -> Inertia:
    """The inertia with these ten parameters."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = parameters
    return Inertia(m, Vector(x, y, z), mirrored([[xx, xy, xz], [0, yy, yz], [0, 0, zz]]))


UNIT_INERTIAS: Final = tuple(inertia_of([int(i == k) for i in range(10)]) for k in range(10))
"""Ten inertias, in each of which one parameter is 1 and the others are 0."""


@dataclass(frozen=True)
class BaseParameters:
    """Combinations of inertial parameters on which torques depend: tau = Yb (R pi)."""

    columns: tuple[int, ...]
    """The columns of the regressor Y of which Yb consists, in order."""
    names: tuple[str, ...]
    """The names of the inertial parameters to which they belong, such as "Ixx:forearm"."""
    matrix: tuple[tuple[float, ...], ...]
    """R by rows, one row per base parameter."""
