"""Operations with exact zeros and ones are left out for all types of the other operand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import casadi
import pytest
import sympy

from rbdgen.spatial.scalar import add, dot, is_number, is_zero, mul, neg, reciprocal, sub

ZEROS = (0, 0.0, -0.0, Fraction(0))
SYMBOLS = (casadi.SX.sym("x"), sympy.Symbol("x"))


@pytest.mark.parametrize("zero", ZEROS, ids=repr)
@pytest.mark.parametrize("x", [*SYMBOLS, 3, 2.5, Fraction(1, 3)], ids=repr)
def test_zeros_vanish(zero: Any, x: Any) -> None:
    assert add(zero, x) is x
    assert add(x, zero) is x
    assert sub(x, zero) is x
    assert is_zero(mul(zero, x))
    assert is_zero(mul(x, zero))


@pytest.mark.parametrize("one", [1, 1.0, Fraction(1)], ids=repr)
@pytest.mark.parametrize("x", SYMBOLS, ids=repr)
def test_ones_vanish(one: Any, x: Any) -> None:
    assert mul(one, x) is x
    assert mul(x, one) is x


def test_minus_one_negates() -> None:
    x = sympy.Symbol("x")
    assert mul(-1, x) == mul(x, -1.0) == sub(0, x) == neg(x) == -x


def test_no_minus_zero() -> None:
    """-0.0 would print as an operation on a constant."""
    for result in (neg(0.0), mul(-1, 0.0), mul(0.0, -3.0)):
        assert isinstance(result, int)
        assert result == 0


def test_zero_times_not_finite_is_zero() -> None:
    """A structural zero times NaN or infinity is 0, as the product is never evaluated."""
    assert mul(0, float("nan")) == 0
    assert mul(float("inf"), 0.0) == 0


def test_symbols_are_not_numbers() -> None:
    for x in SYMBOLS:
        assert not is_number(x)
        assert not is_zero(x)
        assert not is_zero(x - x)


def test_reciprocal_is_exact_for_integers_and_rationals() -> None:
    assert reciprocal(3) == Fraction(1, 3)
    assert reciprocal(Fraction(2, 7)) == Fraction(7, 2)
    assert reciprocal(4.0) == 0.25
    assert isinstance(reciprocal(4.0), float)


def test_dot_skips_zeros_and_checks_lengths() -> None:
    x = sympy.Symbol("x")
    assert dot([0, 1, 2], [float("nan"), x, 3]) == x + 6
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        dot([1, 2], [3])


@pytest.mark.parametrize("unit", [1, -1])
@pytest.mark.parametrize("x", SYMBOLS, ids=repr)
def test_a_reciprocal_of_one_meets_any_symbol(unit: int, x: Any) -> None:
    """The reciprocal of a plain 1, such as an element of D, works with CasADi, which takes no Fraction."""
    assert type(reciprocal(unit)) is int
    assert str(add(reciprocal(unit), x)) == str(unit + x)
