"""Writes a polynomial as people do: waves become products if that is shorter, and terms are collected.

A wave is the sine or cosine of a sum of angles. There are two steps, and neither needs a choice by the user.
First, if two terms differ only in one group of angles and have equal coefficients, they become one, as in 1 +
cos 2a = 2 cos^2 a. Then terms are collected by accelerations, products of velocities, sines and cosines,
masses or lengths, in the order that leaves the fewest symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any, Final, NamedTuple, TypeAlias

from rbdgen.formulas.ring import Angle, Polynomial, Powers
from rbdgen.formulas.symbols import Symbol


class Turn(NamedTuple):
    """The sine or cosine of a sum of angles."""

    sine: bool
    angle: Angle


class Product(NamedTuple):
    """A coefficient, and factors with exponents. A factor is a symbol, a sine or cosine, or a sum."""

    coefficient: Fraction
    factors: tuple[tuple[Factor, int], ...]


@dataclass(frozen=True)
class Sum:
    """Products, in the order in which they are written."""

    terms: tuple[Product, ...]


Factor: TypeAlias = "int | Turn | Sum"

_Turns: TypeAlias = tuple[Turn, ...]


class _Term(NamedTuple):
    """A term with its factors by role. `turns` has the positions in q, and the sines and cosines."""

    coefficient: Fraction
    masses: Powers = ()
    gravity: Powers = ()
    lengths: Powers = ()
    turns: tuple[Powers, _Turns] = ((), ())
    rates: Powers = ()


_KINDS = ("masses", "gravity", "lengths", "turns", "rates")
_EMPTY = _Term(Fraction(0))


def collected(x: Polynomial, symbols: Sequence[Symbol], *, quadratic: bool = False) -> Sum:
    """The polynomial ready to be written: first the terms of each acceleration, then of velocities, then the
    rest.

    With `quadratic`, the terms of each product of velocities are also kept separate.
    """
    sections: dict[Any, list[_Term]] = {}
    terms = (_sorted_by_role(product, symbols) for product in _products(x))
    for term in sorted(terms, key=lambda term: _place(term, symbols)):
        degree = _degree(term, symbols)
        of = term.rates if quadratic or degree == ACCELERATED else ()
        sections.setdefault((of, degree), []).append(term)
    written = (_product(own, _KEYS) if of else _shortest(own) for (of, _), own in sections.items())
    return Sum(tuple(product for section in written for product in section.products))


# ---- sums of waves as products


def _products(x: Polynomial) -> list[tuple[Fraction, Powers, _Turns]]:
    """The terms, in which a sum of waves of one group is replaced by a product that it equals, if any."""
    groups = sorted({wave.group for _, waves in x.terms for wave in waves})
    terms: dict[tuple[Powers, tuple[tuple[int, _Turns], ...]], Fraction] = {
        (powers, tuple((wave.group, (Turn(wave.sine, wave.angle),)) for wave in waves)): c
        for (powers, waves), c in x.terms.items()
    }
    for group in groups:
        families: dict[Any, dict[_Turns, Fraction]] = {}
        for (powers, waves), c in terms.items():
            rest = tuple(wave for wave in waves if wave[0] != group)
            families.setdefault((powers, rest), {})[dict(waves).get(group, ())] = c
        terms = {}
        for (powers, rest), family in families.items():
            for turns, c in _paired(family):
                terms[powers, tuple(sorted((*rest, (group, turns)))) if turns else rest] = c
    return [
        (c, powers, _in_order(turn for _, turns in waves for turn in turns))
        for (powers, waves), c in terms.items()
    ]


def _in_order(turns: Iterable[Turn]) -> _Turns:
    return tuple(sorted(turns, key=lambda turn: (turn.angle, turn.sine)))


def _paired(family: dict[_Turns, Fraction]) -> list[tuple[_Turns, Fraction]]:
    """A sum over waves of one group, with pairs of them as products."""
    left = sorted(family.items())
    found = []
    while left:
        turns, c = left.pop(0)
        for k, (others, d) in enumerate(left):
            product = _sum_to_product(turns, others, d / c)
            if product is not None:
                share, turns = product
                c *= share
                del left[k]
                break
        found.append((turns, c))
    return found


def _sum_to_product(a: _Turns, b: _Turns, ratio: Fraction) -> tuple[Fraction, _Turns] | None:
    """A + ratio B as a multiple of a product of two waves; None if it is none. () is 1, the cosine of 0."""
    first, second = (turns[0] if turns else Turn(sine=False, angle=()) for turns in (a, b))
    if abs(ratio) != 1 or first.sine != second.sine:
        return None
    plus, minus = (_half_sum(first.angle, second.angle, way) for way in (1, -1))
    if plus is None or minus is None:
        return None
    # cos + cos = 2 cos cos, cos - cos = -2 sin sin, sin + sin = 2 sin cos, sin - sin = 2 cos sin
    sines = (first.sine, False) if ratio == 1 else (not first.sine, True)
    share = Fraction(-2 if ratio == -1 and not first.sine else 2)
    made = []
    for sine, half in zip(sines, (plus, minus), strict=True):
        angle = tuple(sorted(half.items()))
        if angle[0][1] < 0:
            angle = tuple((symbol, -multiple) for symbol, multiple in angle)
            share = -share if sine else share
        made.append(Turn(sine, angle))
    return share, _in_order(made)


def _half_sum(a: Angle, b: Angle, way: int) -> dict[int, Fraction] | None:
    """(a +- b) / 2; None if this is 0 or has a fraction of an angle."""
    angle = dict(a)
    for symbol, multiple in b:
        angle[symbol] = angle.get(symbol, Fraction(0)) + way * multiple
    half = {symbol: multiple / 2 for symbol, multiple in angle.items() if multiple}
    whole = all(multiple.denominator == 1 for multiple in half.values())
    return half if half and whole else None


# ---- terms in order


def _sorted_by_role(product: tuple[Fraction, Powers, _Turns], symbols: Sequence[Symbol]) -> _Term:
    c, powers, turns = product

    def of(*roles: str) -> Powers:
        return tuple(power for power in powers if symbols[power[0]].role in roles)

    rates = of("velocity", "acceleration")
    masses = of("mass", "inertia")
    return _Term(c, masses, of("gravity"), of("length"), (of("position"), turns), rates)


ACCELERATED: Final = 3
"""The degree of a term with an acceleration. The degree of other terms is the power of velocities."""


def _degree(term: _Term, symbols: Sequence[Symbol]) -> int:
    if any(symbols[index].role == "acceleration" for index, _ in term.rates):
        return ACCELERATED
    return sum(exponent for _, exponent in term.rates)


def _place(term: _Term, symbols: Sequence[Symbol]) -> Any:
    """The sort key of a term: accelerations first, then velocities; constants before sines and cosines;
    inertias before masses.
    """
    positions, turns = term.turns
    masses = [(symbols[index].role != "inertia", index) for index, _ in term.masses]
    angles = [[[index for index, _ in turn.angle], turn.sine, turn.angle] for turn in turns]
    lengths, rates = (
        [index for index, exponent in of for _ in range(exponent)] for of in (term.lengths, term.rates)
    )
    return (-_degree(term, symbols), rates, angles, positions, masses, lengths, term.gravity)


# ---- collecting

_KEYS: Final[Mapping[str, Callable[[_Term], Any]]] = {
    "rates": lambda term: term.rates,
    "turns": lambda term: term.turns,
    "masses": lambda term: term.masses,
    "lengths": lambda term: term.lengths,
}
"""The keys by which terms are grouped. Of orders with equally many symbols, the first one is taken."""

_NESTED: Final = 3
"""The number of symbols that a bracket in a bracket must save."""

_Keys: TypeAlias = Mapping[str, Callable[[_Term], Any]]


class _Written(NamedTuple):
    """A sum as products, and the number of symbols that it takes. A bracket in a bracket counts as `_NESTED`
    more symbols.
    """

    cost: int
    products: tuple[Product, ...]

    @property
    def nests(self) -> bool:
        """Whether it has brackets."""
        return any(isinstance(factor, Sum) for product in self.products for factor, _ in product.factors)


def _shortest(terms: Sequence[_Term]) -> _Written:
    """The terms with common factors in front of a bracket, if that is shorter."""
    return min(_sum(terms, _KEYS), _product(terms, _KEYS), key=lambda written: written.cost)


def _sum(terms: Sequence[_Term], keys: _Keys) -> _Written:
    """The sum of the terms as products: one per term, or one per group of terms with the same key."""
    best = _added([_product([term], keys) for term in terms])
    for kind, key in keys.items():
        groups: dict[Any, list[_Term]] = {}
        for term in terms:
            groups.setdefault(key(term), []).append(term)
        if 1 < len(groups) < len(terms):
            others = {name: of for name, of in keys.items() if name != kind}
            found = _added([_product(group, others) for group in groups.values()])
            best = min(best, found, key=lambda written: written.cost)
    return best


def _added(parts: Sequence[_Written]) -> _Written:
    return _Written(sum(part.cost for part in parts), tuple(x for part in parts for x in part.products))


def _product(terms: Sequence[_Term], keys: _Keys) -> _Written:
    """The terms as a product of their common factors and brackets; without brackets if they share nothing."""
    shared = {kind: getattr(terms[0], kind) for kind in _KINDS}
    shared = {kind: own for kind, own in shared.items() if all(getattr(term, kind) == own for term in terms)}
    before, behind = _factors(_EMPTY._replace(**shared))
    number = _content([term.coefficient for term in terms])
    bare = abs(number) == 1 and not (before or behind)
    brackets: list[tuple[Sequence[_Term], _Written]] = []
    if len(terms) > 1:
        blank = {kind: getattr(_EMPTY, kind) for kind in shared}
        share, brackets = _brackets([_divided(term, number)._replace(**blank) for term in terms], keys)
        if bare and len(brackets) == 1:
            return _sum(terms, keys)
        number *= share
    cost = sum(map(_size, (*before, *behind))) + (abs(number) != 1 or (bare and not brackets))
    factors, last = [*before, *behind], len(before)
    for own, written in brackets:
        cost += written.cost + _NESTED * written.nests
        at = last
        if all(term._replace(coefficient=Fraction(0), rates=()) == _EMPTY for term in own):
            at = len(factors)
        elif any(term.masses for term in own):
            at = len(shared.get("masses", ()))
        factors.insert(at, (Sum(written.products), 1))
        last += 1
    return _Written(cost, (Product(number, tuple(factors)),))


def _brackets(terms: Sequence[_Term], keys: _Keys) -> tuple[Fraction, list[tuple[Sequence[_Term], _Written]]]:
    """The terms as a number times one sum, or two sums, of which the second has factors of a single kind."""
    whole = _sum(terms, keys)
    for kind in ("rates", "turns"):
        parts = _split(terms, kind)
        if parts is None:
            continue
        across, along = parts
        step = _primitive([term.coefficient for term in along]) or Fraction(1)
        number = _content([term.coefficient * step for term in across])
        brackets: list[tuple[Sequence[_Term], _Written]] = []
        for part, divisor in ((across, number / step), (along, step)):
            own = [_divided(term, divisor) for term in part]
            brackets.append((own, _sum(own, keys)))
        if sum(written.cost for _, written in brackets) < whole.cost:
            return number, brackets
    return Fraction(1), [(terms, whole)]


def _split(terms: Sequence[_Term], kind: str) -> tuple[list[_Term], list[_Term]] | None:
    """Factors the terms into two sums: one without this kind, and one with it alone. Returns None if this is
    impossible.
    """
    rows: dict[Any, dict[_Term, Fraction]] = {}
    for term in terms:
        rest = term._replace(coefficient=Fraction(1), **{kind: getattr(_EMPTY, kind)})
        rows.setdefault(getattr(term, kind), {})[rest] = term.coefficient
    first = next(iter(rows.values()))
    one = next(iter(first))
    if len(first) == 1 or len(rows) == 1 or any(row.keys() != first.keys() for row in rows.values()):
        return None
    if any(row[x] * first[one] != first[x] * row[one] for row in rows.values() for x in row):
        return None
    across = [x._replace(coefficient=c) for x, c in first.items()]
    along = [_EMPTY._replace(coefficient=row[one] / first[one], **{kind: own}) for own, row in rows.items()]
    return across, along


def _divided(term: _Term, number: Fraction) -> _Term:
    return term._replace(coefficient=term.coefficient / number)


def _factors(term: _Term) -> tuple[list[tuple[Factor, int]], list[tuple[Factor, int]]]:
    """The factors before a bracket, and those after it."""
    positions, turns = term.turns
    powers = [(turn, turns.count(turn)) for turn in sorted(set(turns), key=turns.index)]
    return [*term.masses, *term.gravity, *term.lengths], [*positions, *powers, *term.rates]


def _size(factor: tuple[Factor, int]) -> int:
    """The number of symbols that it takes."""
    return 1 + len(factor[0].angle) if isinstance(factor[0], Turn) else 1


def _content(coefficients: Sequence[Fraction]) -> Fraction:
    """The number in front of a bracket: the common divisor, if that leaves fewer numbers to write."""
    sign = -1 if all(c < 0 for c in coefficients) else 1
    sizes = [abs(c) for c in coefficients]
    if len(set(sizes)) == 1:
        return sign * sizes[0]
    share = abs(_primitive(coefficients) or Fraction(1))
    after = sum(c != share for c in sizes)
    return sign * share if 1 + after < sum(c != 1 for c in sizes) else Fraction(sign)


def _primitive(coefficients: Sequence[Fraction]) -> Fraction | None:
    """The divisor that leaves whole numbers without a common divisor; None if they would be large."""
    share = Fraction(gcd(*(c.numerator for c in coefficients)), lcm(*(c.denominator for c in coefficients)))
    share *= -1 if all(c < 0 for c in coefficients) else 1
    return share if max(map(abs, coefficients)) <= 16 * abs(share) else None
