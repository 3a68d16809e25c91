"""The elementary functions on arrays of float32 and float64, by rbdgen's own kernels.

They agree to the bit with the C of `templates/c/kernels.jinja`: both texts do the same operations on the same
constants in the same order, each rounded to the type. `tests/emit/test_kernels.py` compares them.

The methods are classical. Arguments are reduced with constants in two parts (Cody and Waite, "Software Manual
for the Elementary Functions", 1980), minimax polynomials approximate the rest, and the logarithm is a
function of s = f / (2 + f) (Tang, "Table-driven implementation of the logarithm function", 1990). Only + - *
/ and the square root, comparisons and operations on bits are used. Every error is below 2 ulp, and zeros,
infinities, NaN and subnormal numbers give what C's functions give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from rbdgen.graph.kernel_constants import CONSTANTS, Constants, Polynomial

Array: TypeAlias = Any
"""An array of float32 or float64, of its bits, or of comparisons."""


def computed(op: str, *operands: npt.ArrayLike) -> Any:
    """The function of this name of arrays or scalars, which are all of float32 or all of float64."""
    arrays = [np.asarray(operand) for operand in operands]
    constants = CONSTANTS[np.result_type(*arrays)]
    with np.errstate(all="ignore"):
        found = KERNELS[op](constants, *(np.atleast_1d(array) for array in arrays))
    return found.reshape(np.broadcast_shapes(*(array.shape for array in arrays)))[()]


def _polynomial(x: Array, coefficients: Polynomial, square: Array | None = None) -> Array:
    """The value of a polynomial. If the square of x is given, two terms are computed at a time, which makes
    chains of dependent operations half as long.
    """
    first, *others = (x.dtype.type(c) for c in coefficients)
    if not others:
        return first
    if square is None:
        return first + x * _polynomial(x, tuple(others))
    pair = first + x * others[0]
    return pair if len(others) == 1 else pair + square * _polynomial(x, tuple(others[1:]), square)


def _bits(k: Constants, x: Array) -> Array:
    return np.asarray(x).view(k.word)


def _number(k: Constants, bits: Array) -> Array:
    return np.asarray(bits).view(k.real)


def _masked(k: Constants, mask: Array, x: Any) -> Array:
    """x where the mask is set, else 0."""
    return np.where(mask, np.asarray(x, k.real), k.real(0))


def _flipped(mask: Array, x: Array) -> Array:
    """-x where the mask is set, else x."""
    return np.where(mask, -x, x)


def _power_of_two(k: Constants, x: Array, above: Array) -> Array:
    """x times 2 to the power of an integer, which is in the lowest bits of `above`: a sum with k.magic.

    The power is the product of two, so that only the last product overflows or underflows.
    """
    stored = _bits(k, above) + k.word((2 * k.bias - k.bits_of(k.magic)) % 2**k.bits)
    half = stored >> k.word(1)
    mantissa = k.word(k.mantissa)
    return x * _number(k, half << mantissa) * _number(k, (stored - half) << mantissa)


def exp(k: Constants, x: Array) -> Array:
    """e^x: 2^n e^r with x = n ln(2) + r. The bounds leave NaN as it is."""
    least, most = map(k.real, k.exp_range)
    x = np.where(x > most, most, x)
    x = np.where(x < least, least, x)
    t = x * k.real(k.log2e) + k.real(k.magic)
    n = t - k.real(k.magic)
    r = (x - n * k.real(k.ln2.head)) - n * k.real(k.ln2.tail)
    z = r * r
    y = k.real(1) + (r + z * _polynomial(r, k.exp, z))
    return _power_of_two(k, y, t)


def log(k: Constants, x: Array) -> Array:
    """The natural logarithm: n ln(2) + log(m) with x = 2^n m and m between sqrt(1/2) and sqrt(2).

    It is infinite at 0 and NaN for negative numbers.
    """
    one = k.real(1)
    tiny = x < k.real(k.smallest)
    v = x * (one + _masked(k, tiny, 2.0**k.lifted))  # 1 + 2^54 rounds to 2^54
    b = _bits(k, v) + k.word(k.bits_of(1) - k.root_half)
    stored = (b >> k.word(k.mantissa)) | k.word(k.bits_of(k.integer))
    n = _number(k, stored) - k.real(k.integer + k.bias) - _masked(k, tiny, k.lifted)
    m = _number(k, (b & k.word(2**k.mantissa - 1)) + k.word(k.root_half))
    f = m - one
    s = f / (k.real(2) + f)
    z = s * s
    h = k.real(0.5) * f * f
    q = z * _polynomial(z, k.log, z * z if len(k.log) > 3 else None)
    # log(1 + f) = f - (h - s (h + q))
    y = n * k.real(k.ln2.head) - ((h - (s * (h + q) + n * k.real(k.ln2.tail))) - f)
    at_zero = np.where(x == 0, k.real(-np.inf), np.where(x < 0, k.real(np.nan), x))
    return np.where((x > 0) & (x <= k.real(k.largest)), y, at_zero)


def tanh(k: Constants, x: Array) -> Array:
    """The hyperbolic tangent: e / (e + 2) with e = e^(2 |x|) - 1, and a correction of the quotient by what
    rounding took from e and from e + 2.
    """
    one, two = k.real(1), k.real(2)
    v = np.abs(x)
    v = np.where(v > k.real(k.tanh_range), k.real(k.tanh_range), v)
    v = v + v
    t = v * k.real(k.log2e) + k.real(k.magic)
    n = t - k.real(k.magic)
    high, low = v - n * k.real(k.ln2.head), n * k.real(k.ln2.tail)
    r = high - low
    c = (high - r) - low
    z = r * r
    w = _number(k, (_bits(k, t) + k.word((k.bias - k.bits_of(k.magic)) % 2**k.bits)) << k.word(k.mantissa))
    m = z * _polynomial(r, k.exp, z) + c
    f = r + m
    e = w * f + (w - one)
    d = e + two
    q = e / d
    g = _masked(k, e < k.real(2 * k.integer), (two - d) + e)
    h = one - q
    y = q + k.real(0.5) * h * (w * ((r - f) + m) * h - q * g)
    return np.copysign(y, x)


def atan2(k: Constants, y: Array, x: Array) -> Array:
    """The angle of the point (x, y), from -pi to pi.

    The lesser of |x| and |y| is divided by the larger. Quotients l / g above 1/3 are measured from atan(1/2):
    t = (2 l - g) / (2 g + l). Angles are sums of heads, which are exact, and of tails.
    """
    one = k.real(1)
    a, b = np.abs(y), np.abs(x)
    steep, back = a > b, np.signbit(x)
    g: Array = np.where(steep, a, b)
    less: Array = np.where(steep, b, a)
    both = (less > k.real(k.largest)) & (less >= g)
    scale = one - _masked(k, g > k.real(2.0 ** (k.bias - 1)), 0.9375)  # no sum of large numbers overflows
    g, less = g * scale, less * scale
    less = np.where(both, one, less)
    g = np.where(both | (g <= 0), one, g)
    far = k.real(3) * less > g
    g_far, less_far = _masked(k, far, g), _masked(k, far, less)
    t = ((less + less_far) - g_far) / ((g + g_far) + less_far)
    z = t * t
    tail = t + t * z * _polynomial(z, k.atan, z * z) + _masked(k, far, k.half_angle.tail)
    head = _masked(k, far, k.half_angle.head)
    for mask, angle in ((steep, k.half_pi), (back, k.pi)):
        head = _flipped(mask, head) + _masked(k, mask, angle.head)
        tail = _flipped(mask, tail) + _masked(k, mask, angle.tail)
    return np.copysign(head + tail, y)


def _arc(k: Constants, x: Array) -> tuple[Array, Array, Array]:
    """s and t with asin(s) = s + t, where s is |x| up to 1/2 and sqrt((1 - |x|) / 2) above; and where it is
    above.
    """
    a = np.abs(x)
    far = a > k.real(0.5)
    z = np.where(far, k.real(0.5) * (k.real(1) - a), a * a)
    s = np.where(far, np.sqrt(z), a)
    return s, s * z * _polynomial(z, k.asin, z * z), far


def asin(k: Constants, x: Array) -> Array:
    """The arc sine: asin(s) up to 1/2, and pi/2 - 2 asin(s) above."""
    s, t, far = _arc(k, x)
    head, double = k.real(k.half_pi.head), s + s
    h = head - double
    rounded = (head - h) - double
    y = h - ((t + t) - (k.real(k.half_pi.tail) + rounded))
    return np.copysign(np.where(far, y, s + t), x)


def acos(k: Constants, x: Array) -> Array:
    """The arc cosine: pi/2 - asin(x) for |x| up to 1/2; above, 2 asin(s), or pi - 2 asin(s) if x < 0."""
    s, t, far = _arc(k, x)
    s, t = s + _masked(k, far, s), t + _masked(k, far, t)
    back = np.signbit(x)
    minus = back == far
    head = np.where(far, _masked(k, back, k.pi.head), k.real(k.half_pi.head))
    tail = np.where(far, _masked(k, back, k.pi.tail), k.real(k.half_pi.tail))
    return head + (_flipped(minus, s) + (_flipped(minus, t) + tail))


def tan(k: Constants, x: Array) -> Array:
    """The tangent, up to the constants' range, beyond which it is NaN.

    x = n pi/2 + r - d, where d is what rounding took from r, and s = tan(r/2). The value is 2 s / (1 - s^2),
    or its negative inverse if n is odd. The quotient is corrected by what rounding took from 2 s and 1 - s^2.
    """
    one, half, quarter = k.real(1), k.real(0.5), k.real(0.25)
    v = np.abs(x)
    turns, per_turn = map(k.real, k.quarter_turns)
    t = v * turns * per_turn + k.real(k.magic)
    n = t - k.real(k.magic)
    a = v
    for part in k.quarter_turn.exact:
        a = a - n * k.real(part)
    lost = None
    for part in k.quarter_turn.middle:
        y = a - n * k.real(part)
        taken = (a - y) - n * k.real(part)
        a, lost = y, taken if lost is None else lost + taken
    w = n * k.real(k.quarter_turn.last) - lost
    r = a - w
    d = (r - a) + w
    z = quarter * r * r
    m = r * z * _polynomial(z, k.tan, z * z) - d
    double = r + m
    double_less = (r - double) + m
    square = quarter * double * double
    c = one - square
    c_less = ((one - c) - square) - half * double * double_less
    odd = (_bits(k, t) & k.word(1)) == 1
    top, bottom = np.where(odd, c, double), np.where(odd, double, c)
    top_less, bottom_less = np.where(odd, c_less, double_less), np.where(odd, double_less, c_less)
    q = top / bottom
    inverse = (one + square) * np.where(odd, q, one)  # 1 / bottom to two digits, as 1 / c is 1 + s^2
    y = q + (top_less - q * bottom_less) * inverse
    return _flipped(odd ^ np.signbit(x), y)


def hypot(k: Constants, x: Array, y: Array) -> Array:
    """sqrt(x^2 + y^2), scaled by a power of two if a square would overflow or underflow. It is NaN if x or y
    is, also if the other one is infinite.
    """
    a, b = np.abs(x), np.abs(y)
    most = np.where(a > b, a, b)
    large, small = most > k.real(2.0**k.large), most < k.real(2.0**-k.large)
    scale = np.where(large, k.real(2.0**-k.shift), np.where(small, k.real(2.0**k.shift), k.real(1)))
    a, b = a * scale, b * scale
    return np.sqrt(a * a + b * b) * (k.real(1) / scale)


KERNELS: Final[Mapping[str, Callable[..., Array]]] = MappingProxyType(
    {
        "exp": exp,
        "log": log,
        "tanh": tanh,
        "atan2": atan2,
        "asin": asin,
        "acos": acos,
        "tan": tan,
        "hypot": hypot,
    }
)
"""The functions by the names of their operations; the constants are the first argument."""
