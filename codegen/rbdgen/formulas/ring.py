"""Polynomials in symbols and in sines and cosines of sums of angles, always in one normal form.

An algorithm that runs on them leaves no intermediate steps: every result is expanded and simplified as it is
computed. The angles of parallel joints form a group. Within a group, a product of sines and cosines is
written as a sum,

    cos a cos b = (cos(a - b) + cos(a + b)) / 2,   and so on,

so that c^2 + s^2 = 1 and sums of angles of parallel joints simplify on their own. Products across groups
remain. The remaining functions are linearly independent, so that equal expressions have equal terms. The
coefficients are exact rationals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import NamedTuple, TypeAlias

from rbdgen.errors import OptionError
from rbdgen.spatial.scalar import Scalar, is_number

HALF = Fraction(1, 2)

Angle: TypeAlias = tuple[tuple[int, Fraction], ...]
"""A sum of angles: symbols in ascending order and their multiples, of which the first is positive."""

Powers: TypeAlias = tuple[tuple[int, int], ...]
"""Symbols in ascending order, and their exponents."""


class Wave(NamedTuple):
    """The sine or cosine of an angle, which belongs to a group of parallel joints."""

    group: int
    sine: bool
    angle: Angle


Waves: TypeAlias = tuple[Wave, ...]
"""A product with at most one factor per group, in ascending order of groups."""

Monomial: TypeAlias = tuple[Powers, Waves]


class TooManyTermsError(OptionError):
    """More terms were computed than the ring allows."""


class Ring:
    """The data that polynomials share: the number of terms that may be computed, and the groups of their
    angles by symbol.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.groups: Mapping[int, int] = {}
        self._spent = 0
        self._products: dict[tuple[Waves, Waves], list[tuple[Fraction, Waves]]] = {}

    def symbol(self, index: int) -> Polynomial:
        """The polynomial that is a single symbol."""
        return Polynomial(self, {(((index, 1),), ()): Fraction(1)})

    def number(self, value: Scalar) -> Polynomial:
        """The polynomial that is a number."""
        exact = rational(value)
        return Polynomial(self, {((), ()): exact} if exact else {})

    def cos(self, x: Polynomial) -> Polynomial:
        """The cosine of a sum of multiples of angles."""
        return self._wave(x, sine=False)

    def sin(self, x: Polynomial) -> Polynomial:
        """The sine of a sum of multiples of angles."""
        return self._wave(x, sine=True)

    def _wave(self, x: Polynomial, *, sine: bool) -> Polynomial:
        angle: dict[int, Fraction] = {}
        for (powers, waves), coefficient in x.terms.items():
            ((symbol, exponent),) = powers
            assert exponent == 1
            assert not waves
            angle[symbol] = coefficient
        sign, wave = _normal(self.groups[min(angle)], angle, sine=sine)
        assert wave is not None
        return Polynomial(self, {((), (wave,)): Fraction(sign)})

    def spend(self, terms: int) -> None:
        """Count terms that are computed. Raises TooManyTermsError if the ring does not allow so many."""
        self._spent += terms
        if self._spent > self.most:
            raise TooManyTermsError(f"more than {self.most:,} terms")

    def product(self, a: Waves, b: Waves) -> list[tuple[Fraction, Waves]]:
        """The product of two products of sines and cosines, as a sum."""
        if not (a and b):
            return [(Fraction(1), a or b)]
        known = self._products.get((a, b))
        if known is None:
            known = self._products[a, b] = list(_product(a, b))
        return known


