"""Properties of machines: types of numbers and their sizes, lanes of SIMD vectors, cores."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Real: TypeAlias = Literal["double", "float"]

REALS: Final[tuple[Real, ...]] = ("double", "float")

REAL_BYTES: Final[Mapping[Real, int]] = {"double": 8, "float": 4}

VECTOR_BYTES: Final = 64
"""The size in bytes of the widest vectors of generated code; narrower registers process them in parts."""

PLAIN_SHARED: Final = 48 * 1024
"""The bytes of shared memory that a block of a GPU has unless the program that launches it asks for more."""


def lanes(real: Real) -> int:
    """The number of values of this type in a vector of `VECTOR_BYTES` bytes."""
    return VECTOR_BYTES // REAL_BYTES[real]


def available_cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)
