"""Notations for equations: plain text, LaTeX and MathML."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from rbdgen.formulas.collect import Factor, Product, Sum, Turn
from rbdgen.formulas.ring import Angle
from rbdgen.formulas.symbols import Symbol

FRACTIONS: Final = (2, 3, 4, 6, 8, 9, 12, 16)
"""The denominators with which a number is written as a fraction rather than a decimal."""

DIGITS: Final = 6
"""The number of significant digits of decimals."""


class Notation(ABC):
    """Writes a collected polynomial. Notations differ in the abstract methods, each of which joins parts that
    are written already.
    """

    def sum(self, x: Sum, symbols: Sequence[Symbol]) -> str:
        """The sum, or 0 if it is empty."""
        if not x.terms:
            return self.number("0")
        signs = (term.coefficient < 0 for term in x.terms)
        terms = [self._product(term, symbols) for term in x.terms]
        return self.signed(list(zip(signs, terms, strict=True)))

    def _product(self, x: Product, symbols: Sequence[Symbol]) -> str:
        factors = [self._power(factor, exponent, symbols) for factor, exponent in x.factors]
        size = abs(x.coefficient)
        if size != 1 or not factors:
            factors.insert(0, self._coefficient(size))
        return self.product(factors)

    def _power(self, factor: Factor, exponent: int, symbols: Sequence[Symbol]) -> str:
        if isinstance(factor, Turn):
            function = "sin" if factor.sine else "cos"
            return self.function(function, self._angle(factor.angle, symbols), exponent)
        if isinstance(factor, Sum):
            return self.bracket(self.sum(factor, symbols))
        written = self.symbol(symbols[factor].letter, symbols[factor].subscript)
        return written if exponent == 1 else self.power(written, exponent)

    def _angle(self, angle: Angle, symbols: Sequence[Symbol]) -> str:
        return self.sum(Sum(tuple(Product(c, ((symbol, 1),)) for symbol, c in angle)), symbols)

    def _coefficient(self, size: Fraction) -> str:
        if _is_fraction(size):
            return self.fraction(str(size.numerator), str(size.denominator))
        mantissa, _, exponent = decimal(size).partition("e")
        return self.number(mantissa) if not exponent else self.scientific(mantissa, str(int(exponent)))

    def scientific(self, mantissa: str, exponent: str) -> str:
        return self.product([self.number(mantissa), self.power(self.number("10"), int(exponent))])

    @abstractmethod
    def symbol(self, letter: str, subscript: str) -> str: ...

    @abstractmethod
    def number(self, digits: str) -> str: ...

    @abstractmethod
    def fraction(self, over: str, under: str) -> str: ...

    @abstractmethod
    def function(self, name: str, argument: str, exponent: int) -> str: ...

    @abstractmethod
    def power(self, base: str, exponent: int) -> str: ...

    @abstractmethod
    def bracket(self, inside: str) -> str: ...

    @abstractmethod
    def product(self, factors: Sequence[str]) -> str: ...

    @abstractmethod
    def signed(self, terms: Sequence[tuple[bool, str]]) -> str:
        """A sum of terms; True puts a minus before the term."""


def decimal(size: Fraction) -> str:
    """The number as a decimal, rounded to `DIGITS` digits."""
    return f"{float(size):.{DIGITS}g}"


def is_rounded(x: Sum) -> bool:
    """Whether any number in it is rounded when it is written."""
    return any(not _is_whole(number) for number in _numbers(x))


def _numbers(x: Sum) -> Iterator[Fraction]:
    for term in x.terms:
        yield abs(term.coefficient)
        for factor, _ in term.factors:
            if isinstance(factor, Sum):
                yield from _numbers(factor)
            elif isinstance(factor, Turn):
                yield from (abs(multiple) for _, multiple in factor.angle)


def _is_whole(size: Fraction) -> bool:
    return _is_fraction(size) or Fraction(decimal(size)) == size


def _is_fraction(size: Fraction) -> bool:
    return size.denominator in FRACTIONS and size.numerator <= max(FRACTIONS)


class Text(Notation):
    """Plain text, such as `m2 (l1^2 + 2 l1 lc2 cos(q2))`."""

    def symbol(self, letter: str, subscript: str) -> str:
        return letter + subscript

    def number(self, digits: str) -> str:
        return digits

    def scientific(self, mantissa: str, exponent: str) -> str:
        return f"{mantissa}e{exponent}"

    def fraction(self, over: str, under: str) -> str:
        return f"{over}/{under}"

    def function(self, name: str, argument: str, exponent: int) -> str:
        return f"{name}({argument})" + ("" if exponent == 1 else f"^{exponent}")

    def power(self, base: str, exponent: int) -> str:
        return f"{base}^{exponent}"

    def bracket(self, inside: str) -> str:
        return f"({inside})"

    def product(self, factors: Sequence[str]) -> str:
        return " ".join(factors)

    def signed(self, terms: Sequence[tuple[bool, str]]) -> str:
        (minus, first), *rest = terms
        return ("-" if minus else "") + first + "".join(f" {'-' if m else '+'} {x}" for m, x in rest)


class Latex(Text):
    r"""LaTeX, such as `m_{2} \left(l_{1}^{2} + ..\right)`, which matplotlib's mathtext reads, too."""

    def symbol(self, letter: str, subscript: str) -> str:
        letter = r"\tau" if letter == "tau" else letter
        return f"{letter}_{{{subscript.replace('_', ',')}}}" if subscript else letter

    def scientific(self, mantissa: str, exponent: str) -> str:
        return rf"{mantissa} \cdot 10^{{{exponent}}}"

    def fraction(self, over: str, under: str) -> str:
        return rf"\frac{{{over}}}{{{under}}}"

    def function(self, name: str, argument: str, exponent: int) -> str:
        return rf"\{name}" + ("" if exponent == 1 else f"^{{{exponent}}}") + f"({argument})"

    def power(self, base: str, exponent: int) -> str:
        return f"{base}^{{{exponent}}}"

    def bracket(self, inside: str) -> str:
        return rf"\left({inside}\right)"

    def product(self, factors: Sequence[str]) -> str:
        return r" \, ".join(factors)


