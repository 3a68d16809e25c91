"""Dual numbers: scalars that carry their derivatives (forward differentiation).

An algorithm that runs on them gives the derivatives of its results, for any scalars: numbers, symbols of any
engine, exact rationals. Derivatives that are always 0 are not stored and cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from rbdgen.spatial.scalar import Naming, Scalar, add, is_zero, mul, neg, unnamed


class Dual:
    """A value and its derivatives with respect to some variables, by the variables' numbers."""

    __slots__ = ("slopes", "value")
    __array_ufunc__ = None  # makes NumPy's arrays leave arithmetic to this class

    def __init__(self, value: Scalar, slopes: Mapping[int, Scalar] | None = None) -> None:
        self.value = value
        self.slopes = {k: slope for k, slope in (slopes or {}).items() if not is_zero(slope)}

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.slopes!r})"

    def __add__(self, other: Scalar) -> Dual:
        slopes = dict(self.slopes)
        for k, slope in slopes_of(other).items():
            slopes[k] = add(slopes.get(k, 0), slope)
        return Dual(add(self.value, value_of(other)), slopes)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(neg(self.value), {k: neg(slope) for k, slope in self.slopes.items()})

    def __sub__(self, other: Scalar) -> Dual:
        return self.__add__(neg(other))

    def __rsub__(self, other: Scalar) -> Dual:
        return (-self).__add__(other)

    def __mul__(self, other: Scalar) -> Dual:
        value = value_of(other)
        slopes = {k: mul(slope, value) for k, slope in self.slopes.items()}
        for k, slope in slopes_of(other).items():
            slopes[k] = add(slopes.get(k, 0), mul(self.value, slope))
        return Dual(mul(self.value, value), slopes)

    __rmul__ = __mul__

    def mapped(self, value: Scalar, slope: Scalar) -> Dual:
        """f(x), from f(x.value) and f'(x.value)."""
        return Dual(value, {k: mul(slope, own) for k, own in self.slopes.items()})


def value_of(x: Scalar) -> Scalar:
    """The value of a dual number, or the scalar itself."""
    return x.value if isinstance(x, Dual) else x


def slopes_of(x: Scalar) -> Mapping[int, Scalar]:
    """The derivatives of a dual number; other scalars have none."""
    return x.slopes if isinstance(x, Dual) else {}


def naming_duals(naming: Naming) -> Naming:
    """The `Naming` of dual numbers that names the value and every derivative by `naming`."""
    if naming is unnamed:
        return unnamed

    def named(label: str, x: Scalar) -> Scalar:
        if not isinstance(x, Dual):
            return naming(label, x)
        slopes = {k: naming(f"{label} by {k}", slope) for k, slope in x.slopes.items()}
        return Dual(naming(label, x.value), slopes)

    return named
