"""Arguments of a call: from whatever a user passes to arrays that C can read, or an error that names them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ArrayTypeError, ArrayValueError
from ..signature import SizedArgument, SizedSignature
from .memory import CACHE_LINE, MEMORY

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

MOST_LEADING = 30
"""Leading axes. With those of a matrix they are 32, as many as every NumPy broadcasts."""


def aligned(shape: Shape, dtype: npt.DTypeLike) -> tuple[Array, bool]:
    """A new array that begins with a cache line, and whether its memory is fresh.

    So no vector that is stored into it lies in two lines.
    """
    size = prod(shape) * np.dtype(dtype).itemsize
    block, fresh = MEMORY.block(size)
    first = -block.__array_interface__["data"][0] % CACHE_LINE
    return block[first : first + size].view(dtype).reshape(shape), fresh


def is_lazy(arrays: Iterable[Any]) -> bool:
    """Whether one of the arrays is a Dask array. Whoever has one has imported Dask: this does not."""
    kind = getattr(sys.modules.get("dask.array"), "Array", None)
    return kind is not None and any(isinstance(array, kind) for array in arrays)


def as_real(function: str, argument: SizedArgument, value: npt.ArrayLike) -> Array:
    """`value` as an array of real numbers, shape (..., *argument.shape); nothing is converted yet."""
    if is_lazy((value,)):
        raise ArrayTypeError(
            f"{function}: {argument.name} is a Dask array, which is read here at once; pass its compute()"
        )
    if isinstance(value, np.ma.MaskedArray):
        raise ArrayTypeError(f"{function}: {argument.name} is a masked array; pass its filled() values")
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and hasattr(value, "__dlpack__"):
            array = np.from_dlpack(value)  # type: ignore[arg-type]
    except ValueError as error:
        raise ArrayValueError(
            f"{function}: {argument.name} is not an array; pass numbers, no ragged lists"
        ) from error
    except (TypeError, RuntimeError, BufferError) as error:  # another framework's: traced, or not on the CPU
        why = str(error).partition("\n")[0]
        raise ArrayTypeError(
            f"{function}: {argument.name} is no array of plain numbers on the CPU ({why}); pass one, "
            "or take lib.jax, lib.torch"
        ) from error
    check_real(function, argument, array.dtype, array.shape)
    return array


def check_real(function: str, argument: SizedArgument, dtype: np.dtype[Any], shape: Shape) -> None:
    """ArrayTypeError where an array is not of real numbers, ArrayValueError where its shape does not fit."""
    if dtype.kind not in "fiub":
        raise ArrayTypeError(f"{function}: {argument.name} has dtype {dtype}; pass real numbers")
    check_shape(function, argument.name, shape, argument.shape)


def check_shape(function: str, name: str, shape: Shape, wanted: Shape) -> None:
    """ArrayValueError where an array's shape is not (..., *wanted)."""
    if len(shape) >= len(wanted) and shape[len(shape) - len(wanted) :] == wanted:
        return
    hint = ""
    if wanted and shape[:-1] == wanted:  # the axis of states stands last
        turned = f"{name}.T" if len(wanted) == 1 else f"numpy.moveaxis({name}, -1, 0)"
        hint = f": states lie along the first axis; pass {turned}"
    raise ArrayValueError(f"{function}: {name} has shape {shape}, expected {expected(wanted)}{hint}")


def expected(shape: Shape) -> str:
    """How messages write a shape with any leading axes: (..., 7)."""
    return f"({', '.join(['...', *map(str, shape)])})"


def leading_axes(function: str, signature: SizedSignature, arrays: Sequence[Array]) -> Shape:
    """The leading axes of all inputs, broadcast against each other."""
    pairs = list(zip(signature.inputs, arrays, strict=True))
    axes = [array.shape[: array.ndim - len(argument.shape)] for argument, array in pairs]
    most = max(map(len, axes))
    if most > MOST_LEADING:
        raise ArrayValueError(f"{function}: {most} leading axes are too many; pass at most {MOST_LEADING}")
    try:
        return np.broadcast_shapes(*axes)
    except ValueError as error:
        shapes = ", ".join(f"{argument.name} {array.shape}" for argument, array in pairs)
        raise ArrayValueError(f"{function}: leading axes do not broadcast: {shapes}") from error


def states(array: Array, argument: SizedArgument, leading: Shape, dtype: np.dtype[Any]) -> tuple[Array, int]:
    """The array as C reads it, and the elements from one state to the next: 0 where all share one state."""
    own = array.shape[: array.ndim - len(argument.shape)]
    if own != leading:
        if all(length == 1 for length in own):
            return np.require(array, dtype, ("C", "A")), 0
        array = np.broadcast_to(array, leading + argument.shape)
    return np.require(array, dtype, ("C", "A")), argument.size


def check_output(
    function: str,
    argument: SizedArgument,
    array: object,
    shape: Shape,
    dtype: np.dtype[Any],
    others: Sequence[tuple[str, Array]],
) -> Array:
    """`array` itself when results can be written straight into it; `others` it must not overlap."""
    name = f"{function}: out for {argument.name}"
    if type(array) is not np.ndarray:
        raise ArrayTypeError(f"{name} is a {type(array).__name__}; pass a numpy.ndarray")
    if array.dtype != dtype:
        raise ArrayTypeError(f"{name} has dtype {array.dtype}, expected {dtype}")
    if array.shape != shape:
        raise ArrayValueError(f"{name} has shape {array.shape}, expected {shape}")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise ArrayValueError(f"{name} is not in C order; pass numpy.empty({shape}, {str(dtype)!r})")
    if not array.flags.writeable:
        raise ArrayValueError(f"{name} is read-only; pass a writable array")
    for other, input_array in others:
        if np.may_share_memory(array, input_array) and np.shares_memory(array, input_array):
            raise ArrayValueError(f"{name} overlaps {other}; pass an array of its own")
    return array
