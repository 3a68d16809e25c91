"""The constants of the elementary functions, for each number type.

`graph/kernels.py` computes with them in NumPy and `templates/c/kernels.jinja` in C. The polynomials are
minimax approximations; `benchmarks/kernel_coefficients.py` derives and prints all constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

Polynomial = tuple[float, ...]
"""Coefficients from the constant term upwards."""


class Split(NamedTuple):
    """A number as an unevaluated sum. The head has so few bits that what is done with heads is exact."""

    head: float
    tail: float


class QuarterTurn(NamedTuple):
    """pi/2 as a sum. A number x loses multiples of the parts in this order until the rest of x / (pi/2) is
    left.
    """

    exact: tuple[float, ...]
    """Parts whose multiples are exact, and so is what they leave of x."""
    middle: tuple[float, ...]
    """Parts whose multiples are exact, but not what they leave of x."""
    last: float


@dataclass(frozen=True)
class Constants:
    """The constants of one number type."""

    real: type[np.floating[Any]]
    word: type[np.unsignedinteger[Any]]
    """The unsigned integer of the same size."""
    exp: Polynomial
    """(e^r - 1 - r) / r^2 for |r| <= ln(2) / 2, by powers of r."""
    log: Polynomial
    """(log((1 + s) / (1 - s)) / s - 2) / z with z = s^2, for m = (1 + s) / (1 - s) between sqrt(1/2) and
    sqrt(2), by powers of z.
    """
    atan: Polynomial
    """(atan(t) / t - 1) / z with z = t^2, for |t| <= 1/3, by powers of z."""
    asin: Polynomial
    """(asin(s) / s - 1) / z with z = s^2, for s <= 1/2, by powers of z."""
    tan: Polynomial
    """(tan(t) / t - 1) / z with z = t^2, for |t| <= pi/8, by powers of z."""
    log2e: float
    """1 / ln(2)."""
    ln2: Split
    """The product of its head and an exponent is exact."""
    half_angle: Split
    """atan(1/2). Sums of its head with those of pi/2 and pi are exact."""
    half_pi: Split
    pi: Split
    quarter_turn: QuarterTurn
    """pi/2 as a sum."""
    quarter_turns: tuple[float, float]
    """Two factors whose product is 2/pi. The first one overflows beyond the range of the tangent."""
    tan_range: float
    """Above it, tan(x) is not computed and is NaN."""
    exp_range: tuple[float, float]
    """Below the first number e^x is 0; above the second it is infinite."""
    tanh_range: float
    """Above it, tanh(x) rounds to 1."""
    large: int
    """The exponent of the numbers beyond which, as beyond their reciprocals, squares are taken of scaled
    numbers.
    """
    shift: int
    """The exponent of the scale."""
    root_half: int
    """The bits of sqrt(1/2)."""

    @property
    def mantissa(self) -> int:
        """The number of bits of the mantissa that are stored."""
        return int(np.finfo(self.real).nmant)

    @property
    def bias(self) -> int:
        """The exponent of 1 as it is stored."""
        return int(np.finfo(self.real).maxexp) - 1

    @property
    def bits(self) -> int:
        """The number of bits of a number."""
        return 8 * np.dtype(self.real).itemsize

    @property
    def integer(self) -> float:
        """The smallest number above which all numbers are integers."""
        return 2.0**self.mantissa

    @property
    def magic(self) -> float:
        """A number so large that adding it rounds to an integer, which is then in the lowest bits."""
        return 1.5 * self.integer

    @property
    def lifted(self) -> int:
        """The exponent of the power of two that makes subnormal numbers normal."""
        return self.mantissa + 2

    @property
    def smallest(self) -> float:
        """The smallest normal number."""
        return float(np.finfo(self.real).tiny)

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return float(np.finfo(self.real).max)

    def bits_of(self, value: float) -> int:
        """The bits of a number."""
        return int(np.array(value, self.real).view(self.word))


_DOUBLE: Final = Constants(
    real=np.float64,
    word=np.uint64,
    exp=(
        0.5,
        0.16666666666666677,
        0.041666666666666574,
        0.008333333333322146,
        0.0013888888888942748,
        0.00019841269884981845,
        2.4801587198079415e-05,
        2.755724524963838e-06,
        2.7557387134954804e-07,
        2.5108703545096418e-08,
        2.087889536983054e-09,
    ),
    log=(
        0.6666666666666734,
        0.3999999999941636,
        0.28571428742132987,
        0.22222198591005657,
        0.18183563723506896,
        0.15314059363088417,
        0.14795916666276387,
    ),
    atan=(
        -0.3333333333333328,
        0.19999999999976661,
        -0.14285714282107587,
        0.1111111083592276,
        -0.09090897026781924,
        0.07691979850108577,
        -0.06660942704716598,
        0.058176952753489816,
        -0.04800878815936,
        0.027961605996065578,
    ),
    asin=(
        0.16666666666665383,
        0.07500000000342946,
        0.04464285682354484,
        0.030381959329114246,
        0.022371753568007482,
        0.017359770503278468,
        0.013884603883476471,
        0.012173246821393644,
        0.006510982484174887,
        0.01957357955168853,
        -0.016293597459799265,
        0.03195866093706526,
    ),
    tan=(
        0.3333333333333351,
        0.13333333333287878,
        0.05396825400867639,
        0.021869486776788318,
        0.008863278745313537,
        0.0035914892586876995,
        0.0014616153630978635,
        0.0005588814558973007,
        0.0003290978733703145,
    ),
    log2e=1.4426950408889634,
    ln2=Split(0.6931471805598903, 5.497923018708371e-14),
    half_angle=Split(0.46364760900080615, -3.281237377829614e-17),
    half_pi=Split(1.5707963267948966, 6.123233995736766e-17),
    pi=Split(3.141592653589793, 1.2246467991473532e-16),
    quarter_turn=QuarterTurn((1.5707963267923333,), (2.5633441515839558e-12,), 1.0562999066987428e-23),
    quarter_turns=(1.7976931348623158e303, 3.5413150332597764e-304),
    tan_range=1e5,
    exp_range=(-746.0, 710.0),
    tanh_range=22.0,
    large=500,
    shift=600,
    root_half=0x3FE6A09E667F3BCD,
)

_SINGLE: Final = Constants(
    real=np.float32,
    word=np.uint32,
    exp=(0.5, 0.16666666, 0.04166648, 0.008333419, 0.0013933266, 0.00019824125),
    log=(0.66666776, 0.3997758, 0.29870936),
    atan=(-0.33333257, 0.199932, -0.14096169, 0.08978302),
    asin=(0.16666754, 0.07495252, 0.04547604, 0.02415209, 0.042211805),
    tan=(0.33333293, 0.133359, 0.05347222, 0.02557266),
    log2e=1.442695,
    ln2=Split(0.69314575, 1.4286068e-06),
    half_angle=Split(0.4636476, 5.0121587e-09),
    half_pi=Split(1.5707963, 7.54979e-08),
    pi=Split(3.1415927, -8.742278e-08),
    quarter_turn=QuarterTurn((1.5703125, 0.0004837513), (7.5495336e-08, 2.563283e-12), 6.123234e-17),
    quarter_turns=(3.4028233e34, 1.8708575e-35),
    tan_range=1e4,
    exp_range=(-104.0, 89.0),
    tanh_range=10.0,
    large=60,
    shift=90,
    root_half=0x3F3504F3,
)

CONSTANTS: Final[Mapping[np.dtype[Any], Constants]] = MappingProxyType(
    {np.dtype(row.real): row for row in (_DOUBLE, _SINGLE)}
)
"""The constants of double and of float."""
