"""Converts the arguments of a call to arrays that C can read, or raises an error that names the argument."""

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
"""The largest number of leading axes. With the axes of a matrix there are 32, which every NumPy can
broadcast."""


def aligned(shape: Shape, dtype: npt.DTypeLike) -> tuple[Array, bool]:
    """A new array that begins at a cache line, and whether its memory is fresh from the system, see `memory`.

    The alignment ensures that no vector that is stored into the array spans two cache lines.
    """
    size = prod(shape) * np.dtype(dtype).itemsize
    block, fresh = MEMORY.block(size)
    first = -block.__array_interface__["data"][0] % CACHE_LINE
    return block[first : first + size].view(dtype).reshape(shape), fresh


def is_lazy(arrays: Iterable[Any]) -> bool:
    """Whether one of the arrays is a Dask array.

    Dask is not imported here, because a caller who has such an array has imported it.
    """
    kind = getattr(sys.modules.get("dask.array"), "Array", None)
    return kind is not None and any(isinstance(array, kind) for array in arrays)


def as_real(function: str, argument: SizedArgument, value: npt.ArrayLike) -> Array:
    """`value` as an array of real numbers of any type, with shape (..., *argument.shape).

    Raises ArrayTypeError or ArrayValueError if it is no such array.
    """
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
    except (
        TypeError,
        RuntimeError,
        BufferError,
    ) as error:  # an array of a framework: traced, or not on the CPU
        why = str(error).partition("\n")[0]
        raise ArrayTypeError(
            f"{function}: {argument.name} is no array of plain numbers on the CPU ({why}); pass one, "
            f"or take lib.jax.{function} or lib.torch.{function}"
        ) from error
    check_real(function, argument, array.dtype, array.shape)
    return array


def check_real(function: str, argument: SizedArgument, dtype: np.dtype[Any], shape: Shape) -> None:
    """Raises ArrayTypeError for an array not of real numbers, and ArrayValueError if its shape does not
    fit."""
    if dtype.kind not in "fiub":
        raise ArrayTypeError(f"{function}: {argument.name} has dtype {dtype}; pass real numbers")
    check_shape(function, argument.name, shape, argument.shape)


def check_shape(function: str, name: str, shape: Shape, wanted: Shape) -> None:
    """Raises ArrayValueError if the shape of an array is not (..., *wanted)."""
    if len(shape) >= len(wanted) and shape[len(shape) - len(wanted) :] == wanted:
        return
    hint = ""
    if wanted and shape[:-1] == wanted:  # the states lie along the last axis
        turned = f"{name}.T" if len(wanted) == 1 else f"numpy.moveaxis({name}, -1, 0)"
        hint = f": states lie along the first axis; pass {turned}"
    raise ArrayValueError(f"{function}: {name} has shape {shape}, expected {expected(wanted)}{hint}")


def expected(shape: Shape) -> str:
    """The text of a shape after any leading axes, such as "(..., 7)", for messages."""
    return f"({', '.join(['...', *map(str, shape)])})"


def leading_axes(function: str, signature: SizedSignature, arrays: Sequence[Array]) -> Shape:
    """The leading axes of all inputs, broadcast together. Raises ArrayValueError if that is impossible."""
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
    """The array as C reads it, and the number of elements from one state to the next.

    The number is 0 if all states share one element of the array.
    """
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
    """Returns `array` if results can be written to it, and raises an error otherwise.

    The array must have this shape and type, be writable and in C order, and overlap none of `others`.
    """
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
