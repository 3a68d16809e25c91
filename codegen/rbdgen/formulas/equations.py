"""The equations of a robot: as SymPy matrices, or written as text, LaTeX or an HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from rbdgen.description.quoting import escaped, told
from rbdgen.errors import OptionError
from rbdgen.formulas.collect import Factor, Product, Sum, Turn, collected
from rbdgen.formulas.derive import EQUATION, MOST_TERMS, QUANTITIES, Derived, derive
from rbdgen.formulas.documents import display, html, latex, text, used
from rbdgen.formulas.symbols import Symbol, sets_of
from rbdgen.model.build import Robot


@dataclass(frozen=True)
class Equations:
    """Closed expressions of a robot's functions, see `rbdgen.equations`."""

    derived: Derived

    def __repr__(self) -> str:
        size = self.derived.robot.nv
        shapes = [
            f"{QUANTITIES[name].label} {(size, size) if QUANTITIES[name].matrix else (len(elements), 1)}"
            for name, elements in self.derived.elements.items()
        ]
        return f"<Equations of {escaped(self.derived.robot.name)}: {', '.join(shapes)}>"

    def _repr_latex_(self) -> str:
        """One display of all equations, as notebooks show it."""
        return display(self.derived, self.collected)

    @property
    def symbols(self) -> Mapping[str, Symbol]:
        """The symbols of masses, lengths and so on in the expressions, by name, with their meanings and
        values.
        """
        return {symbol.name: symbol for symbol in used(self.derived)}

    @cached_property
    def collected(self) -> Mapping[str, Sequence[Sum]]:
        """The elements of every function, row-major, ready to be written."""
        symbols = self.derived.symbols
        return {
            name: [collected(x, symbols, quadratic=name == "kinetic_energy") for x in elements]
            for name, elements in self.derived.elements.items()
        }

    @cached_property
    def matrices(self) -> Mapping[str, Any]:
        """SymPy matrices by their usual names: "M", "C", "g", "h", "tau", "T" or "U".

        Vectors are columns, and energies are 1 x 1. Symbols are real and have the names of the text. Numbers
        are rationals of at most 15 digits.
        """
        sympy_of = _Translation(self.derived.symbols)
        found = {}
        for name, elements in self.collected.items():
            quantity = QUANTITIES[name]
            columns = self.derived.robot.model.sizes["nv"] if quantity.matrix else 1
            values = [sympy_of.sum(element) for element in elements]
            found[quantity.label] = sympy_of.matrix(len(values) // columns, columns, values)
        return found

    @property
    def values(self) -> Mapping[Any, float]:
        """The values of the SymPy symbols for this robot, in kg, m, kg m^2 and m/s^2."""
        sympy_of = _Translation(list(self.symbols.values()))
        values = (float(symbol.value or 0) for symbol in self.symbols.values())
        return dict(zip(sympy_of.symbols, values, strict=True))

    def text(self) -> str:
        """The equations as plain text."""
        return text(self.derived, self.collected)

    def latex(self) -> str:
        """The equations as LaTeX, for a document that uses amsmath."""
        return latex(self.derived, self.collected)

    def html(self) -> str:
        """The equations as an HTML page with MathML, which needs only a browser."""
        return html(self.derived, self.collected)


def equations_of(
    robot: Robot,
    functions: str | Sequence[str] | None = None,
    symbols: str | Sequence[str] = "all",
    budget_terms: int = MOST_TERMS,
) -> Equations:
    """The equations of a robot; for the arguments, see `rbdgen.equations`."""
    asked = EQUATION if functions is None else functions
    if isinstance(asked, str):
        asked = asked.split(",")
    if not isinstance(asked, Iterable):
        raise OptionError(f"functions {told(asked)} are not a list; give some of: {', '.join(QUANTITIES)}")
    return Equations(derive(robot, tuple(asked), sets_of(symbols), budget_terms))


class _Translation:
    """Collected polynomials as SymPy expressions."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        import sympy  # noqa: PLC0415  (heavy: loaded when used)

        self.sympy = sympy
        self.symbols = [sympy.Symbol(symbol.name, real=True) for symbol in symbols]

    def matrix(self, rows: int, columns: int, values: Sequence[Any]) -> Any:
        return self.sympy.Matrix(rows, columns, values)

    def sum(self, x: Sum) -> Any:
        return self.sympy.Add(*map(self._product, x.terms))

    def _product(self, x: Product) -> Any:
        factors = (self._factor(factor) ** exponent for factor, exponent in x.factors)
        return self.sympy.Mul(self._number(x.coefficient), *factors)

    def _factor(self, factor: Factor) -> Any:
        if isinstance(factor, Turn):
            angle = self.sympy.Add(*(self._number(c) * self.symbols[k] for k, c in factor.angle))
            return self.sympy.sin(angle) if factor.sine else self.sympy.cos(angle)
        return self.sum(factor) if isinstance(factor, Sum) else self.symbols[factor]

    def _number(self, x: Fraction) -> Any:
        return self.sympy.Rational(x.numerator, x.denominator)
