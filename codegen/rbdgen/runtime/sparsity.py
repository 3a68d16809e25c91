"""The sparsity of outputs, and dense arrays from packed ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..signature import SizedArgument
from .arrays import Array


def entries_of(output: SizedArgument) -> tuple[npt.NDArray[np.intp], ...]:
    """The indices of the elements that are not always 0, one array per axis, in order.

    For a packed output they are the indices in the dense array of the elements that it holds.
    """
    shape = output.dense or output.shape
    positions = range(output.size) if output.nonzero is None else output.nonzero
    return np.unravel_index(np.array(positions, np.intp), shape) if shape else ()


def sparsity_of(output: SizedArgument) -> npt.NDArray[np.bool_]:
    """Whether each element of the dense array is not always 0, as booleans."""
    shape = output.dense or output.shape
    pattern = np.zeros(shape, np.bool_)
    pattern[entries_of(output)] = True
    return pattern if output.dense is None else np.logical_or(pattern, _mirrored(output, pattern))


def dense_of(output: SizedArgument, values: Array) -> Array:
    """The dense array (..., *shape) of packed values (..., entries); values that are not packed are
    returned."""
    if output.dense is None:
        return values
    held = np.zeros(output.dense, np.bool_)
    found = np.zeros((*values.shape[:-1], *output.dense), values.dtype)
    at: tuple[Any, ...] = entries_of(output)
    held[at] = True
    found[(..., *at)] = values
    return np.where(held, found, _mirrored(output, found))


def _mirrored(output: SizedArgument, array: Any) -> Any:
    """The array with the two symmetric axes of the dense array exchanged; it may have other axes before
    them."""
    assert output.dense is not None
    if output.symmetric is None:
        return array
    first, second = (axis - len(output.dense) for axis in output.symmetric)
    return array.swapaxes(first, second)
