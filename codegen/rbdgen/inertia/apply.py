"""Operations applied to a user's arguments: arrays of many bodies, exact rationals, or symbols."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from rbdgen.errors import ArrayTypeError, ArrayValueError
from rbdgen.inertia.operations import Operation
from rbdgen.runtime.arrays import as_real, check_output, check_shape, leading_axes
from rbdgen.signature import SizedArgument

Array = npt.NDArray[Any]

TOO_LARGE: Final = "; the numbers are too large or too small"


def applied(operation: Operation, *given: object, out: Array | None = None) -> Array:
    """The operation's output, of shape (..., *shape), for inputs whose leading axes broadcast.

    The first input determines the precision: float32 computes in float32. If any input has a symbol or a
    fraction, the computation is symbolic, and the result is an array of objects.

    Args:
        operation: the operation to apply.
        given: its inputs: array-like, or sequences of symbols.
        out: an array of the result's shape and type to write to; it may be one of the inputs.

    Raises:
        ArrayValueError: a wrong shape, or a number that is not finite, in an input or in the result.
        ArrayTypeError: an input that has neither numbers nor symbols; `out` is no array of the result's type.
    """
    name, signature = operation.name, operation.signature.sized({})
    arrays = [as_array(name, x, value) for x, value in zip(signature.inputs, given, strict=True)]
    symbolic = any(array.dtype == object for array in arrays)
    dtype = np.dtype(object) if symbolic else as_floats(arrays[0]).dtype
    leading = leading_axes(name, signature, arrays)
    (output,) = signature.outputs
    shape = (*leading, *output.shape)
    rows = [
        np.broadcast_to(array, leading + x.shape).astype(dtype).reshape(-1, x.size)
        for x, array in zip(signature.inputs, arrays, strict=True)
    ]
    result = np.empty((len(rows[0]), output.size), dtype)
    if symbolic:
        _check_engines(name, rows)
        try:
            for k, states in enumerate(zip(*rows, strict=True)):
                result[k] = _objects(operation.formula(*states))
        except (TypeError, ValueError, ArithmeticError, NotImplementedError) as error:
            told = " ".join(str(error).split())
            raise ArrayValueError(f"{name}: cannot be computed with these symbols ({told})") from error
    else:
        with np.errstate(all="ignore"):  # values that are not finite are reported below
            for k, value in enumerate(operation.formula(*(row.T for row in rows))):
                result[:, k] = value
    check_finite(name, "the result", result.reshape(shape), TOO_LARGE)
    if out is None:
        return result.reshape(shape)
    check_output(name, output, out, shape, dtype, ())
    out[...] = result.reshape(shape)
    return out


def as_array(caller: str, argument: SizedArgument, value: object) -> Array:
    """`value` as an array (..., *shape) of float32, float64, integers, or objects (fractions and symbols)."""
    try:
        symbolic = None if isinstance(value, np.ndarray) else _symbolic(value)
    except ValueError as error:
        raise ArrayValueError(f"{caller}: {argument.name} has {error}; give rows of one length") from error
    value = value if symbolic is None else symbolic
    if isinstance(value, np.ndarray) and value.dtype == object:
        column = (*argument.shape, 1)
        if len(argument.shape) == 1 and value.shape == column:  # vectors of CasADi and SymPy are matrices
            value = value.reshape(argument.shape)
        if odd := [type(x).__name__ for x in value.flat if not _computes(x)]:
            raise ArrayTypeError(f"{caller}: {argument.name} holds a {odd[0]}; pass numbers or symbols")
        check_shape(caller, argument.name, value.shape, argument.shape)
    else:
        real = as_real(caller, argument, cast("npt.ArrayLike", value))
        exact = real.dtype in (np.float32, np.float64) or real.dtype.kind == "i"
        value = real if exact else real.astype(np.float64)
    check_finite(caller, argument.name, value, "; give finite numbers")
    return value


def as_floats(array: Array) -> Array:
    """Integers as float64; other arrays as they are."""
    return array.astype(np.float64) if array.dtype.kind == "i" else array


def check_finite(caller: str, name: str, array: Array, advice: str) -> None:
    """Raises `ArrayValueError`, which names the first element that is infinite or NaN."""
    if array.dtype == object:
        finite = np.array([not isinstance(x, float) or isfinite(x) for x in array.flat])
    else:
        finite = np.isfinite(array).ravel()
    if not finite.all():
        first = int(np.argmin(finite))
        index = ", ".join(map(str, np.unravel_index(first, array.shape))) if array.ndim else ""
        place = f"[{index}]" if index else ""
        raise ArrayValueError(f"{caller}: {name}{place} is {float(array.flat[first])}{advice}")


def _symbolic(value: object) -> Array | None:
    """An array of objects if the value has a symbol or a fraction; None if it has only numbers.

    NumPy must not look into symbols, because it would ask those of CasADi for their values.
    """
    kind = type(value).__module__.partition(".")[0]
    if kind in ("casadi", "sympy"):
        if not isinstance(shape := getattr(value, "shape", None), tuple) or shape in ((), (1, 1)):
            return _objects([value]).reshape(())
        rows, columns = shape
        return _objects([value[i, j] for i in range(rows) for j in range(columns)]).reshape(shape)  # type: ignore[index]
    if isinstance(value, (list, tuple)):
        parts = [_symbolic(part) for part in value]
        if not any(part is not None for part in parts):
            return None
        arrays = [
            np.asarray(x, dtype=object) if part is None else part
            for x, part in zip(value, parts, strict=True)
        ]
        if len({array.shape for array in arrays}) > 1:
            raise ValueError(f"rows of shapes {[array.shape for array in arrays]}")
        return _objects([x for array in arrays for x in array.reshape(-1)]).reshape(-1, *arrays[0].shape)
    if isinstance(value, (int, float, np.generic, np.ndarray)) or not _computes(value):
        return None
    return _objects([value]).reshape(())


def _check_engines(caller: str, arrays: Sequence[Array]) -> None:
    """Raises `ArrayTypeError` for symbols of different libraries; CasADi would turn SymPy's into NaN."""
    found = {type(x).__module__.partition(".")[0] for array in arrays for x in array.flat}
    if {"casadi", "sympy"} <= found:
        raise ArrayTypeError(f"{caller}: symbols of both CasADi and SymPy; use those of one library")


def _computes(value: object) -> bool:
    """Whether it is a scalar with addition and multiplication: a number, a fraction or a symbol."""
    arithmetic = all(hasattr(value, name) for name in ("__add__", "__mul__", "__sub__", "__neg__"))
    return arithmetic and not isinstance(value, (complex, np.complexfloating, np.ndarray))


def _objects(values: Sequence[object]) -> Array:
    """A vector of objects of any type."""
    made = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        made[k] = value
    return made
