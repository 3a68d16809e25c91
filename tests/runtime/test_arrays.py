"""Arrays for results: where they begin, what NumPy says of them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

from rbdgen.runtime.arrays import aligned, expected
from rbdgen.runtime.memory import CACHE_LINE

SHAPES = [(), (0,), (1,), (7,), (0, 6, 6), (3, 0), (5, 6, 6), (1000, 8, 8)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_new_arrays_begin_with_a_cache_line(shape: tuple[int, ...], dtype: Any) -> None:
    arrays = [aligned(shape, dtype)[0] for _ in range(20)]  # kept: each lies elsewhere
    for array in arrays:
        assert type(array) is np.ndarray
        assert (array.shape, array.dtype, array.size) == (shape, np.dtype(dtype), prod(shape))
        assert array.ctypes.data % CACHE_LINE == 0 or array.size == 0
        assert array.flags.c_contiguous
        assert array.flags.aligned
        assert array.flags.writeable


def test_new_arrays_are_their_own_memory() -> None:
    arrays = [aligned((3, 4), np.float64)[0] for _ in range(50)]
    for k, array in enumerate(arrays):
        array[:] = k
    assert all((array == k).all() for k, array in enumerate(arrays))


def test_how_messages_write_a_shape() -> None:
    assert [expected(shape) for shape in ((), (7,), (6, 6))] == ["(...)", "(..., 7)", "(..., 6, 6)"]
