"""Arguments of the elementary functions, and their exact values."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import mpmath
import numpy as np

from rbdgen.graph.kernels import KERNELS
from rbdgen.graph.ops import OPS

Array: TypeAlias = np.ndarray[Any, Any]

ARITY: Final = {op: OPS[op].arity for op in KERNELS}

SPECIAL: Final = (
    *(0.0, 1.0, 0.5, 2.0, 3.0, 1 / 3, 1.5, np.inf, np.nan, 1e-30, 1e30, 1e-300, 1e300),
    *(5e-324, 1e-323, 2.2250738585072014e-308, 2.225073858507201e-308, 1.7976931348623157e308, 2.0**1022),
    *(2.0**-149, 2.0**-126, 2.0**126, 2.0**127, 3.4028235e38, 1.0000001, 0.99999994),
    *(1 - 2.0**-53, 1 + 2.0**-52, 0.5**0.5, 2.0**0.5, np.log(2) / 2, np.pi / 2, np.pi, np.pi / 4),
    *(709.782712893384, 709.7827128933841, 710.0, 708.39, 745.1332191019411, 745.1332191019412, 746.0, 747.0),
    *(88.72283, 88.72284, 89.0, 87.33654, 103.97208, 103.97209, 104.0, 105.0),
    *(18.7, 19.0, 19.06, 22.0, 22.5, 9.01, 10.0, 10.5, 0.5493061443340548),
)
"""Numbers at which a function has a limit, a border of its reduction, or a special value."""


def special(dtype: Any) -> Array:
    """The special numbers of a type with both signs."""
    with np.errstate(over="ignore", under="ignore"):
        return np.array([*SPECIAL, *(-x for x in SPECIAL)]).astype(dtype)


def arguments(op: str, dtype: Any, count: int, seed: int = 0) -> tuple[Array, ...]:
    """Special numbers (all pairs of them, for two arguments), and random numbers of several magnitudes."""
    random = np.random.default_rng([seed, *op.encode()])
    edges = special(dtype)
    if ARITY[op] == 1:
        return (np.concatenate([edges, _drawn(op, random, dtype, count)]),)
    y, x = (side.ravel() for side in np.meshgrid(edges, edges))
    a, b = _drawn(op, random, dtype, count), _drawn(op, random, dtype, count)
    near = random.random(count) < 0.5
    with np.errstate(all="ignore"):
        b = np.where(near, a * np.exp2(random.uniform(-3, 3, count)), b).astype(dtype)
    return np.concatenate([y, a]), np.concatenate([x, b])


def _drawn(op: str, random: np.random.Generator, dtype: Any, count: int) -> Array:
    """Random numbers: of all magnitudes, between -1 and 1, and where the function varies most."""
    info = np.finfo(dtype)
    every = random.choice([-1, 1], count) * np.exp2(
        random.uniform(info.minexp - info.nmant, info.maxexp, count)
    )
    unit = random.uniform(-1, 1, count)
    reach = {"exp": -np.log(info.smallest_subnormal.astype(float)), "tanh": 24.0, "log": 4.0, "tan": 1e4}.get(
        op, 8.0
    )
    wide = random.uniform(-reach, reach, count)
    near_one = random.choice([-1, 1], count) * (1 - np.exp2(random.uniform(-info.nmant, 0, count)))
    kind = random.integers(0, 4, count)
    drawn = np.choose(kind, [every, unit, wide, near_one]).astype(dtype)
    return np.abs(drawn) if op == "log" else drawn


def exact(op: str, operands: tuple[Array, ...]) -> list[mpmath.mpf]:
    """The values in at least 40 digits."""
    with mpmath.workdps(45):
        function = getattr(mpmath, op)
        return [function(*(mpmath.mpf(float(x)) for x in row)) for row in zip(*operands, strict=True)]


def errors_in_ulp(found: Array, values: list[mpmath.mpf]) -> Array:
    """The errors of finite results in units of the last place of the exact values."""
    info = np.finfo(found.dtype)
    with mpmath.workdps(45):
        return np.array([_ulps(float(x), value, info) for x, value in zip(found, values, strict=True)])


def _ulps(found: float, value: mpmath.mpf, info: Any) -> float:
    exponent = int(mpmath.frexp(value)[1]) - 1 if value else info.minexp
    step = mpmath.ldexp(1, max(exponent, info.minexp) - info.nmant)
    return float(abs(mpmath.mpf(found) - value) / step)
