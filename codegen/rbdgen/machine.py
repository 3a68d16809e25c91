"""The machines that code is laid out for: types of numbers, their bytes, lanes of vectors, cores."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Real: TypeAlias = Literal["double", "float"]

REALS: Final[tuple[Real, ...]] = ("double", "float")

REAL_BYTES: Final[Mapping[Real, int]] = {"double": 8, "float": 4}

VECTOR_BYTES: Final = 64
"""Bytes of the widest vectors that code is laid out for; narrower registers take them in pieces."""


def lanes(real: Real) -> int:
    """Values in such a vector."""
    return VECTOR_BYTES // REAL_BYTES[real]


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)