class Polynomial:
    """A scalar for the algorithms. Numbers and polynomials can be added and multiplied; divisors must be
    numbers.
    """

    __slots__ = ("ring", "terms")

    def __init__(self, ring: Ring, terms: dict[Monomial, Fraction]) -> None:
        self.ring = ring
        self.terms = terms

    def _of(self, other: Scalar) -> Polynomial:
        return other if isinstance(other, Polynomial) else self.ring.number(other)

    def __add__(self, other: Scalar) -> Polynomial:
        sum_ = dict(self.terms)
        for monomial, coefficient in self._of(other).terms.items():
            _accumulate(sum_, monomial, coefficient)
        self.ring.spend(len(sum_))
        return Polynomial(self.ring, sum_)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return Polynomial(self.ring, {monomial: -c for monomial, c in self.terms.items()})

    def __sub__(self, other: Scalar) -> Polynomial:
        return self + -self._of(other)

    def __rsub__(self, other: Scalar) -> Polynomial:
        return self._of(other) - self

    def __mul__(self, other: Scalar) -> Polynomial:
        factor = self._of(other)
        result: dict[Monomial, Fraction] = {}
        for (powers, waves), c in self.terms.items():
            for (others, over), d in factor.terms.items():
                coefficient, exponents = c * d, _merged(powers, others)
                products = self.ring.product(waves, over)
                self.ring.spend(len(products))
                for share, product in products:
                    _accumulate(result, (exponents, product), share * coefficient)
        return Polynomial(self.ring, result)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Polynomial:
        if not is_number(other):
            raise OptionError("closed expressions cannot be divided by expressions in symbols")
        inverse: Fraction = 1 / rational(other)
        return self * inverse

    def derivative(self, symbol: int) -> Polynomial:
        """The derivative with respect to a symbol, which may be an angle."""
        result: dict[Monomial, Fraction] = {}
        for (powers, waves), c in self.terms.items():
            exponents = dict(powers)
            if symbol in exponents:
                exponent = exponents.pop(symbol)
                if exponent > 1:
                    exponents[symbol] = exponent - 1
                _accumulate(result, (tuple(sorted(exponents.items())), waves), c * exponent)
            for k, wave in enumerate(waves):
                if slope := dict(wave.angle).get(symbol):
                    turned = (*waves[:k], wave._replace(sine=not wave.sine), *waves[k + 1 :])
                    _accumulate(result, (powers, turned), c * slope if wave.sine else -c * slope)
        self.ring.spend(len(result))
        return Polynomial(self.ring, result)

    @property
    def symbols(self) -> set[int]:
        """The symbols on which it depends."""
        powers = {symbol for powers, _ in self.terms for symbol, _ in powers}
        return powers | {symbol for _, waves in self.terms for wave in waves for symbol, _ in wave.angle}

    def tidied(self, values: Sequence[float] = ()) -> Polynomial:
        """The polynomial without terms that are rounding errors of the robot's numbers.

        These are below 1e-13 of the largest term, both in their coefficients and in their values. `values`
        has the values of the first symbols; other symbols count as 1.
        """
        sizes = {monomial: abs(c) for monomial, c in self.terms.items()}
        worth = {
            monomial: float(c) * prod(abs(values[k]) ** n for k, n in monomial[0] if k < len(values))
            for monomial, c in sizes.items()
        }
        least, cheapest = (max(of.values(), default=0) / 10**13 for of in (sizes, worth))
        kept = (x for x in self.terms if sizes[x] > least or worth[x] > cheapest)
        return Polynomial(self.ring, {monomial: tidy(self.terms[monomial]) for monomial in kept})


def rational(value: Scalar) -> Fraction:
    """The number as an exact fraction of its decimal with 15 digits: 0.1 becomes 1/10."""
    return Fraction(f"{value:.15g}") if isinstance(value, float) else Fraction(value)


def tidy(value: Fraction) -> Fraction:
    """The nearby fraction with a small denominator, if the difference is rounding; otherwise 15 digits."""
    simple = value.limit_denominator(16)
    if abs(simple - value) <= abs(value) / 10**13:
        return simple
    return rational(float(value))


def _accumulate(terms: dict[Monomial, Fraction], monomial: Monomial, coefficient: Fraction) -> None:
    total = terms.get(monomial, 0) + coefficient
    if total:
        terms[monomial] = Fraction(total)
    else:
        terms.pop(monomial, None)


def _merged(a: Powers, b: Powers) -> Powers:
    if not (a and b):
        return a or b
    exponents = dict(a)
    for symbol, exponent in b:
        exponents[symbol] = exponents.get(symbol, 0) + exponent
    return tuple(sorted(exponents.items()))


def _product(a: Waves, b: Waves) -> Iterator[tuple[Fraction, Waves]]:
    """The product, computed group by group."""
    first, second = ({wave.group: wave for wave in waves} for waves in (a, b))
    products: list[tuple[Fraction, Waves]] = [(Fraction(1), ())]
    for group in sorted(first.keys() | second.keys()):
        if group in first and group in second:
            factors = list(product_to_sum(first[group], second[group]))
        else:
            factors = [(Fraction(1), first.get(group) or second[group])]
        products = [
            (c * d, waves if wave is None else (*waves, wave)) for c, waves in products for d, wave in factors
        ]
    yield from products


def product_to_sum(a: Wave, b: Wave) -> Iterator[tuple[Fraction, Wave | None]]:
    """The product of two waves of a group as a sum; None stands for the number 1."""
    sine = a.sine != b.sine
    for way in (-1, 1):
        angle = dict(a.angle)
        for symbol, multiple in b.angle:
            angle[symbol] = angle.get(symbol, Fraction(0)) + way * multiple
        sign, wave = _normal(a.group, angle, sine=sine)
        if (a.sine and b.sine and way == 1) or (not a.sine and b.sine and way == -1):
            sign = -sign
        if sign:
            yield sign * HALF, wave


def _normal(group: int, angle: Mapping[int, Fraction], *, sine: bool) -> tuple[int, Wave | None]:
    """The sign and the wave of an angle's sine or cosine; (1, None) for 1 and (0, None) for 0."""
    items = sorted((symbol, multiple) for symbol, multiple in angle.items() if multiple)
    if not items:
        return int(not sine), None
    if items[0][1] > 0:
        return 1, Wave(group, sine, tuple(items))
    return -1 if sine else 1, Wave(group, sine, tuple((symbol, -multiple) for symbol, multiple in items))
