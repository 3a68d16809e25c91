"""L^T D L factorisation of symmetric positive definite matrices that preserves the sparsity of a tree.

Featherstone 2008, section 6.5: H = L^T D L with L unit lower triangular. L_ij is nonzero only if degree of
freedom j is an ancestor of i. There is no pivoting, because the matrices are positive definite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from rbdgen.spatial.scalar import Naming, Scalar, maximum, mul, reciprocal, sub, unnamed


@dataclass(frozen=True, slots=True)
class LDL:
    """The factors of H."""

    lower: tuple[dict[int, Scalar], ...]
    """`lower[i]` maps an ancestor j of i to L_ij."""
    inverse_diagonal: tuple[Scalar, ...]
    """1 / D_i."""
    ancestors: tuple[tuple[int, ...], ...]
    """The ancestors of each i, nearest first."""
    order: tuple[int, ...]
    """All indices, each after its ancestors."""

    def solve(self, right: Sequence[Scalar]) -> list[Scalar]:
        """H^-1 right."""
        y = self.scale(self.back_substitute(right))
        for i in self.order:
            for j in self.ancestors[i]:
                y[i] = sub(y[i], mul(self.lower[i][j], y[j]))
        return y

    def back_substitute(self, right: Sequence[Scalar]) -> list[Scalar]:
        """L^-T right."""
        y = list(right)
        for i in reversed(self.order):
            for j in self.ancestors[i]:
                y[j] = sub(y[j], mul(self.lower[i][j], y[i]))
        return y

    def scale(self, y: Sequence[Scalar]) -> list[Scalar]:
        """D^-1 y."""
        return [mul(value, inverse) for value, inverse in zip(y, self.inverse_diagonal, strict=True)]


def forward_substituted(lower: Sequence[Scalar], right: Sequence[Scalar]) -> list[Scalar]:
    """L^-1 right, where `lower` has the entries of L below its diagonal, row by row."""
    y, entries = list(right), iter(lower)
    for i in range(len(y)):
        row = list(islice(entries, i))
        for j in reversed(range(i)):
            y[i] = sub(y[i], mul(row[j], y[j]))
    return y


def back_substituted(lower: Sequence[Scalar], right: Sequence[Scalar]) -> list[Scalar]:
    """L^-T right, where `lower` has the entries of L below its diagonal, row by row."""
    y, entries = list(right), iter(lower)
    rows = [list(islice(entries, i)) for i in range(len(y))]
    for i in reversed(range(len(y))):
        for j in reversed(range(i)):
            y[j] = sub(y[j], mul(rows[i][j], y[i]))
    return y


def ldl(
    H: Sequence[Sequence[Scalar]],
    ancestors: Sequence[Sequence[int]] | None = None,
    naming: Naming = unnamed,
    order: Sequence[int] | None = None,
    least: float = 0,
) -> LDL:
    """Factor a symmetric H, n x n. Without `ancestors` every lower index is an ancestor (a dense matrix).

    `order` has every index after its ancestors; None if ancestors have lower indices. With `least`, no D_i is
    smaller than `least` H_ii, so that all factors of a singular matrix are finite as well.
    """
    n = len(H)
    places = tuple(range(n)) if order is None else tuple(order)
    chains = tuple(tuple(reversed(range(i))) if ancestors is None else tuple(ancestors[i]) for i in range(n))
    rest = [list(row) for row in H]
    lower: list[dict[int, Scalar]] = [{} for _ in range(n)]
    inverse: list[Scalar] = [0] * n
    for k in reversed(places):
        pivot = rest[k][k]
        if least and k != places[-1]:  # before the first elimination, D_i is H_ii
            pivot = maximum(pivot, mul(least, H[k][k]))
        inverse[k] = naming(f"1/D[{k}]", reciprocal(pivot))
        for position, i in enumerate(chains[k]):
            factor = lower[k][i] = naming(f"L[{k},{i}]", mul(rest[k][i], inverse[k]))
            for j in chains[k][position:]:
                rest[i][j] = rest[j][i] = sub(rest[i][j], mul(factor, rest[k][j]))
    return LDL(tuple(lower), tuple(inverse), chains, places)