class MathML(Notation):
    """Presentation MathML, which browsers draw without help."""

    def symbol(self, letter: str, subscript: str) -> str:
        base = f"<mi>{'τ' if letter == 'tau' else letter}</mi>"
        return f"<msub>{base}<mi>{subscript.replace('_', ',')}</mi></msub>" if subscript else base

    def number(self, digits: str) -> str:
        return f"<mn>{digits}</mn>"

    def fraction(self, over: str, under: str) -> str:
        return f"<mfrac><mn>{over}</mn><mn>{under}</mn></mfrac>"

    def function(self, name: str, argument: str, exponent: int) -> str:
        base = f"<mi>{name}</mi>"
        return (base if exponent == 1 else self.power(base, exponent)) + self.bracket(argument)

    def power(self, base: str, exponent: int) -> str:
        if base.startswith("<msub>"):
            inside = base.removeprefix("<msub>").removesuffix("</msub>")
            return f"<msubsup>{inside}<mn>{exponent}</mn></msubsup>"
        return f"<msup><mrow>{base}</mrow><mn>{exponent}</mn></msup>"

    def bracket(self, inside: str) -> str:
        return f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>"

    def product(self, factors: Sequence[str]) -> str:
        return '<mspace width="0.2em"/>'.join(factors)

    def signed(self, terms: Sequence[tuple[bool, str]]) -> str:
        (minus, first), *rest = terms
        begin = "<mo>−</mo>" if minus else ""
        return begin + first + "".join(f"<mo>{'−' if m else '+'}</mo>{x}" for m, x in rest)
