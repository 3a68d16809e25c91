"""Weighted least squares by orthogonal columns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from rbdgen.spatial.orthogonal import orthogonal


def test_exact() -> None:
    """The solution is exact for rationals, also if the first row does not have the first unknown."""
    A = [[Fraction(0), Fraction(2), Fraction(1)], [Fraction(3), Fraction(1), Fraction(-1)]]
    x = [Fraction(5, 7), Fraction(-2, 3)]
    b = [A[0][k] * x[0] + A[1][k] * x[1] for k in range(3)]
    assert orthogonal(A).solve(b) == x


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (6, 3), (6, 6), (5, 1), (3, 0)])
def test_least_squares(rows: int, columns: int) -> None:
    rng = np.random.default_rng(rows + columns)
    A, b = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    x = orthogonal([list(column) for column in A.T]).solve(list(b))
    np.testing.assert_allclose(x, np.linalg.lstsq(A, b, rcond=None)[0], rtol=1e-11, atol=1e-12)


def test_nearly_dependent_columns_lose_no_more_than_they_must() -> None:
    """Half of the digits remain for a condition number of 1e8; normal equations would lose all digits."""
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.normal(size=(4, 4)))[0] for _ in range(2))
    A = U @ np.diag([1, 1e-2, 1e-5, 1e-8]) @ V
    x = rng.normal(size=4)
    found = orthogonal([list(column) for column in A.T]).solve(list(A @ x))
    assert np.abs(A @ np.array(found) - A @ x).max() < 1e-15
    np.testing.assert_allclose(found, x, atol=1e-7)


def test_zeros_cost_nothing() -> None:
    """Columns without a common row take no operations with each other."""
    factor = orthogonal([[2.0, 0, 0], [0, 0, 4.0]])
    assert factor.upper == ([0], [])
    assert factor.solve([6.0, 1.0, 2.0]) == [3.0, 0.5]
