"""Log-Cholesky parameters of an inertia: ten numbers, all of whose values give a physical inertia.

Rucker and Wensing, Smooth parameterization of rigid-body inertia, RA-L 2022. The pseudo-inertia is U U^T with
U = e^alpha [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]], in Pinocchio's order.

Both formulas are plain arithmetic, so that they compute with numbers, with columns of arrays and with values
that frameworks trace and differentiate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

LOG_CHOLESKY: Final = ("alpha", "d1", "d2", "d3", "s12", "s23", "s13", "t1", "t2", "t3")
"""The names of the ten log-Cholesky parameters."""

UNITS: Final = (*("1",) * 4, *("m",) * 6)

Elementary = Callable[[Any], Any]


def linear_of(log_cholesky: Sequence[Any], exp: Elementary) -> list[Any]:
    """Computes m, m c, Ixx Ixy Iyy Ixz Iyz Izz about the origin from the ten log-Cholesky parameters."""
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = log_cholesky
    m, e1, e2, e3 = exp(2 * alpha), exp(d1), exp(d2), exp(d3)
    xx = m * (e1 * e1 + s12 * s12 + s13 * s13 + t1 * t1)
    yy = m * (e2 * e2 + s23 * s23 + t2 * t2)
    zz = m * (e3 * e3 + t3 * t3)
    xy = m * (s12 * e2 + s13 * s23 + t1 * t2)
    yz = m * (s23 * e3 + t2 * t3)
    xz = m * (s13 * e3 + t1 * t3)
    return [m, m * t1, m * t2, m * t3, yy + zz, -xy, xx + zz, -xz, -yz, xx + yy]


def log_cholesky_of(linear: Sequence[Any], sqrt: Elementary, log: Elementary) -> list[Any]:
    """The inverse of `linear_of`, for a body that extends in all directions.

    It computes the Cholesky factor of the second moments about the centre of mass, from the last row upwards.
    """
    m, hx, hy, hz, ixx, ixy, iyy, ixz, iyz, izz = linear
    t1, t2, t3 = hx / m, hy / m, hz / m
    half = (ixx + iyy + izz) / 2
    xx, yy, zz = (half - ixx) / m - t1 * t1, (half - iyy) / m - t2 * t2, (half - izz) / m - t3 * t3
    xy, yz, xz = -ixy / m - t1 * t2, -iyz / m - t2 * t3, -ixz / m - t1 * t3
    e3 = sqrt(zz)
    s23, s13 = yz / e3, xz / e3
    e2 = sqrt(yy - s23 * s23)
    s12 = (xy - s13 * s23) / e2
    e1 = sqrt(xx - s12 * s12 - s13 * s13)
    return [log(m) / 2, log(e1), log(e2), log(e3), s12, s23, s13, t1, t2, t3]
