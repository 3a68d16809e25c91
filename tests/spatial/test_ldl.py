"""The sparse factor of a tree's matrix and its inverse are exact in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.rationals import Rationals

from rbdgen.functions.inertia_matrix.inverse import unit_lower_inverse
from rbdgen.spatial.ldl import LDL, ldl

Matrix = list[list[Any]]


@st.composite
def trees(draw: st.DrawFn) -> tuple[tuple[int, ...], ...]:
    """The ancestors of up to nine dofs, nearest first; several may have none."""
    ancestors: list[tuple[int, ...]] = []
    for k in range(draw(st.integers(1, 9))):
        parent = draw(st.integers(-1, k - 1))
        ancestors.append((parent, *ancestors[parent]) if parent >= 0 else ())
    return tuple(ancestors)


def product(A: Matrix, B: Matrix) -> Matrix:
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*B, strict=True)] for row in A
    ]


def dense(rows: Any) -> Matrix:
    return [[row.get(j, 0) for j in range(len(rows))] for row in rows]


def random_factor(ancestors: tuple[tuple[int, ...], ...], seed: int) -> tuple[LDL, Matrix]:
    """A random factor, and the matrix H = L^T D L."""
    r = Rationals(seed)
    lower: tuple[dict[int, Any], ...] = tuple(
        {j: r.number() or Fraction(1, 9) for j in above} for above in ancestors
    )
    D = [r.positive() for _ in ancestors]
    L = dense([{i: 1, **row} for i, row in enumerate(lower)])
    DL = [[d * x for x in row] for d, row in zip(D, L, strict=True)]
    H = product([list(column) for column in zip(*L, strict=True)], DL)
    return LDL(lower, tuple(1 / d for d in D), ancestors, tuple(range(len(D)))), H


@given(trees(), st.integers(0, 2**32))
def test_factor_of_a_tree(ancestors: tuple[tuple[int, ...], ...], seed: int) -> None:
    factor, H = random_factor(ancestors, seed)
    assert ldl(H, ancestors) == factor


@given(trees(), st.integers(0, 2**32))
def test_inverse_factor_is_as_sparse(ancestors: tuple[tuple[int, ...], ...], seed: int) -> None:
    factor, _ = random_factor(ancestors, seed)
    W = unit_lower_inverse(factor)
    assert [set(row) for row in W] == [{i, *above} for i, above in enumerate(ancestors)]
    L = dense([{i: 1, **row} for i, row in enumerate(factor.lower)])
    n = len(ancestors)
    assert product(dense(W), L) == [[int(i == j) for j in range(n)] for i in range(n)]


@given(trees(), st.integers(0, 2**32))
def test_solve(ancestors: tuple[tuple[int, ...], ...], seed: int) -> None:
    factor, H = random_factor(ancestors, seed)
    right = Rationals(seed + 1).numbers(len(ancestors))
    assert product(H, [[x] for x in factor.solve(right)]) == [[b] for b in right]
