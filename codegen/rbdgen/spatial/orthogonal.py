"""Least squares by columns made orthogonal, A = Q R with R unit upper triangular and no square root.

Modified Gram-Schmidt, which is as accurate as Householder's reflections where right sides go through the same
steps as columns (Bjorck, Numerical Methods for Least Squares Problems, 1996, section 2.4). It divides by
squared lengths alone, which are 0 only where columns are dependent, so that no rows need exchanging.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdgen.spatial.scalar import Scalar, dot, mul, reciprocal, sub

Column = list[Scalar]


@dataclass(frozen=True)
class Orthogonal:
    """Q by columns, 1 / |q_k|^2, and the rows of R right of the diagonal."""

    columns: tuple[Column, ...]
    inverse_squares: tuple[Scalar, ...]
    upper: tuple[Column, ...]

    def solve(self, b: Column) -> Column:
        """x, for which |A x - b| is least."""
        x: Column = []
        for q, inverse in zip(self.columns, self.inverse_squares, strict=True):
            share = mul(dot(q, b), inverse)
            b = _without(b, q, share)
            x.append(share)
        for k in reversed(range(len(x))):
            x[k] = sub(x[k], dot(self.upper[k], x[k + 1 :]))
        return x


def orthogonal(A: Sequence[Column]) -> Orthogonal:
    """The factors of a matrix that is given by its columns, independent ones."""
    rest, columns, inverses, upper = list(A), [], [], []
    while rest:
        q, *rest = rest
        inverse = reciprocal(dot(q, q))
        shares = [mul(dot(q, column), inverse) for column in rest]
        rest = [_without(column, q, share) for column, share in zip(rest, shares, strict=True)]
        columns.append(q)
        inverses.append(inverse)
        upper.append(shares)
    return Orthogonal(tuple(columns), tuple(inverses), tuple(upper))


def _without(column: Column, q: Column, share: Scalar) -> Column:
    return [sub(value, mul(share, q_i)) for value, q_i in zip(column, q, strict=True)]
