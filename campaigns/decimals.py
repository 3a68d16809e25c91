"""Vectors and matrices of decimals with 60 digits; leading axes count cases."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np

DIGITS = 60

_EXACT = mpmath.MPContext()
_EXACT.dps = DIGITS

Array = Any
"""A matrix of `Decimal`s."""


def exact(values: Any) -> Array:
    """Converts floats to decimals exactly."""
    values = np.asarray(values)
    if values.dtype == object:
        return values
    return np.array([Decimal(x) for x in values.ravel().tolist()], dtype=object).reshape(values.shape)


def rounded(values: Array) -> np.ndarray:
    return np.asarray(values).astype(float)


@lru_cache(maxsize=4096)
def cos_sin(angle: Decimal) -> tuple[Decimal, Decimal]:
    x = _EXACT.mpf(str(angle))
    cos, sin = (Decimal(mpmath.nstr(f(x), DIGITS)) for f in (_EXACT.cos, _EXACT.sin))
    return cos, sin


def skew(x: Array) -> Array:
    """The matrices [x] (..., 3, 3) of vectors x (..., 3), with [x] y = x x y."""
    zero = x[..., 0] * 0
    rows = ((zero, -x[..., 2], x[..., 1]), (x[..., 2], zero, -x[..., 0]), (-x[..., 1], x[..., 0], zero))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def cross(x: Array, y: Array) -> Array:
    a, b, c = x[..., 0], x[..., 1], x[..., 2]
    d, e, f = y[..., 0], y[..., 1], y[..., 2]
    return np.stack([b * f - c * e, c * d - a * f, a * e - b * d], axis=-1)


def times(R: Array, x: Array) -> Array:
    return np.matmul(R, x[..., None])[..., 0]


def turned_back(R: Array, x: Array) -> Array:
    return np.matmul(x[..., None, :], R)[..., 0, :]


EYE = exact(np.eye(3))


def rotation_about(axis: Array, angle: Decimal) -> Array:
    """The rotation matrix (3, 3) about a unit axis by an angle in rad, by Rodrigues' formula."""
    c, s = cos_sin(angle)
    return EYE * c + skew(axis) * s + np.outer(axis, axis) * (1 - c)


def rotation_from_rpy(rpy: Array) -> Array:
    x, y, z = (rotation_about(EYE[k], rpy[k]) for k in range(3))
    return z @ y @ x


def norm(x: Array) -> Decimal:
    return x.dot(x).sqrt() or Decimal(0)


def inverse(M: Array) -> Array | None:
    """The inverse of M, by elimination with the largest pivot; None if M is singular within rounding."""
    n = len(M)
    rows = np.concatenate([M, exact(np.eye(n))], axis=1)
    for k in range(n):
        pivot = k + max(range(n - k), key=lambda i: abs(rows[k + i, k]))
        if abs(rows[pivot, k]) <= Decimal("1e-40") * max(abs(x) for x in M.ravel()):
            return None
        rows[[k, pivot]] = rows[[pivot, k]]
        rows[k] = rows[k] / rows[k, k]
        for i in range(n):
            if i != k:
                rows[i] = rows[i] - rows[k] * rows[i, k]
    return rows[:, n:]
