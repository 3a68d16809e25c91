"""Reused memory leaves no trace, as every function writes every bit of its results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.few import few
from support.results import address, bits, spoil
from support.robots import BASES, robot

from rbdgen.functions.table import TABLE
from rbdgen.options import Options
from rbdgen.pipeline.page import build_library
from rbdgen.runtime import Library
from rbdgen.runtime.memory import LARGE, MEMORY


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    MEMORY.release()
    yield
    MEMORY.release()


@pytest.fixture(scope="module", params=few(["floating"], BASES))
def every_function(request: pytest.FixtureRequest) -> Library:
    return build_library(
        robot("double_pendulum", request.param), Options.of(functions=tuple(TABLE), trig="builtin")
    )


LEADING = ((8200,), (0,), (3, 0, 2), (1,), (2, 4100), (20_001,))


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("real_of_inputs", [np.float64, np.float32], ids=["quick", "careful"])
def test_memory_used_before_leaves_no_trace(
    every_function: Library, name: str, real_of_inputs: type[np.floating[Any]]
) -> None:
    """Results equal those of a call into zeros, with one and two threads, also where states share inputs."""
    call = every_function.functions[name]
    random = np.random.default_rng(1)
    for leading in LEADING:
        drawn = every_function.manifold.random_inputs(call.signature.inputs, random, leading)
        arrays = [array.astype(real_of_inputs) for array in drawn.values()]
        alike = [arrays[0], *(np.ascontiguousarray(x[(0,) * len(leading)]) for x in arrays[1:] if x.size)]
        broadcast = [arrays[0], *(x[(slice(0, 1),) * len(leading)] for x in arrays[1:])]
        for given in (arrays, broadcast, alike if len(alike) == len(arrays) else arrays):
            out = tuple(np.zeros((*leading, *x.shape)) for x in call.signature.outputs)
            expected = bits(call(*given, out=out if len(out) > 1 else out[0]))
            for threads in (1, 2):
                first = call(*given, threads=threads)
                if max(array.nbytes for array in out) >= LARGE:
                    places = [address(x) for x in (first if isinstance(first, tuple) else (first,))]
                    spoil(first)
                    del first
                    again = call(*given, threads=threads)
                    assert [address(x) for x in (again if isinstance(again, tuple) else (again,))] == places
                    assert bits(again) == expected
                else:
                    assert bits(first) == expected
