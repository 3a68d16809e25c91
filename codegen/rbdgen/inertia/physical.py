"""Operations that need numbers: a test that an inertia is physical, principal axes, and a pivoted factor."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from rbdgen.description.soundness import PHYSICAL_TOLERANCE
from rbdgen.errors import ArrayValueError
from rbdgen.inertia.apply import TOO_LARGE, Array, check_finite
from rbdgen.model.inertial_parameters import inertia_of
from rbdgen.spatial.scalar import is_zero

ROUNDING: Final = 64
"""A moment of zero may come out as this many units of rounding of the trace."""

POINT: Final = np.eye(1, 10, dtype=np.float32)[0]
"""The parameters of a point mass, which stand for those of bodies without mass so that quotients are finite.
"""


class Principal(NamedTuple):
    """The principal moments of inertia about the centre of mass.

    moments: (..., 3), kg m^2, ascending. axes: (..., 3, 3), their directions as columns, right-handed:
    axes diag(moments) axes^T is the rotational inertia about the centre of mass.
    """

    moments: Array
    axes: Array


class Factor(NamedTuple):
    """I = F F^T with F = [[a 1, 0], [b x, L]] in [linear, angular] order, which is again ten numbers.

    rank: (...), which is 6, 5 (a rod), 3 (a point) or 0 (no mass). a: (...), the square root of the mass. b:
    (..., 3), m c / a. L: (..., 3, 3), such that L L^T is the rotational inertia about the centre of mass. For
    numbers, column k belongs to the k-th pivot and is 0 in the rows of earlier pivots. For symbols, L is
    lower triangular.
    """

    rank: Any
    a: Any
    b: Array
    L: Array

    @property
    def matrix(self) -> Array:
        """F, (..., 6, 6)."""
        F = np.zeros((*self.b.shape[:-1], 6, 6), self.b.dtype)
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            F[..., k, k] = self.a
            F[..., 3 + j, i], F[..., 3 + i, j] = self.b[..., k], -self.b[..., k]
        F[..., 3:, 3:] = self.L
        return F


def excess(parameters: Array) -> Array:
    """The distance of an inertia (..., 10) from a physical one: (...), kg m^2, at most 0 if it is physical.

    It is J_3 - J_1 - J_2 for the principal moments about the centre of mass, or -2 times the least eigenvalue
    of the second moment Sigma_c (Wensing, Kim, Slotine, RA-L 2018). It is infinite for a negative mass, or if
    the mass is 0 and moments are not.
    """
    ten = parameters.astype(np.float64)
    mass = ten[..., 0]
    hopeless = (mass < 0) | ((mass == 0) & np.any(ten[..., 1:] != 0, axis=-1))
    J = _centroidal("excess", np.where((hopeless | (mass == 0))[..., None], POINT, ten))
    moments = np.linalg.eigvalsh(J)
    return np.where(hopeless, np.inf, moments[..., 2] - moments[..., 0] - moments[..., 1])


def tolerance_of(parameters: Array, relative: float | None = None) -> Array:
    """The largest value of `excess` that counts as rounding, (...), kg m^2."""
    if relative is not None and not (isinstance(relative, (int, float)) and relative >= 0):
        raise ArrayValueError(f"is_physical: tolerance={relative!r}; give a number that is not negative")
    least = max(PHYSICAL_TOLERANCE, ROUNDING * float(np.finfo(parameters.dtype).eps))
    diagonal = parameters[..., [4, 6, 9]].astype(np.float64)
    with np.errstate(over="ignore"):  # only a tolerance above 1 can overflow
        return np.asarray(np.abs(((least if relative is None else relative) * diagonal).sum(axis=-1)))


def check_mass(caller: str, parameters: Array) -> None:
    """Raises `ArrayValueError` if a mass is 0, so that there is no centre of mass."""
    if any(is_zero(mass) for mass in parameters[..., 0].astype(object).flat):
        raise ArrayValueError(f"{caller}: a mass is 0, so there is no centre of mass; leave that body out")


def _centroidal(caller: str, parameters: Array) -> Array:
    """The rotational inertia about the centre of mass, (..., 3, 3). Raises `ArrayValueError` if m is 0."""
    check_mass(caller, parameters)
    with np.errstate(all="ignore"):
        J = _stacked(inertia_of(np.moveaxis(parameters, -1, 0)).about_center)
    check_finite(caller, "the inertia about the centre of mass", J, TOO_LARGE)
    return J


def principal(parameters: Array) -> Principal:
    """Principal moments and axes of inertias (..., 10). Raises `ArrayValueError` if m is 0."""
    moments, axes = np.linalg.eigh(_centroidal("principal", parameters))
    mirrored = np.linalg.det(axes) < 0
    axes[..., 0] = np.where(mirrored[..., None], -axes[..., 0], axes[..., 0])
    return Principal(moments, axes)


def factor(parameters: Array) -> Factor:
    """The factor, pivoted on the largest diagonal entry, so that rods and points near an axis keep their
    digits.

    Raises:
        ArrayValueError: a mass or a principal moment is negative, or a mass is 0 and moments are not.
    """
    leading, ten = parameters.shape[:-1], parameters.reshape(-1, 10)
    _check_mass(ten)
    none = ten[:, 0] == 0
    with np.errstate(all="ignore"):
        root, arm, J = inertia_of(np.where(none[:, None], POINT, ten).T).without_mass()
        limit = (ROUNDING * np.finfo(ten.dtype).eps * ten[:, [4, 6, 9]]).sum(axis=-1)
        a, b, rest = np.where(none, 0, root), np.stack(list(arm), axis=-1), _stacked(J)
    check_finite("factor", "the inertia about the centre of mass", rest, TOO_LARGE)
    L, rank = np.zeros_like(rest), np.where(none, 0, 3)
    open_rows, every = np.ones((len(ten), 3), bool), np.arange(len(ten))
    for k in range(3):
        diagonal = np.where(open_rows, np.diagonal(rest, axis1=1, axis2=2), -np.inf)
        p = np.argmax(diagonal, axis=-1)
        pivot = diagonal[every, p]
        live = pivot > limit
        scale = np.sqrt(np.where(live, pivot, 1))[:, None]
        L[:, :, k] = np.where(open_rows & live[:, None], rest[every, :, p] / scale, 0)
        rest = rest - L[:, :, None, k] * L[:, None, :, k]
        open_rows[every, p] &= ~live
        rank += live
    left = np.where(open_rows[:, :, None] & open_rows[:, None, :], rest, 0)
    _check_rest(np.abs(left).max(axis=(1, 2), initial=0), limit, ten)
    parts = (rank, a, b, L)
    rank, a, b, L = (part.reshape(leading + part.shape[1:]) for part in parts)
    return Factor(rank[()], a[()], b, L)


def _check_mass(ten: Array) -> None:
    if (ten[:, 0] < 0).any():
        raise ArrayValueError(f"factor: a mass is {ten[:, 0].min():.3g} kg; a factor needs one above 0")
    if (ten[ten[:, 0] == 0] != 0).any():
        raise ArrayValueError("factor: a mass is 0 and has moments that are not; a factor needs one above 0")


def _check_rest(left: Array, limit: Array, ten: Array) -> None:
    """Raises ArrayValueError if the remainder of a factorisation is not zero, which means that a moment is
    negative."""
    wrong = left > 2 * limit
    if wrong.any():
        first = ten[int(np.argmax(wrong))]
        least = np.linalg.eigvalsh(_centroidal("factor", first))[0]
        raise ArrayValueError(
            f"factor: a principal moment is {least:.3g} kg m^2; a factor needs moments that are not negative"
        )


def _stacked(matrix: Any) -> Array:
    """A matrix whose entries are columns, as an array (..., 3, 3)."""
    return np.stack([np.stack(list(row), axis=-1) for row in matrix], axis=-2)
