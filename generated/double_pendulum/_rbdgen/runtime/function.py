"""One compiled function of a robot, callable with NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Signature
from math import prod
from operator import index
from sys import intern
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ArrayTypeError, ArrayValueError
from ..signature import SizedArgument, SizedSignature
from .arrays import Array, Shape, aligned, as_real, check_output, leading_axes, states
from .memory import LARGE, MEMORY
from .pickled import Content, function_of, results_type
from .sparsity import dense_of, entries_of, sparsity_of

CALL_OPERATIONS = 200_000_000
"""Operations of a thread in one call of C, a tenth of a second without vectors; between two, Python looks
for Ctrl-C."""

PIECE_OPERATIONS = 100_000
"""A thread takes at least so many operations at once from a batch that several threads share."""

MOST_THREADS = 256
"""As many as the pool has, the caller among them; asking for more is no mistake."""

NUMBERS = (int, float, np.integer, np.floating)
"""Types of single numbers."""

LANES = 16
"""The most states in one vector: pieces are multiples of it."""


class Bound(partial[None]):
    """A call with fixed arrays: `bound()` reads the inputs as they are now and returns `bound.out`."""

    out: Any
    arrays: tuple[Array, ...]

    def __call__(self) -> Any:
        super().__call__()
        return self.out


@dataclass(frozen=True)
class Code:
    """What was compiled: what cffi made, and the module of quick calls if it fits this Python.

    `digest`: the hash of the module's file.
    """

    ffi: Any
    lib: Any
    calls: Any
    digest: str = ""

    def address(self, symbol: str) -> int:
        """Where a C function lies."""
        return int(self.ffi.cast("intptr_t", self.ffi.addressof(self.lib, symbol)))


def _not_quick(*_: Any) -> Any:
    return NotImplemented


def _vectors(states: int) -> int:
    """So many states, rounded up to whole vectors, at least one."""
    return max(1, -(-states // LANES)) * LANES


def pieces(operations: int) -> tuple[int, int]:
    """States of so many operations: in one call of C for each thread, and those that it takes at least."""
    return _vectors(CALL_OPERATIONS // operations), _vectors(PIECE_OPERATIONS // operations)


class Function:
    """A compiled function: `tau = f(q, v, a)`.

    Leading axes of the inputs broadcast. Arrays of any real dtype and any strides are accepted, and so are
    lists and numbers; C reads arrays of `dtype` in C order in place and converts all others. Several outputs
    come as a named tuple. NaN passes through. The global interpreter lock is released while C runs. Many
    states go through vectors, a state a lane, with `threads=` by several threads; how many changes no bit of
    the results. A large result lies in memory that an earlier one gave back and does not own it:
    `result.resize` refuses, `numpy.resize` copies.
    `address` and `states_address` are where its C lies, for one state and for many; `identity` names it.
    `help` and editors show its arguments, see `documentation`.

    Raises, on a call:
        ArrayValueError: an array's shape does not fit, `out` cannot be written straight into.
        ArrayTypeError: an array is not of real numbers, too few or too many arguments.
    """

    __signature__: Signature

    def __init__(
        self, signature: SizedSignature, facts: Mapping[str, Any], content: Content, code: Code, real: str
    ) -> None:
        self.signature = signature
        self.dtype = np.dtype(np.float32 if real == "float" else np.float64)
        self.cost: Mapping[str, int] = MappingProxyType(facts["operations"])
        self.__name__ = signature.name
        self._content = content
        self._source: str = facts["source"]
        self._states = getattr(code.lib, f"{facts['symbol']}_states")
        self._ffi = code.ffi
        self._elements = code.ffi.typeof(f"{real}[]")
        operations = max(1, facts["operations"]["total"])
        self._chunk, self._grain = pieces(operations)
        self._names = tuple(intern(argument.name) for argument in signature.inputs)
        self._shapes = tuple(argument.shape for argument in signature.inputs)
        self._results = tuple(argument.shape for argument in signature.outputs)
        self._defaults = {
            argument.name: np.array(argument.default, self.dtype).reshape(argument.shape)
            for argument in signature.inputs
            if argument.default is not None
        }
        names = tuple(argument.name for argument in signature.outputs)
        self._tuple: Any = results_type(signature.name, names) if len(names) > 1 else None
        self._calls = code.calls
        self.identity = f"{code.digest}:{facts['symbol']}"
        self.address = code.address(f"{facts['symbol']}_call")
        self.states_address = code.address(f"{facts['symbol']}_states")
        self._quick = self._quick_way()

    def __repr__(self) -> str:
        inputs = ", ".join(f"{x.name} {x.shape}" for x in self.signature.inputs)
        outputs = ", ".join(f"{x.name} {x.shape}" for x in self.signature.outputs)
        return f"<{self.__name__}: {inputs} -> {outputs}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by content: see `pickled`."""
        return function_of, (self._content.revive, self._content.packed, self.__name__)

    def _quick_way(self) -> Callable[..., Any]:
        """A call in C for arrays, lists and numbers; it gives NotImplemented where `_careful` must look."""
        if self._calls is None:
            return _not_quick
        quick: Callable[..., Any] = self._calls.Call(
            self.address,
            self.states_address,
            self._grain,
            self._chunk,
            self.dtype,
            self._names,
            self._shapes,
            tuple(self._defaults.get(name) for name in self._names),
            self._results,
            self._tuple,
            LARGE,
            MEMORY.block,
        )
        return quick

    @property
    def sparsity(self) -> Any:
        """Where the output may be other than 0: booleans in its shape, of a packed one in that of the dense
        array. Of several outputs a dict, by name. So are `entries`, and what `dense` takes is as results are.
        """
        return self._of_outputs(sparsity_of)

    @property
    def entries(self) -> Any:
        """The indices of these elements, an array an axis, in the order of a packed output's elements."""
        return self._of_outputs(entries_of)

    def dense(self, results: Any) -> Any:
        """Results of a call with packed outputs as dense arrays; outputs that are dense stay as they are."""
        if self._tuple is None:
            return dense_of(self.signature.outputs[0], np.asarray(results))
        pairs = zip(self.signature.outputs, results, strict=True)
        return self._tuple(*(dense_of(output, np.asarray(array)) for output, array in pairs))

    def _of_outputs(self, told: Callable[[SizedArgument], Any]) -> Any:
        outputs = self.signature.outputs
        return told(outputs[0]) if len(outputs) == 1 else {x.name: told(x) for x in outputs}

    @property
    def source(self) -> str:
        """The C of this function."""
        return self._content.text(self._source)

    def __call__(
        self, *arrays: npt.ArrayLike, out: Any = None, threads: int = 1, **named: npt.ArrayLike
    ) -> Any:
        """The outputs; `out`, an array or one for each output, is written to and given back."""
        quick = self._quick
        results = quick(*arrays, out, threads, **named) if named else quick(*arrays, out, threads)
        if results is NotImplemented:
            return self._careful(self.inputs(arrays, named), out, threads)
        return results

    def bind(self, *arrays: Array, out: Any = None, threads: int = 1, **named: Array) -> Any:
        """A call without arguments for control loops: arrays are checked once, here.

        The inputs are read anew at every call, so none is converted: their dtype must be this function's,
        in C order, their leading axes all the same or none. A number, such as of dt, stays as it is. `out` is
        made if it is not given. Every call writes to it and returns it: `tau = bound()`; `bound.out` is the
        same array, or the named tuple.
        """
        threads = self._threads(threads)
        inputs = tuple(
            np.array(value, self.dtype) if x.shape == () and isinstance(value, NUMBERS) else value
            for x, value in zip(self.signature.inputs, self.inputs(arrays, named), strict=True)
        )
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
        results, _ = self._outputs(out, inputs, leading)
        steps = [0 if array.shape == s else prod(s) for array, s in zip(inputs, self._shapes, strict=True)]
        arrays, packed = (*inputs, *results), self.packed(results)
        if self._calls is not None:
            states = self.states_address if leading else 0
            plan = threads, self._grain, prod(leading), tuple(steps)
            return self._calls.Bound(self.address, states, *plan, arrays, packed)
        places = self._places([self._pointer(array) for array in arrays])
        bound = Bound(self._states, threads, False, self._grain, prod(leading), places, self._steps(steps))
        bound.arrays, bound.out = arrays, packed
        return bound

    def inputs(
        self, arrays: Sequence[Any], named: Mapping[str, Any], caller: str | None = None
    ) -> tuple[Any, ...]:
        """All inputs in order, however they were passed; what is left out and has a default has that one.

        `caller`: what errors call this function.
        """
        caller = caller or self.__name__
        usage = f"{caller}({', '.join(self._names)})"
        if len(arrays) > len(self._names):
            raise ArrayTypeError(f"{caller}: {len(arrays)} arrays given; call {usage}")
        for name in named:
            if name not in self._names[len(arrays) :]:
                raise ArrayTypeError(f"{caller}: unexpected argument '{name}'; call {usage}")
        named = {**self._defaults, **named}
        missing = [name for name in self._names[len(arrays) :] if name not in named]
        if missing:
            raise ArrayTypeError(f"{caller}: {missing[0]} is missing; call {usage}")
        return (*arrays, *(named[name] for name in self._names[len(arrays) :]))

    def _real(self, arrays: Sequence[Any]) -> list[Array]:
        return [
            as_real(self.__name__, x, array) for x, array in zip(self.signature.inputs, arrays, strict=True)
        ]

    def _threads(self, threads: Any, caller: str | None = None) -> int:
        try:
            number = 0 if isinstance(threads, bool) else index(threads)
        except TypeError:
            number = 0
        if number < 1:
            raise ArrayValueError(f"{caller or self.__name__}: threads is {threads!r}; pass 1 or more")
        return min(number, MOST_THREADS)

    def _careful(self, arrays: Sequence[Any], out: Any, threads: int) -> Any:
        """Any input: convert, broadcast, all states."""
        threads = self._threads(threads)
        inputs = self._real(arrays)
        leading = leading_axes(self.__name__, self.signature, inputs)
        results, fresh = self._outputs(out, inputs, leading)
        pairs = [
            states(array, argument, leading, self.dtype)
            for argument, array in zip(self.signature.inputs, inputs, strict=True)
        ]
        pairs += [(r, x.size) for r, x in zip(results, self.signature.outputs, strict=True)]
        pointers = [(self._pointer(array), step) for array, step in pairs]
        steps = self._steps([step for _, step in pairs])
        count = prod(leading)
        chunk = self._chunk * threads
        for first in range(0, count, chunk):
            places = self._places([pointer + first * step for pointer, step in pointers])
            self._states(threads, fresh, self._grain, min(chunk, count - first), places, steps)
        return self.packed(results) if out is None else out

    def _outputs(self, out: Any, inputs: Sequence[Array], leading: Shape) -> tuple[list[Array], bool]:
        """Arrays for the results, new ones or the user's once they are found fit; whether memory is fresh."""
        shapes = [leading + shape for shape in self._results]
        if out is None:
            new = [self._new(argument, leading) for argument in self.signature.outputs]
            return [array for array, _ in new], any(fresh for _, fresh in new)
        given = (out,) if self._tuple is None else out
        if not isinstance(given, (tuple, list)) or len(given) != len(shapes):
            names = ", ".join(argument.name for argument in self.signature.outputs)
            raise ArrayTypeError(f"{self.__name__}: out must be a tuple of {len(shapes)} arrays: {names}")
        others = list(zip(self._names, inputs, strict=True))
        for argument, array, shape in zip(self.signature.outputs, given, shapes, strict=True):
            check_output(self.__name__, argument, array, shape, self.dtype, others)
            others.append((f"out for {argument.name}", array))
        return list(given), False

    def _new(self, argument: SizedArgument, leading: Shape, caller: str | None = None) -> tuple[Array, bool]:
        try:
            return aligned(leading + argument.shape, self.dtype)
        except (ValueError, OverflowError) as error:
            raise ArrayValueError(
                f"{caller or self.__name__}: {argument.name} would have "
                f"{prod(leading + argument.shape)} elements; pass fewer states"
            ) from error

    def packed(self, results: Sequence[Any]) -> Any:
        """Results as a call gives them: the only one, or a named tuple."""
        return results[0] if self._tuple is None else self._tuple(*results)

    def _pointer(self, array: Array) -> Any:
        """The array's memory for C; keeps the array alive."""
        return self._ffi.from_buffer(self._elements, array)

    def _places(self, pointers: Sequence[Any]) -> Any:
        """The pointers as an array of C; keeps nothing alive."""
        return self._ffi.new("void *[]", pointers)

    def _steps(self, steps: Sequence[int]) -> Any:
        return self._ffi.new("size_t[]", steps)
