"""Dense algebra of small arrays, on expressions and on floats alike.

Matrices are NumPy arrays with rows first. Loops run while the user's Python function is traced, so that known
zeros vanish from the code. Rotations follow Sola, Deray and Atchuthan, A micro Lie theory for state
estimation in robotics, 2018; quaternions are x, y, z, w.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdgen.own.arrays import FUNCTIONS, Array, array, numbers, unpacked, where, zeros
from rbdgen.own.errors import TextError
from rbdgen.own.products import product

LARGEST_INVERSE = 4
"""The largest matrix that `inv` inverts. For larger ones `solve` takes fewer operations."""


def _matrix(name: str, values: Any) -> tuple[Any, int]:
    """A square matrix of objects, and its size. Raises TextError for any other shape."""
    A = np.asarray(values, object)
    if A.ndim != 2 or len(A) != len(A.T):
        raise TextError(f"{name}: the matrix has shape {A.shape}; give a square one")
    return A, len(A)


def _result(values: Any) -> Any:
    """An array of expressions, or one of floats if no element is an expression."""
    return numbers(values)


def _factors(name: str, A: Any) -> tuple[Any, list[Any]]:
    """The unit lower triangular L and the diagonal of D with A = L D L^T (Golub and Van Loan 2013, 4.1)."""
    A, n = _matrix(name, A)
    L, D = zeros((n, n)), list[Any]()
    for j in range(n):
        L[j, j] = 1
        scaled = [L[j, k] * D[k] for k in range(j)]
        D.append(A[j, j] - sum((scaled[k] * L[j, k] for k in range(j)), start=_ZERO))
        reciprocal = 1 / D[j]
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - sum((L[i, k] * scaled[k] for k in range(j)), start=_ZERO)) * reciprocal
    return L, D


_ZERO = array(np.asarray(0, object))


def solve(A: Any, b: Any) -> Any:
    """The solution x of A x = b for a symmetric positive definite matrix, by L D L^T without pivots.

    Args:
        A: a symmetric positive definite matrix, (n, n). Only its lower triangle is read.
        b: the right-hand side, (n,) or (n, m).

    Raises:
        RbdgenError: A is not square, or b has another number of rows.
    """
    L, D = _factors("solve", A)
    n = len(D)
    x = unpacked(b).copy()
    if x.ndim not in (1, 2) or len(x) != n:
        raise TextError(f"solve: the right-hand side has shape {x.shape}; give {n} rows")
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - L[i, k] * x[k]
    for i in range(n):
        x[i] = x[i] / D[i]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - L[k, i] * x[k]
    return _result(x)


def cholesky(A: Any) -> Any:
    """The lower triangular L with A = L L^T, (n, n), of a symmetric positive definite matrix.

    Raises:
        RbdgenError: A is not square.
    """
    L, D = _factors("cholesky", A)
    return _result(L * np.sqrt(np.stack(D)))


def inv(A: Any) -> Any:
    """The inverse of a matrix of up to 4 x 4, by cofactors. It need not be symmetric.

    Raises:
        RbdgenError: A is not square or is larger; take `solve`.
    """
    A, n = _matrix("inv", A)
    if n > LARGEST_INVERSE:
        raise TextError(
            f"inv: the matrix is {n} x {n}, and {LARGEST_INVERSE} is the largest; take rbdgen.solve"
        )
    adjugate = zeros((n, n))
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(A, i, 0), j, 1)
            adjugate[j, i] = _determinant(minor) * (-1) ** (i + j)
    determinant = sum((A[0, j] * adjugate[j, 0] for j in range(n)), start=_ZERO)
    return _result(adjugate * (1 / determinant))


def _determinant(A: Any) -> Any:
    """The determinant by its first row; 1 for a matrix without rows."""
    if len(A) == 0:
        return 1
    terms = (A[0, j] * _determinant(np.delete(A[1:], j, 1)) * (-1) ** j for j in range(len(A)))
    return sum(terms, start=_ZERO)


def _det(A: Any) -> Any:
    """np.linalg.det of a matrix of up to 4 x 4. Raises TextError for larger ones."""
    A, n = _matrix("np.linalg.det", A)
    if n > LARGEST_INVERSE:
        raise TextError(
            f"np.linalg.det: the matrix is {n} x {n}, and {LARGEST_INVERSE} is the largest; if it is "
            "positive definite, take np.prod(np.diag(rbdgen.cholesky(A)))**2"
        )
    return _result(np.array(_determinant(A), object))


def congruence(A: Any, P: Any) -> Any:
    """A P A^T for a symmetric P. Only half of the product is computed.

    Args:
        A: a matrix, (m, n).
        P: a symmetric matrix, (n, n).

    Returns:
        The symmetric product, (m, m).

    Raises:
        RbdgenError: the shapes do not fit.
    """
    A = unpacked(A)
    P, n = _matrix("congruence", P)
    if A.ndim != 2 or A.shape[1] != n:
        raise TextError(f"congruence: A has shape {A.shape}; give {n} columns, as P has")
    A, P = A.view(np.ndarray), P.view(np.ndarray)
    return _result(product(product(A, P), A.T, symmetric=True))


def cross(a: Any, b: Any) -> Any:
    """The cross product of two vectors, (3,)."""
    a, b = _vector("cross", a, 3), _vector("cross", b, 3)
    return _result([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def skew(a: Any) -> Any:
    """The matrix, (3, 3), whose product with b is `cross(a, b)`."""
    x, y, z = _vector("skew", a, 3)
    return _result([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def norm(a: Any) -> Any:
    """The Euclidean norm of all elements. Its derivative is not finite where all of them are 0."""
    a = unpacked(a).ravel()
    return _result(np.sqrt(a @ a))


def rotation(quaternion: Any) -> Any:
    """The rotation matrix, (3, 3), of a unit quaternion x, y, z, w."""
    x, y, z, w = _vector("rotation", quaternion, 4)
    return _result(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_product(a: Any, b: Any) -> Any:
    """The product a b of two quaternions x, y, z, w, which rotates by b first and then by a."""
    ax, ay, az, aw = _vector("quaternion_product", a, 4)
    bx, by, bz, bw = _vector("quaternion_product", b, 4)
    return _result(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    )


def quaternion_inverse(quaternion: Any) -> Any:
    """The inverse of a unit quaternion x, y, z, w."""
    x, y, z, w = _vector("quaternion_inverse", quaternion, 4)
    return _result([-x, -y, -z, w])


SMALL_ANGLE = 1e-8
"""The squared angle, in rad^2, below which `exp3` and `log3` take the first terms of their series."""


def exp3(w: Any) -> Any:
    """The unit quaternion x, y, z, w of a rotation by the angle |w|, in rad, about w."""
    w = _vector("exp3", w, 3)
    squared = w @ w
    small = squared < SMALL_ANGLE
    angle = np.sqrt(where(small, 1, squared))
    scale = where(small, 0.5 - squared / 48, np.sin(angle / 2) / angle)
    return _result([*(scale * w), where(small, 1 - squared / 8, np.cos(angle / 2))])


def log3(quaternion: Any) -> Any:
    """The rotation vector, (3,), in rad, of a unit quaternion x, y, z, w. Its angle is at most pi."""
    *vector, w = _vector("log3", quaternion, 4)
    v = array(_result(vector)).astype(object).view(Array)
    squared = v @ v
    small = squared < SMALL_ANGLE / 4
    length = np.sqrt(where(small, 1, squared))
    turned = np.abs(w)
    scale = where(small, 2 / turned - 2 * squared / (3 * turned**3), 2 * np.arctan2(length, turned) / length)
    return _result(where(w < 0, -scale, scale) * v)


def _vector(name: str, values: Any, size: int) -> Any:
    held = unpacked(values)
    if held.shape != (size,):
        raise TextError(f"{name}: the vector has shape {held.shape}; give ({size},)")
    return held


def _inverse(A: Any) -> Any:
    return array(np.asarray(inv(A), object))


def _solution(A: Any, b: Any) -> Any:
    """The solution of A x = b by Gaussian elimination without pivots (Golub and Van Loan 2013, 3.2). A need
    not be symmetric, but its leading minors must not be 0.
    """
    A, n = _matrix("np.linalg.solve", A)
    U, x = A.copy(), unpacked(b).copy()
    if x.ndim not in (1, 2) or len(x) != n:
        raise TextError(f"np.linalg.solve: the right-hand side has shape {x.shape}; give {n} rows")
    for k in range(n):
        reciprocal = 1 / U[k, k]
        for i in range(k + 1, n):
            factor = U[i, k] * reciprocal
            U[i, k + 1 :] = U[i, k + 1 :] - factor * U[k, k + 1 :]
            x[i] = x[i] - factor * x[k]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - U[i, k] * x[k]
        x[i] = x[i] / U[i, i]
    return x


FUNCTIONS.update(
    {
        np.linalg.solve: _solution,
        np.linalg.inv: _inverse,
        np.linalg.det: _det,
        np.linalg.cholesky: cholesky,
        np.cross: cross,
    }
)
