"""In the normal form, equal expressions have equal terms, and keep their values."""

from __future__ import annotations

from fractions import Fraction
from math import cos, isclose, prod, sin
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rbdgen.errors import OptionError
from rbdgen.formulas.ring import Polynomial, Ring, TooManyTermsError, rational, tidy

SYMBOLS = range(4)
"""The indices of symbols: 0, 1 and 2 are angles, those of 0 and 1 of parallel joints; 3 is a length."""

VALUES = (0.3, -1.1, 0.7, 1.3)


def ring() -> Ring:
    made = Ring(100_000)
    made.groups = {0: 0, 1: 0, 2: 2}
    return made


def value(x: Any) -> float:
    """The value of a polynomial at `VALUES`."""
    if not isinstance(x, Polynomial):
        return float(x)
    total = 0.0
    for (powers, waves), c in x.terms.items():
        factors = [VALUES[k] ** n for k, n in powers]
        for wave in waves:
            angle = sum(float(m) * VALUES[k] for k, m in wave.angle)
            factors.append(sin(angle) if wave.sine else cos(angle))
        total += float(c) * prod(factors)
    return total


def test_sums_of_angles_come_out() -> None:
    own = ring()
    a, b = own.symbol(0), own.symbol(1)
    c1, s1, c2, s2 = own.cos(a), own.sin(a), own.cos(b), own.sin(b)
    assert (c1 * c1 + s1 * s1).terms == own.number(1).terms
    assert (c1 * c2 - s1 * s2).terms == own.cos(a + b).terms
    assert (s1 * c2 - c1 * s2).terms == own.sin(a - b).terms
    assert (own.sin(-a) + s1).terms == {}
    assert (own.sin(a + b) * c2 - own.cos(a + b) * s2).terms == s1.terms


def test_angles_of_other_axes_stay_products() -> None:
    own = ring()
    product = own.cos(own.symbol(0)) * own.cos(own.symbol(2))
    assert len(product.terms) == 1


EXPRESSIONS = st.recursive(
    st.one_of(
        st.tuples(st.just("number"), st.integers(-3, 3)),
        st.tuples(st.just("symbol"), st.integers(0, 3)),
        st.tuples(st.sampled_from(["cos", "sin"]), st.integers(0, 2)),
    ),
    lambda inner: st.tuples(st.sampled_from("+-*"), inner, inner),
    max_leaves=8,
)


def computed(expression: Any, own: Ring) -> tuple[Polynomial, float]:
    """An expression as a polynomial and as a number."""
    what, *rest = expression
    if what == "number":
        return own.number(rest[0]), float(rest[0])
    if what == "symbol":
        return own.symbol(rest[0]), VALUES[rest[0]]
    if what in ("cos", "sin"):
        function, wave = (cos, own.cos) if what == "cos" else (sin, own.sin)
        return wave(own.symbol(rest[0])), function(VALUES[rest[0]])
    (a, x), (b, y) = (computed(part, own) for part in rest)
    return {"+": (a + b, x + y), "-": (a - b, x - y), "*": (a * b, x * y)}[what]


@settings(deadline=None)
@given(EXPRESSIONS)
def test_values_are_kept(expression: Any) -> None:
    polynomial, number = computed(expression, ring())
    assert isclose(value(polynomial), number, rel_tol=1e-9, abs_tol=1e-9)


@settings(deadline=None)
@given(EXPRESSIONS, EXPRESSIONS, st.sampled_from(SYMBOLS))
def test_derivatives_follow_the_product_rule(one: Any, other: Any, symbol: int) -> None:
    own = ring()
    (a, _), (b, _) = computed(one, own), computed(other, own)
    expected = a.derivative(symbol) * b + a * b.derivative(symbol)
    assert ((a * b).derivative(symbol) - expected).terms == {}


def test_derivatives_of_the_elements() -> None:
    own = ring()
    a, length = own.symbol(0), own.symbol(3)
    assert (own.sin(2 * a).derivative(0) - 2 * own.cos(2 * a)).terms == {}
    assert (own.cos(a + own.symbol(1)).derivative(1) + own.sin(a + own.symbol(1))).terms == {}
    assert ((length * length * length).derivative(3) - 3 * length * length).terms == {}


def test_numbers_are_the_decimals_they_were_written_as() -> None:
    assert rational(0.1) == Fraction(1, 10)
    assert tidy(Fraction(0.1) * 3) == Fraction(3, 10)
    assert tidy(Fraction(1, 3) + Fraction(1, 10**16)) == Fraction(1, 3)
    assert tidy(Fraction(1, 17)) == Fraction("0.0588235294117647")


def test_what_rounding_left_is_dropped() -> None:
    own = ring()
    x = own.symbol(3) + 1e-15 * own.symbol(0)
    assert x.tidied().terms == own.symbol(3).terms
    assert len((own.symbol(3) + 1e-9 * own.symbol(0)).tidied().terms) == 2
    heavy, light = own.symbol(0), 1e-15 * own.symbol(1)
    assert len((heavy + light).tidied([1.0, 1.0]).terms) == 1
    assert len((heavy + light).tidied([1e-12, 1.0]).terms) == 2, "worth 1e-3 of the other"
    assert len((heavy + own.symbol(1)).tidied([1e20, 1e-20]).terms) == 2, "no number in it is rounded"


def test_work_is_bounded() -> None:
    own = Ring(50)
    x = own.symbol(0) + own.symbol(1) + own.symbol(2)
    with pytest.raises(TooManyTermsError, match="more than 50 terms"):
        _ = x * x * x * x


def test_only_numbers_divide() -> None:
    own = ring()
    assert (own.symbol(3) / 4).terms == (own.symbol(3) * 0.25).terms
    with pytest.raises(OptionError, match="cannot be divided"):
        _ = own.symbol(3) / own.symbol(0)
