"""Calls compiled functions with arrays.

Common arguments are converted and checked in C ("quick calls"), and all others in Python. A bound call reads
the same arrays every time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Signature
from math import prod
from operator import index
from sys import intern
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ArrayTypeError, ArrayValueError
from ..signature import SizedArgument, SizedSignature
from .arrays import Array, Shape, aligned, as_real, check_output, is_lazy, leading_axes, states
from .grounds import refuses
from .lazy import LazyCall
from .memory import LARGE, MEMORY
from .obstacles import completed, has_obstacles, refuses_obstacles
from .pickled import results_type
from .plausible import Look

CALL_OPERATIONS = 200_000_000
"""The largest number of operations of a thread in one call of C, which take a tenth of a second without SIMD.
Python reacts to Ctrl-C between two calls."""

PIECE_OPERATIONS = 100_000
"""The smallest number of operations that a thread takes at once from a batch that several threads share."""

MOST_THREADS = 256
"""The largest number of threads, including the caller. A larger number is accepted, and reduced to this
one."""

NUMBERS = (int, float, np.integer, np.floating)
"""Types of single numbers."""

LANES = 16
"""The largest number of states in one vector; the number of states that a thread takes is a multiple of
it."""


class Bound(partial[None]):
    """A call with fixed arrays: `bound()` reads the inputs as they are now and returns `bound.out`."""

    out: Any
    arrays: tuple[Array, ...]

    def __call__(self) -> Any:
        super().__call__()
        return self.out


@dataclass(frozen=True)
class Code:
    """The loaded modules of a generated folder."""

    ffi: Any  # cffi's
    lib: Any  # cffi's
    calls: Any  # the module of quick calls; None if it does not fit this version of Python
    digest: str = ""  # the SHA-256 hash of the module's file

    def address(self, symbol: str) -> int:
        """The address of a C function."""
        return int(self.ffi.cast("intptr_t", self.ffi.addressof(self.lib, symbol)))


def _not_quick(*_: Any) -> Any:
    return NotImplemented


def _vectors(states: int) -> int:
    """A number of states rounded up to whole vectors, at least one vector."""
    return max(1, -(-states // LANES)) * LANES


def identifier(name: str) -> str:
    """The name as an identifier of Python; the names of rollouts contain a point."""
    return name.replace(".", "_")


def pieces(operations: int) -> tuple[int, int]:
    """The largest number of states per thread in one call of C, and the smallest that a thread takes at once.

    `operations` is the number of operations per state.
    """
    return _vectors(CALL_OPERATIONS // operations), _vectors(PIECE_OPERATIONS // operations)


@dataclass(frozen=True)
class Given:
    """Puts the arguments of a call in order, and adds the defaults of those that are missing."""

    caller: str
    names: tuple[str, ...]
    defaults: Mapping[str, Array]
    together: frozenset[str]
    """Parameters and the table that is computed from them, which are both given, or both left out."""

    @staticmethod
    def of(signature: SizedSignature, dtype: np.dtype[Any]) -> Given:
        """The arguments of the function with this signature; defaults have this type of numbers."""
        of_parameters = [x.name for x in signature.inputs if x.kind in ("parameters", "table")]
        return Given(
            signature.name,
            tuple(intern(argument.name) for argument in signature.inputs),
            {
                argument.name: np.array(argument.default, dtype).reshape(argument.shape)
                for argument in signature.inputs
                if argument.default is not None
            },
            frozenset(of_parameters if len(of_parameters) > 1 else ()),
        )

    @property
    def alone(self) -> tuple[Array | None, ...]:
        """The defaults in order, None for inputs that have none, and for those that go together."""
        return tuple(None if name in self.together else self.defaults.get(name) for name in self.names)

    def filled(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """All inputs in order. Raises ArrayTypeError if one is missing or unknown."""
        usage = f"{self.caller}({', '.join(self.names)})"
        if len(arrays) > len(self.names):
            raise ArrayTypeError(f"{self.caller}: {len(arrays)} arrays given; call {usage}")
        for name in named:
            if name not in self.names[len(arrays) :]:
                raise ArrayTypeError(f"{self.caller}: unexpected argument '{name}'; call {usage}")
        chosen = self.together & {*self.names[: len(arrays)], *named}
        known = {x: value for x, value in self.defaults.items() if not (chosen and x in self.together)}
        named = {**known, **named}
        missing = [name for name in self.names[len(arrays) :] if name not in named]
        if missing:
            raise ArrayTypeError(f"{self.caller}: {missing[0]} is missing; call {usage}")
        return (*arrays, *(named[name] for name in self.names[len(arrays) :]))


class Compiled:
    """A compiled function, for one state and for many, that is called with NumPy arrays.

    Attributes:
        signature: its inputs and outputs, and its name in errors.
        dtype: the type of the arrays that C reads and writes.
        address: the address of the C function for one state; 0 if there is none.
        states_address: the address of the C function for many states.
    """

    __signature__: Signature

    def __init__(
        self,
        signature: SizedSignature,
        code: Code,
        real: str,
        symbols: tuple[str | None, str],
        operations: int,
        lazy: LazyCall,
        constants: tuple[int, ...] = (),
    ) -> None:
        """Args:
        signature: its inputs and outputs.
        code: the loaded modules.
        real: "float" or "double".
        symbols: the names of the C functions for one state, or None, and for many.
        operations: the number of operations per state.
        lazy: makes lazy calls with Dask arrays.
        constants: numbers that the C function for many states reads after the steps of the inputs.
        """
        self.signature = signature
        self._lazy = lazy
        self.dtype = np.dtype(np.float32 if real == "float" else np.float64)
        self.__name__ = signature.name
        single, several = symbols
        self._single = None if single is None else getattr(code.lib, single)
        self._states = getattr(code.lib, several)
        self._ffi = code.ffi
        self._elements = code.ffi.typeof(f"{real}[]")
        self._chunk, self._grain = pieces(max(1, operations))
        self._constants = constants
        self._given = Given.of(signature, self.dtype)
        self._names = self._given.names
        self._shapes = tuple(argument.shape for argument in signature.inputs)
        self._results = tuple(argument.shape for argument in signature.outputs)
        names = tuple(argument.name for argument in signature.outputs)
        self._tuple: Any = results_type(identifier(signature.name), names) if len(names) > 1 else None
        self._calls = code.calls
        self.address = 0 if single is None else code.address(single)
        self.states_address = code.address(several)
        self._quick = self._quick_way()
        self._look: Look | None = None
        if has_obstacles(signature):
            self._quick = self._with_all_obstacles(self._quick)
            Compiled.looked_at_by(self, refuses_obstacles)
        if (look := refuses(signature, self.dtype)) is not None:
            Compiled.looked_at_by(self, look)  # rollouts of a step check their own inputs

    def _with_all_obstacles(self, quick: Callable[..., Any]) -> Callable[..., Any]:
        """The call `quick` for arrays that may have fewer obstacles than the C reads."""

        def filled(*given: Any, **named: Any) -> Any:
            *arrays, out, threads = given
            all_rows, named = completed(self.signature, arrays, named)
            results = quick(*all_rows, out, threads, **named)
            if results is not NotImplemented:
                return results
            inputs = self.inputs(all_rows, named)
            return NotImplemented if is_lazy(inputs) else self._careful(inputs, out, threads)

        return filled

    def looked_at_by(self, look: Look) -> None:
        """Passes the inputs of every later call to `look` too. Calls are not slowed down without one."""
        quick, before = self._quick, self._look

        def looked_at(*given: Any, **named: Any) -> Any:
            look(self.signature, given[:-2], named, 3)
            return quick(*given, **named)

        def both(
            signature: SizedSignature, arrays: Sequence[Any], named: Mapping[str, Any], stacklevel: int
        ) -> None:
            for one in filter(None, (before, look)):
                one(signature, arrays, named, stacklevel + 1)

        self._quick, self._look = looked_at, both

    def _quick_way(self) -> Callable[..., Any]:
        """The call in C for arrays, lists and numbers; it returns NotImplemented for others."""
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
            self._given.alone,
            self._results,
            self._tuple,
            self._constants,
            LARGE,
            MEMORY.block,
        )
        return quick

    def __call__(
        self, *arrays: npt.ArrayLike, out: Any = None, threads: int = 1, **named: npt.ArrayLike
    ) -> Any:
        """Computes the outputs.

        If `out` is given, an array or one for each output, it is filled and returned.
        """
        quick = self._quick
        results = quick(*arrays, out, threads, **named) if named else quick(*arrays, out, threads)
        if results is not NotImplemented:
            return results
        given = self.inputs(arrays, named)
        if is_lazy(given):
            return self.packed(self._lazy(self.signature, given, out, threads=self._threads(threads)))
        return self._careful(given, out, threads)

    def bind(self, *arrays: Array, out: Any = None, threads: int = 1, **named: Array) -> Any:
        """Returns a call without arguments, for control loops; arrays are only checked here.

        Every call reads the same arrays again. They are not converted, so they must have the `dtype` of this
        function, be in C order, and have the same leading axes or none. A number, such as that for dt, keeps
        its value. Every call writes its results to `out` and returns it: `tau = bound()`. If `out` is not
        given, it is made; `bound.out` is this array, or the named tuple.
        """
        threads = self._threads(threads)
        if self._look is not None:
            self._look(self.signature, arrays, named, 2)
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
                    " because it is read in place; convert it first"
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
            states = self.states_address if leading or not self.address else 0
            plan = threads, self._grain, prod(leading), (*steps, *self._constants)
            return self._calls.Bound(self.address, states, *plan, arrays, packed)
        places = self._places([self._pointer(array) for array in arrays])
        told = self._steps([*steps, *self._constants])
        bound = Bound(self._states, threads, False, self._grain, prod(leading), places, told)
        bound.arrays, bound.out = arrays, packed
        return bound

    def inputs(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """All inputs in order, whether they were passed by position or by name, with defaults for missing
        ones.

        Parameters and the table that is computed from them must both be given, or both be left out.
        """
        return self._given.filled(arrays, named)

    def _real(self, arrays: Sequence[Any]) -> list[Array]:
        return [
            as_real(self.__name__, x, array) for x, array in zip(self.signature.inputs, arrays, strict=True)
        ]

    def _threads(self, threads: Any) -> int:
        try:
            number = 0 if isinstance(threads, bool) else index(threads)
        except TypeError:
            number = 0
        if number < 1:
            raise ArrayValueError(f"{self.__name__}: threads is {threads!r}; pass 1 or more")
        return min(number, MOST_THREADS)

    def _careful(self, arrays: Sequence[Any], out: Any, threads: int) -> Any:
        """The call for any inputs: converts and broadcasts them, and computes all states."""
        threads = self._threads(threads)
        inputs = self._real(arrays)
        leading = leading_axes(self.__name__, self.signature, inputs)
        results, fresh = self._outputs(out, inputs, leading)
        pairs = [
            states(array, argument, leading, self.dtype)
            for argument, array in zip(self.signature.inputs, inputs, strict=True)
        ]
        steps = self._steps([*(step for _, step in pairs), *self._constants])  # of inputs, as C reads them
        pairs += [(r, x.size) for r, x in zip(results, self.signature.outputs, strict=True)]
        pointers = [(self._pointer(array), step) for array, step in pairs]
        if not leading and self._single is not None:  # batches may run another program, with other bits
            self._single(self._places([pointer for pointer, _ in pointers]))
            return self.packed(results) if out is None else out
        count = prod(leading)
        chunk = self._chunk * threads
        for first in range(0, count, chunk):
            places = self._places([pointer + first * step for pointer, step in pointers])
            self._states(threads, fresh, self._grain, min(chunk, count - first), places, steps)
        return self.packed(results) if out is None else out

    def _outputs(self, out: Any, inputs: Sequence[Array], leading: Shape) -> tuple[list[Array], bool]:
        """The arrays for the results, and whether their memory is fresh, see `memory`.

        The arrays are new, or those of the user after a check.
        """
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

    def _new(self, argument: SizedArgument, leading: Shape) -> tuple[Array, bool]:
        try:
            return aligned(leading + argument.shape, self.dtype)
        except (ValueError, OverflowError) as error:
            raise ArrayValueError(
                f"{self.__name__}: {argument.name} would have "
                f"{prod(leading + argument.shape)} elements; pass fewer states"
            ) from error

    def packed(self, results: Sequence[Any]) -> Any:
        """Results as a call returns them: the only one, or a named tuple of several."""
        return results[0] if self._tuple is None else self._tuple(*results)

    def _pointer(self, array: Array) -> Any:
        """A pointer to the array's memory, which keeps the array alive."""
        return self._ffi.from_buffer(self._elements, array)

    def _places(self, pointers: Sequence[Any]) -> Any:
        """The pointers as a C array, which keeps nothing alive."""
        return self._ffi.new("void *[]", pointers)

    def _steps(self, steps: Sequence[int]) -> Any:
        return self._ffi.new("size_t[]", steps)
