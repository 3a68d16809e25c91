"""Least squares with orthogonalised columns: A = Q R with R unit upper triangular, without square roots.

This is the modified Gram-Schmidt method, which is as accurate as Householder reflections if right-hand sides
go through the same steps as columns (Bjorck, Numerical Methods for Least Squares Problems, 1996, section
2.4). It divides only by squared lengths, which are 0 only for dependent columns, so that rows need not be
exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdgen.spatial.scalar import Scalar, dot, mul, reciprocal, sub

Column = list[Scalar]


@dataclass(frozen=True)
class Orthogonal:
    """The factors of A."""

    columns: tuple[Column, ...]
    """The columns q_k of Q."""
    inverse_squares: tuple[Scalar, ...]
    """1 / |q_k|^2."""
    upper: tuple[Column, ...]
    """The rows of R right of the diagonal."""

    def solve(self, b: Column) -> Column:
        """The x that minimises |A x - b|."""
        x: Column = []
        for q, inverse in zip(self.columns, self.inverse_squares, strict=True):
            share = mul(dot(q, b), inverse)
            b = _without(b, q, share)
            x.append(share)
        for k in reversed(range(len(x))):
            x[k] = sub(x[k], dot(self.upper[k], x[k + 1 :]))
        return x


def orthogonal(A: Sequence[Column]) -> Orthogonal:
    """The factors of a matrix, which is given by its independent columns."""
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
