"""A hash of results, bit by bit, on states that C and Python make alike: the emitted self-test compares it.

The states are integers scaled by powers of two, with every second number 0: where much vanishes, the small
terms of an equation show in the last bits of a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rbdgen.machine import Real
from rbdgen.signature import SizedArgument

Array = npt.NDArray[Any]

STATES: Final = 256
SEED: Final = 2463534242
SCALE: Final = 2.0**-21
"""24 bits times this are numbers within 4."""

SHORT: Final = 2.0**-12
"""Times these, time steps stay within 1 ms."""

_TANGENT: Final = 2.0**-6
"""8 bits times this are tangents of half angles, within 2; few enough that their squares are exact."""

_WORD: Final = 0xFFFFFFFF
_FNV: Final = (2166136261, 16777619)


def plain_inputs(arguments: Sequence[SizedArgument], real: Real, states: int = STATES) -> dict[str, Array]:
    """Name -> (states, size), the same numbers as `c/ROBOT_selftest.c.jinja` makes."""
    dtype = np.float32 if real == "float" else np.float64
    drawn = [argument for argument in arguments if argument.kind != "cosines"]
    words = _words(states * sum(argument.size for argument in drawn)).reshape(states, -1)
    values: dict[str, Array] = {}
    first = 0
    for argument in drawn:
        mine = words[:, first : first + argument.size]
        first += argument.size
        if argument.kind == "sines":
            t: Array = _numbers(mine >> 24, 128, _TANGENT, mine).astype(dtype)
            cosines = next(other.name for other in arguments if other.kind == "cosines")
            values[argument.name] = (t + t) / (1 + t * t)
            values[cosines] = (1 - t * t) / (1 + t * t)
        else:
            scale = SCALE * SHORT if argument.kind == "time_step" else SCALE
            values[argument.name] = _numbers(mine >> 8, 1 << 23, scale, mine).astype(dtype)
    return values


def _numbers(integers: Array, middle: int, scale: float, words: Array) -> Array:
    return np.where(words & 1, (integers - middle) * scale, 0.0)


def _words(count: int) -> npt.NDArray[np.int64]:
    """Marsaglia's xorshift generator of 32 bits."""
    word = SEED
    words = np.empty(count, np.int64)
    for k in range(count):
        word ^= word << 13 & _WORD
        word ^= word >> 17
        word ^= word << 5 & _WORD
        words[k] = word
    return words


def hash_of_outputs(outputs: Sequence[Array]) -> int | None:
    """FNV-1a over the 32-bit words of all outputs (states, ...), state by state; None if one is not finite.

    The bits of what is not a number differ from machine to machine.
    """
    if not all(np.isfinite(array).all() for array in outputs):
        return None
    flat = np.concatenate([array.reshape(len(array), -1) for array in outputs], axis=1)
    value, prime = _FNV
    for word in np.ascontiguousarray(flat).astype(flat.dtype.newbyteorder("<")).view("<u4").ravel().tolist():
        value = (value ^ word) * prime & _WORD
    return value
