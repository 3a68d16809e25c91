"""The scalar protocol: the operations of algorithms on numbers, symbols and exact rationals.

An algorithm is written once. On floats it computes, on `Fraction` it computes exactly, and on `casadi.SX`,
SymPy expressions or `graph.expression.Expr` it builds an expression. All of these have + - * and unary -;
this module adds the operations that they do not share. Structural zeros and ones are Python numbers: they
vanish before an engine sees them, so that every engine traces the same sparse code and `0 * nan` never
occurs.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

Scalar: TypeAlias = Any
"""A number (int, float, Fraction), or a symbol of any engine. Engines share no base class."""

Naming: TypeAlias = Callable[[str, Scalar], Scalar]
"""Takes the name of an intermediate quantity and its value; returns the value to continue with."""


def unnamed(label: str, value: Scalar) -> Scalar:
    """The `Naming` that leaves values as they are."""
    del label
    return value


_NUMBERS: Final = frozenset({int, float, Fraction, bool, np.float64})


def is_number(value: Scalar) -> bool:
    """Whether the value is a known number while tracing."""
    # exact types, because isinstance asks the abstract base classes of Fraction and takes ten times as long
    return type(value) in _NUMBERS


def is_zero(value: Scalar) -> bool:
    """Whether the value is structurally zero: a number, and equal to 0."""
    return type(value) in _NUMBERS and value == 0


def add(a: Scalar, b: Scalar) -> Scalar:
    """a + b; exact zeros vanish."""
    if type(a) in _NUMBERS and a == 0:
        return b
    if type(b) in _NUMBERS and b == 0:
        return a
    return a + b


def sub(a: Scalar, b: Scalar) -> Scalar:
    """a - b; exact zeros vanish."""
    if type(b) in _NUMBERS and b == 0:
        return a
    if type(a) in _NUMBERS and a == 0:
        return -b
    return a - b


def neg(a: Scalar) -> Scalar:
    """-a; an exact zero stays the integer 0 (no minus zero)."""
    return 0 if type(a) in _NUMBERS and a == 0 else -a


def mul(a: Scalar, b: Scalar) -> Scalar:
    """a b; exact zeros and ones vanish."""
    if type(a) in _NUMBERS:
        if a == 0:
            return 0
        if a == 1:
            return b
        if a == -1:
            return neg(b)
    if type(b) in _NUMBERS:
        if b == 0:
            return 0
        if b == 1:
            return a
        if b == -1:
            return neg(a)
    return a * b


def reciprocal(a: Scalar) -> Scalar:
    """1 / a, exact for integers and rationals. 1 and -1 stay integers, which every engine accepts."""
    if isinstance(a, int) and abs(a) == 1:
        return a
    return Fraction(1) / a if isinstance(a, (int, Fraction)) else 1 / a


def total(values: Iterable[Scalar]) -> Scalar:
    """The sum of the values, added in order."""
    found: Scalar = 0
    for value in values:
        found = add(found, value)
    return found


def dot(a: tuple[Scalar, ...] | list[Scalar], b: tuple[Scalar, ...] | list[Scalar]) -> Scalar:
    """The sum of a_k b_k, added in order."""
    total: Scalar = 0
    for x, y in zip(a, b, strict=True):
        total = add(total, mul(x, y))
    return total


def sqrt(a: Scalar) -> Scalar:
    """The square root."""
    return _elementary("sqrt", a)


def exp(a: Scalar) -> Scalar:
    """The exponential function."""
    return _elementary("exp", a)


def log(a: Scalar) -> Scalar:
    """The natural logarithm."""
    return _elementary("log", a)


def maximum(x: Scalar, y: Scalar) -> Scalar:
    """y if x < y, else x; so x if x is NaN."""
    return select(x, y, y, x)


def minimum(x: Scalar, y: Scalar) -> Scalar:
    """y if y < x, else x; so x if x is NaN."""
    return select(y, x, y, x)


def select(a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
    """x if a < b, else y; so y if a or b is NaN."""
    return _selected("select", operator.lt, (a, b, x, y))


def select_le(a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
    """x if a <= b, else y; so y if a or b is NaN."""
    return _selected("select_le", operator.le, (a, b, x, y))


def held(x: Scalar) -> Scalar:
    """x, as a constant of differentiation by rbdgen. CasADi and SymPy differentiate it as x."""
    return x.applied("held", x) if hasattr(x, "applied") else x


def _selected(name: str, compare: Callable[[Scalar, Scalar], Any], operands: tuple[Scalar, ...]) -> Scalar:
    a, b, x, y = operands
    if is_number(a) and is_number(b):
        return x if compare(a, b) else y
    for operand in operands:
        if hasattr(operand, "applied"):  # an expression of the graph
            return operand.applied(name, *operands)
        library = type(operand).__module__.partition(".")[0]
        if library == "casadi":
            import casadi  # noqa: PLC0415  (heavy, and only its own symbols come here)

            return casadi.if_else(compare(a, b), x, y)
        if library == "sympy":
            import sympy  # noqa: PLC0415  (heavy, and only its own symbols come here)

            return sympy.Piecewise((x, compare(a, b)), (y, True))
    if any(isinstance(operand, (np.ndarray, np.generic)) for operand in operands):
        chosen: Any = np.where(compare(a, b), x, y)
        return chosen[()]
    return x if compare(a, b) else y


def _elementary(name: str, a: Scalar) -> Scalar:
    """Symbols of CasADi and of the graph have these functions as methods, SymPy has them as functions."""
    if is_number(a):
        return getattr(math, name)(a)
    if isinstance(a, (np.ndarray, np.generic)):
        return getattr(np, name)(a)
    if hasattr(a, name):
        return getattr(a, name)()
    import sympy  # noqa: PLC0415  (heavy, and only its own symbols come here)

    return getattr(sympy, name)(a)
