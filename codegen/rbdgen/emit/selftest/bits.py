"""A hash of results, bit by bit, at states that C and Python draw alike; the emitted self-test compares it.

The states consist of numbers with few digits, half of which are 0 on average. If many terms of an
equation vanish, its small terms show in the last bits of the result. Quaternions have unit length and time
steps are not negative, as in real calls, because other inputs often give results that are not finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from rbdgen.machine import Real
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import SizedArgument, range_steps

Array = npt.NDArray[Any]

STATES: Final = 256
SEED: Final = 2463534242
SCALE: Final = 2.0**-21
"""The factor that scales integers of 24 bits to numbers between -4 and 4."""

SHORT: Final = 2.0**-6
"""The longest time step, in s."""

FEWEST: Final = 32
"""The smallest number of states that a hash needs. Only states with finite results count, as only these are
hashed.
"""

_TANGENT: Final = 2.0**-6
"""The factor that scales integers of 8 bits to numbers between -2 and 2. These have so few bits that sums of
their products are exact.
"""

_NEAR: Final = 2.0**-4

How = Literal["plain", "angles", "attitude", "nonnegative", "inertia", "near", "range"]
"""The ways to draw numbers: `angles` are sines and cosines, an `attitude` is a unit quaternion, `near` draws
within an eighth of known numbers, and `range` within the range of an input.
"""

WORDS_OF: Final[dict[How, int]] = {"attitude": 3, "inertia": 10}
"""The number of random words that such a draw takes. Other draws take one word per number."""

_WORD: Final = 0xFFFFFFFF
_FNV: Final = (2166136261, 16777619)


@dataclass(frozen=True)
class Draw:
    """The draw of a range of elements of an input."""

    how: How
    """The kind of draw."""
    name: str
    """The name of the input."""
    size: int
    """The number of elements."""
    at: int = 0
    """The first of the elements."""
    cosines: str = ""
    """The input that is drawn together with an input of sines."""
    scale: float = 1.0
    """A power of two by which the numbers are multiplied."""
    near: tuple[float, ...] = ()
    """The known numbers near which elements are drawn."""
    first: int = 0
    """The least number of a range, in units of `scale`."""
    count: int = 1
    """The number of values of a range."""

    @property
    def words(self) -> int:
        """The number of random words that the draw takes."""
        return WORDS_OF.get(self.how, self.size)


def draws(arguments: Sequence[SizedArgument], manifold: Manifold) -> list[Draw]:
    """The draws of the inputs of a function, in order; later draws may replace elements of earlier ones."""
    cosines = next((x.name for x in arguments if x.kind == "cosines"), "")
    found = []
    for x in arguments:
        if x.kind == "sines":
            found.append(Draw("angles", x.name, x.size, cosines=cosines))
        elif x.kind in ("nonnegative", "coefficients", "time_step"):
            scale = SHORT if x.kind == "time_step" else 1.0
            found.append(Draw("nonnegative", x.name, x.size, scale=scale))
        elif x.kind == "inertia":
            found.append(Draw("inertia", x.name, x.size))
        elif x.range is not None:
            first, count, step = range_steps(x.range)
            found.append(Draw("range", x.name, x.size, scale=step, first=first, count=count))
        elif x.default is not None:
            found.append(Draw("near", x.name, x.size, near=x.default))
        elif x.kind != "cosines":
            found.append(Draw("plain", x.name, x.size, scale=SCALE))
        if x.kind == "configuration":
            found += [Draw("attitude", x.name, 4, at) for at in manifold.quaternions]
    return found


def plain_inputs(
    arguments: Sequence[SizedArgument], manifold: Manifold, real: Real, states: int = STATES
) -> dict[str, Array]:
    """The inputs, each of shape (states, size), with the same numbers as `c/draws.jinja` makes."""
    dtype = np.float32 if real == "float" else np.float64
    drawn = draws(arguments, manifold)
    words = _words(states * sum(draw.words for draw in drawn)).reshape(states, -1)
    values = {x.name: np.zeros((states, x.size), dtype) for x in arguments}
    first = 0
    for draw in drawn:
        mine = words[:, first : first + draw.words]
        first += draw.words
        if draw.how == "angles":
            t = _tangents(mine, dtype)
            values[draw.name][:] = (t + t) / (1 + t * t)
            values[draw.cosines][:] = (1 - t * t) / (1 + t * t)
        else:
            values[draw.name][:, draw.at : draw.at + draw.size] = _drawn(draw, mine, dtype)
    return values


def _drawn(draw: Draw, words: Array, dtype: type[np.floating[Any]]) -> Array:
    if draw.how == "attitude":
        return _attitudes(_tangents(words, dtype))
    if draw.how == "inertia":
        return _inertias(_tangents(words, dtype))
    if draw.how == "near":
        return np.asarray(np.array(draw.near, dtype) * (1 + _tangents(words, dtype) * dtype(_NEAR)))
    if draw.how == "range":
        return np.asarray((draw.first + (words >> 8) % draw.count).astype(dtype) * dtype(draw.scale))
    if draw.how == "nonnegative":
        kept = np.where(words & 1, words >> 8, (words & 2) << 23)
        return np.asarray(kept.astype(dtype) * dtype(2.0**-24 * draw.scale))
    return _numbers(words >> 8, 1 << 23, draw.scale, words).astype(dtype)


def _tangents(words: Array, dtype: type[np.floating[Any]]) -> Array:
    return _numbers(words >> 24, 128, _TANGENT, words).astype(dtype)


def _attitudes(t: Array) -> Array:
    """Unit quaternions from the tangents of a quarter of their angles, times their axes.

    Only the final quotients are rounded.
    """
    squares = np.sum(t * t, axis=1, keepdims=True)
    return np.asarray(np.concatenate([t + t, 1 - squares], axis=1) / (1 + squares))


def _inertias(t: Array) -> Array:
    """Ten parameters (m, m c, Ixx Ixy Iyy Ixz Iyz Izz) that a physical body can have.

    They are those of the pseudo-inertia L L^T, computed without rounding. L is lower triangular; t holds the
    4 elements of its diagonal, which are made at least 1, then the other elements by rows.
    """
    L = np.zeros((len(t), 4, 4), t.dtype)
    L[:, range(4), range(4)] = 1 + abs(t[:, :4])
    L[:, [1, 2, 2, 3, 3, 3], [0, 0, 1, 0, 1, 2]] = t[:, 4:]
    P = L @ np.swapaxes(L, 1, 2)
    x, y, z = (P[:, k, k] for k in range(3))
    moments = [y + z, -P[:, 1, 0], x + z, -P[:, 2, 0], -P[:, 2, 1], x + y]
    return np.stack([P[:, 3, 3], *(P[:, 3, k] for k in range(3)), *moments], axis=1)


def _numbers(integers: Array, middle: int, scale: float, words: Array) -> Array:
    return np.where(words & 1, (integers - middle) * scale, 0.0)


def _words(count: int) -> npt.NDArray[np.int64]:
    """The first `count` numbers of Marsaglia's 32-bit xorshift generator."""
    word = SEED
    words = np.empty(count, np.int64)
    for k in range(count):
        word ^= word << 13 & _WORD
        word ^= word >> 17
        word ^= word << 5 & _WORD
        words[k] = word
    return words


def hash_of_outputs(outputs: Sequence[Array]) -> tuple[int, int]:
    """The FNV-1a hash of the 32-bit words of all outputs (states, ...), and the number of states in it.

    The words are taken state by state. States with an output that is not finite are left out, because the
    bits of NaN depend on the machine.
    """
    flat = np.concatenate([array.reshape(len(array), -1) for array in outputs], axis=1)
    flat = flat[np.isfinite(flat).all(axis=1)]
    value, prime = _FNV
    for word in np.ascontiguousarray(flat).astype(flat.dtype.newbyteorder("<")).view("<u4").ravel().tolist():
        value = (value ^ word) * prime & _WORD
    return value, len(flat)
