"""Dual numbers: sums and products carry derivatives along."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from rbdgen.graph.builder import Builder
from rbdgen.spatial.dual import Dual, naming_duals, slopes_of, value_of
from rbdgen.spatial.scalar import add, mul, neg, sub

X, Y = Dual(Fraction(2), {0: 1}), Dual(Fraction(5), {1: 1})


def test_polynomial() -> None:
    """f = (x y - 3)(x + 1) - x has the exact derivatives."""
    f = sub(mul(sub(mul(X, Y), 3), add(1, X)), X)
    assert value_of(f) == 7 * 3 - 2
    assert slopes_of(f) == {0: 5 * 3 + 7 - 1, 1: 2 * 3}


def test_numbers_on_either_side() -> None:
    for f in (3 - X, 3 + neg(X), neg(X - 3)):
        assert (f.value, f.slopes) == (1, {0: -1})
    for f in (3 * X, X * 3):
        assert (f.value, f.slopes) == (6, {0: 3})


def test_what_is_always_zero_is_not_there() -> None:
    assert Dual(3, {0: 0}).slopes == {}
    assert (X * 0).slopes == {}
    assert slopes_of(4) == {}


def test_arrays() -> None:
    """The product of a NumPy column and a dual number is computed by the dual number."""
    column = np.array([1.0, 2.0])
    for f in (column * Dual(column, {0: 1}), Dual(column, {0: 1}) * column):
        assert isinstance(f, Dual)
        assert f.value.tolist() == [1, 4]
        assert f.slopes[0].tolist() == [1, 2]


def test_functions() -> None:
    f = (X * Y).mapped(np.sin(10.0), np.cos(10.0))
    assert f.value == np.sin(10.0)
    assert f.slopes == {0: 5 * np.cos(10.0), 1: 2 * np.cos(10.0)}


def test_names() -> None:
    """The engine gets the value and every derivative as named results, so that all of them are shared."""
    builder, names = Builder(), []
    a, b = builder.input("x", 2)

    def naming(label: str, value: object) -> object:
        names.append((label, value))
        return value

    named = naming_duals(naming)("w", Dual(a, {3: b}))
    assert names == [("w by 3", b), ("w", a)]
    assert (named.value, named.slopes) == (a, {3: b})
    assert naming_duals(naming)("n", 1) == 1
