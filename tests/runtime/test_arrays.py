"""The alignment of arrays for results, and their attributes."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

from rbdgen.errors import ArrayTypeError
from rbdgen.runtime.arrays import aligned, as_real, expected
from rbdgen.runtime.memory import CACHE_LINE
from rbdgen.signature import SizedArgument

SHAPES = [(), (0,), (1,), (7,), (0, 6, 6), (3, 0), (5, 6, 6), (1000, 8, 8)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_new_arrays_begin_with_a_cache_line(shape: tuple[int, ...], dtype: Any) -> None:
    arrays = [aligned(shape, dtype)[0] for _ in range(20)]  # all kept, at different addresses
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


class OfAnotherFramework:
    """An array that NumPy can only read by DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class Elsewhere:
    """An array that refuses to give its numbers to NumPy."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("it lies on another device\nuse more lines")


def test_arrays_of_other_frameworks() -> None:
    q, numbers = SizedArgument("q", (3,), "", ""), np.array([1.0, 2.0, 3.0])
    assert np.shares_memory(as_real("rnea", q, OfAnotherFramework(numbers)), numbers)
    with pytest.raises(ArrayTypeError) as caught:
        as_real("rnea", q, Elsewhere())
    assert str(caught.value) == (
        "rnea: q is no array of plain numbers on the CPU (it lies on another device); pass one, "
        "or take lib.jax.rnea or lib.torch.rnea"
    )
