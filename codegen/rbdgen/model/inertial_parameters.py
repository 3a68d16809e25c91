"""The ten inertial parameters of a body, in which its dynamics is linear.

m, m c, then the rotational inertia about the origin, in the order of Pinocchio: Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
Atkeson, An and Hollerbach, Estimation of inertial parameters of manipulator loads and links, 1986.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rbdgen.model.inertia import Inertia
from rbdgen.spatial.ops import Matrix, Vector, mirrored
from rbdgen.spatial.scalar import Scalar

NAMES: Final = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""mx is m c_x, in kg m."""

UNITS: Final = ("kg", *("kg m",) * 3, *("kg m^2",) * 6)

ENTRIES: Final = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""Row and column of the rotational inertia's entries, in order."""


def entries(symmetric: Matrix) -> list[Scalar]:
    """xx xy yy xz yz zz, from the upper triangle."""
    return [symmetric[i][j] for i, j in ENTRIES]


def parameters_of(inertia: Inertia) -> list[Scalar]:
    """The ten parameters."""
    return [inertia.mass, *inertia.first_moment, *entries(inertia.rotational)]


def inertia_of(parameters: Iterable[Scalar]) -> Inertia:
    """The inertia with these ten parameters."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = parameters
    return Inertia(m, Vector(x, y, z), mirrored([[xx, xy, xz], [0, yy, yz], [0, 0, zz]]))


UNIT_INERTIAS: Final = tuple(inertia_of([int(i == k) for i in range(10)]) for k in range(10))
"""Inertias with one parameter that is 1."""


@dataclass(frozen=True)
class BaseParameters:
    """Combinations of inertial parameters that torques depend on: tau = Yb (R pi).

    `columns`: of the regressor Y that are those of Yb, in order; `names`: of the inertial parameters that
    they belong to, such as "Ixx:forearm"; `matrix`: R by rows, a row a base parameter.
    """

    columns: tuple[int, ...]
    names: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
