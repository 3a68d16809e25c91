"""One compiled function of a robot, callable with NumPy arrays."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ArrayTypeError, ArrayValueError, LoadError
from ..signature import SizedSignature
from .arrays import Array, Shape, as_real, check_output, leading_axes, states

CHUNK = 4096
"""States in one call of C; between two, Python looks for Ctrl-C."""


class Bound(partial[None]):
    """A call with its arrays fixed: `bound()` reads the inputs as they are now and writes `bound.out`."""

    out: Any


class Function:
    """A compiled function: `tau = f(q, v, a)`.

    Leading axes of the inputs broadcast; any real dtype and any strides are accepted, C reads `dtype`
    without a copy where the array is in C order. Several outputs come as a named tuple. NaN passes
    through. The global interpreter lock is released while C runs.

    Raises, on a call:
        ArrayValueError: an array's shape does not fit, `out` cannot be written straight into.
        ArrayTypeError: an array is not of real numbers, too few or too many arguments.
    """

    def __init__(
        self, signature: SizedSignature, facts: Mapping[str, Any], folder: Path, ffi: Any, lib: Any, real: str
    ) -> None:
        self.signature = signature
        self.dtype = np.dtype(np.float32 if real == "float" else np.float64)
        self.cost: Mapping[str, int] = MappingProxyType(facts["operations"])
        self.__name__ = signature.name
        self.__doc__ = f"{facts['summary']}; form {facts['variant']}."
        self._path: Path = folder / facts["source"]
        self._one = getattr(lib, facts["symbol"])
        self._loop = getattr(lib, f"{facts['symbol']}_loop")
        self._from_buffer = ffi.from_buffer
        self._elements = ffi.typeof(f"{real}[]")
        self._names = tuple(argument.name for argument in signature.inputs)
        self._shapes = tuple(argument.shape for argument in signature.inputs)
        self._results = tuple(argument.shape for argument in signature.outputs)
        self._result = self._results[0] if len(self._results) == 1 else None
        names = [argument.name for argument in signature.outputs]
        self._tuple: Any = namedtuple(f"{signature.name}_outputs", names) if len(names) > 1 else None

    def __repr__(self) -> str:
        inputs = ", ".join(f"{x.name} {x.shape}" for x in self.signature.inputs)
        outputs = ", ".join(f"{x.name} {x.shape}" for x in self.signature.outputs)
        return f"<{self.__name__}: {inputs} -> {outputs}>"

    @property
    def source(self) -> str:
        """The C of this function."""
        try:
            return self._path.read_text(encoding="utf-8")
        except OSError as error:
            raise LoadError(f"{self._path}: {error.strerror}; generate the folder again") from error

    def __call__(self, *arrays: npt.ArrayLike, out: Any = None, **named: npt.ArrayLike) -> Any:
        """The outputs; `out`, an array or one for each output, is written to and given back."""
        if not named and len(arrays) == len(self._shapes):
            results = self._direct(arrays, out)
            if results is not None:
                return results
        return self._careful(self._positional(arrays, named), out)

    def _direct(self, arrays: Sequence[Any], out: Any) -> Any:
        """One state in arrays that C can read as they are: the quick way; None where it is not open."""
        dtype, buffer, elements = self.dtype, self._from_buffer, self._elements
        pointers = []
        try:
            for array, shape in zip(arrays, self._shapes):  # noqa: B905  (equal lengths; this is the hot loop)
                if type(array) is not np.ndarray or array.dtype is not dtype or array.shape != shape:
                    return None
                pointers.append(buffer(elements, array))
        except ValueError:  # not in C order
            return None
        if self._result is None:
            if out is not None:
                return None
            results = [np.empty(shape, dtype) for shape in self._results]
            self._one(*pointers, *[buffer(elements, result) for result in results])
            return self._tuple(*results)
        if out is None:
            out = np.empty(self._result, dtype)
        elif not self._writable(out, arrays):
            return None
        self._one(*pointers, buffer(elements, out))
        return out

    def _writable(self, out: Any, arrays: Sequence[Array]) -> bool:
        """Whether the single output can certainly go to `out`: arrays that own their memory share none."""
        return (
            type(out) is np.ndarray
            and out.dtype is self.dtype
            and out.shape == self._result
            and out.flags.carray
            and all(
                array is not out
                and ((out.base is None and array.base is None) or not np.may_share_memory(array, out))
                for array in arrays
            )
        )

    def bind(self, *arrays: Array, out: Any = None, **named: Array) -> Bound:
        """A call without arguments for control loops: arrays are checked once, here.

        The inputs are read anew at every call, so none is converted: their dtype must be this function's,
        in C order, their leading axes all the same or none. `out` is made if it is not given.
        """
        inputs = self._positional(arrays, named)
        leading = leading_axes(self.__name__, self.signature, self._real(inputs))
        for argument, array in zip(self.signature.inputs, inputs, strict=True):
            fits = isinstance(array, np.ndarray) and array.dtype == self.dtype
            if not fits or not array.flags.c_contiguous or not array.flags.aligned:
                raise ArrayTypeError(
                    f"{self.__name__}.bind: {argument.name} must be a {self.dtype} array in C order,"
                    " it is read in place; convert it first"
                )
            if array.shape not in (argument.shape, leading + argument.shape):
                raise ArrayValueError(
                    f"{self.__name__}.bind: {argument.name} has shape {array.shape},"
                    f" expected {argument.shape} or {leading + argument.shape}"
                )
        results = self._outputs(out, inputs, leading)
        pointers = [self._pointer(array) for array in inputs]
        writable = [self._pointer(result) for result in results]
        if leading == ():
            bound = Bound(self._one, *pointers, *writable)
        else:
            steps = [
                0 if array.shape == s else int(np.prod(s))
                for array, s in zip(inputs, self._shapes, strict=True)
            ]
            pairs = [x for pair in zip(pointers, steps, strict=True) for x in pair]
            bound = Bound(self._loop, int(np.prod(leading)), *pairs, *writable)
        bound.out = self._packed(results)
        return bound

    def _positional(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """All inputs in order, however they were passed."""
        usage = f"{self.__name__}({', '.join(self._names)})"
        if len(arrays) > len(self._names):
            raise ArrayTypeError(f"{self.__name__}: {len(arrays)} arrays given; call {usage}")
        for name in named:
            if name not in self._names[len(arrays) :]:
                raise ArrayTypeError(f"{self.__name__}: unexpected argument '{name}'; call {usage}")
        missing = [name for name in self._names[len(arrays) :] if name not in named]
        if missing:
            raise ArrayTypeError(f"{self.__name__}: {missing[0]} is missing; call {usage}")
        return (*arrays, *(named[name] for name in self._names[len(arrays) :]))

    def _real(self, arrays: Sequence[Any]) -> list[Array]:
        return [
            as_real(self.__name__, x, array) for x, array in zip(self.signature.inputs, arrays, strict=True)
        ]

    def _careful(self, arrays: Sequence[Any], out: Any) -> Any:
        """Any input: convert, broadcast, loop over the states."""
        inputs = self._real(arrays)
        leading = leading_axes(self.__name__, self.signature, inputs)
        results = self._outputs(out, inputs, leading)
        pairs = [
            states(array, argument, leading, self.dtype)
            for argument, array in zip(self.signature.inputs, inputs, strict=True)
        ]
        reads = [(self._pointer(array), step) for array, step in pairs]
        writes = [(self._pointer(r), x.size) for r, x in zip(results, self.signature.outputs, strict=True)]
        count = int(np.prod(leading))
        for first in range(0, count, CHUNK):
            moved = [x for pointer, step in reads for x in (pointer + first * step, step)]
            self._loop(
                min(CHUNK, count - first), *moved, *(pointer + first * step for pointer, step in writes)
            )
        return self._packed(results) if out is None else out

    def _outputs(self, out: Any, inputs: Sequence[Array], leading: Shape) -> list[Array]:
        """Arrays for the results: new ones, or the user's once they are found fit."""
        shapes = [leading + shape for shape in self._results]
        if out is None:
            return [np.empty(shape, self.dtype) for shape in shapes]
        given = (out,) if self._tuple is None else out
        if not isinstance(given, (tuple, list)) or len(given) != len(shapes):
            names = ", ".join(argument.name for argument in self.signature.outputs)
            raise ArrayTypeError(f"{self.__name__}: out must be a tuple of {len(shapes)} arrays: {names}")
        others = list(zip(self._names, inputs, strict=True))
        for argument, array, shape in zip(self.signature.outputs, given, shapes, strict=True):
            check_output(self.__name__, argument, array, shape, self.dtype, others)
            others.append((f"out for {argument.name}", array))
        return list(given)

    def _packed(self, results: Sequence[Array]) -> Any:
        return results[0] if self._tuple is None else self._tuple(*results)

    def _pointer(self, array: Array) -> Any:
        """The array's memory for C; keeps the array alive."""
        return self._from_buffer(self._elements, array)
