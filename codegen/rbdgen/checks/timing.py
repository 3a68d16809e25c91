"""The time that the functions of a library take from Python: one call, a bound call, one state of a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from timeit import Timer
from typing import Any

import numpy as np

from rbdgen.runtime import Function, Library

BATCH = 1024
REPETITIONS = 7
SECONDS = 0.02
"""The length of one repetition."""


@dataclass(frozen=True)
class Time:
    """The times of one function in microseconds, each the least of several repetitions."""

    function: str
    operations: int
    """The number of operations of the graph."""
    call: float
    """The time of a plain call with one state."""
    bound: float
    """The time of a bound call with one state."""
    batch: float
    """The time per state of a call with a batch."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def time_library(library: Library) -> list[Time]:
    """The times of every function at random states."""
    return [_time(library, function) for function in library.functions.values()]


def _time(library: Library, function: Function) -> Time:
    generator = np.random.default_rng(0)
    drawn = library.manifold.random_inputs(function.signature.inputs, generator, (BATCH,))
    batch = [values.astype(function.dtype) for values in drawn.values()]
    single = [np.ascontiguousarray(array[0]) for array in batch]
    out = function(*batch)
    return Time(
        function.__name__,
        function.cost["total"],
        _least(lambda: function(*single)),
        _least(function.bind(*single)),
        _least(lambda: function(*batch, out=out)) / BATCH,
    )


def _least(call: Callable[[], Any]) -> float:
    timer = Timer(call)
    number = 1
    while (seconds := timer.timeit(number)) < SECONDS:
        number = max(2 * number, int(number * SECONDS / max(seconds, 1e-9)))
    return min(timer.repeat(REPETITIONS, number)) / number * 1e6
