"""The built-in sine and cosine in NumPy, which agree bit for bit with c/sincos_kernel.jinja in C.

Both do the same operations on the same constants in the same order, each rounded to the type;
`tests/emit/test_sincos.py` compares them. They are valid in the range of the C version, where no result is
NaN.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rbdgen.errors import EmitError

Array = npt.NDArray[Any]

_QUARTER_TURNS: Final = (-0.0, 1.0, 0.0, -1.0, 0.0)
"""The sines of 0, 1, 2, 3 and 4 quarter turns. From the second entry on, they are also the cosines."""


def sincos(x: npt.ArrayLike) -> tuple[Array, Array]:
    """Sine and cosine of angles (rad) in an array of float32 or float64.

    Raises:
        EmitError: the array has another type.
    """
    angles = np.asarray(x)
    if angles.dtype == np.float32:
        turns, sine, cosine = _single(angles)
    elif angles.dtype == np.float64:
        turns, sine, cosine = _double(angles)
    else:
        raise EmitError(f"there is no built-in sine for {angles.dtype}; give float32 or float64")
    quarter = np.array(_QUARTER_TURNS, angles.dtype)
    s, c = quarter[turns], quarter[turns + 1]
    return c * sine + s * cosine, c * cosine - s * sine


def _turns(t: Array) -> npt.NDArray[np.intp]:
    """The number of quarter turns modulo 4, from the lowest bits of t."""
    return np.asarray(t.view(f"u{t.itemsize}") & 3, np.intp)


def _single(x: Array) -> tuple[npt.NDArray[np.intp], Array, Array]:
    f = np.float32
    t = x * f(3.4028233e34) * f(1.8708575e-35) + f(12582912.0)
    n = t - f(12582912.0)
    r = x - n * f(1.5712891) + n * f(0.0004925728) + n * f(1.6292068e-07)
    z = r * r
    sine = r + r * z * (f(-0.16666651) + z * (f(0.008331981) + z * f(-0.00019495572)))
    cosine = f(1.0) + z * (f(-0.49999845) + z * (f(0.04165388) + z * f(-0.0013570925)))
    return _turns(np.asarray(t)), sine, cosine


def _double(x: Array) -> tuple[npt.NDArray[np.intp], Array, Array]:
    t = x * 1.7976931348623158e303 * 3.5413150332597764e-304 + 6755399441055744.0
    n = t - 6755399441055744.0
    a = x - n * 1.5707963267923333
    b = n * 2.5633441515839558e-12
    y = a - b
    w = n * 1.0562999066987428e-23 - ((a - y) - b)
    r = y - w
    d = (r - y) + w
    z = r * r
    zz = z * z
    h = 0.5 * z
    u = 1.0 - h
    p = (0.1666666666666663 - z * 0.00833333333332184) + zz * (
        (0.0001984126982935849 - z * 2.7557313538482428e-06)
        + zz * (2.505073438119292e-08 - z * 1.5895432648872005e-10)
    )
    q = (0.0416666666666666 - z * 0.0013888888888874474) + zz * (
        (2.4801587289671533e-05 - z * 2.755731440102736e-07)
        + zz * (2.0875729280384376e-09 - z * 1.135993417623345e-11)
    )
    sine = r - (r * z * p + d * u)
    cosine = u + (((1.0 - u) - h) + (zz * q + d * r))
    return _turns(np.asarray(t)), sine, cosine
