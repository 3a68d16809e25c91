"""Reads the arrays of a call, which are in the memory of a GPU and may come from any library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, Final

import numpy as np

from rbdgen.errors import ArrayTypeError, ArrayValueError
from rbdgen.gpu import dlpack
from rbdgen.gpu.array import DeviceArray
from rbdgen.gpu.device import ordinal_at
from rbdgen.gpu.stream import DEFAULT, Stream, torch_stream

ALIGNMENT: Final = 16
"""Kernels read 16 bytes at once, at addresses that are multiples of 16."""


@dataclass(frozen=True)
class Operand:
    """An array of a call, in C order in the memory of a GPU."""

    address: int
    shape: tuple[int, ...]
    nbytes: int
    ordinal: int | None
    """The number of the GPU; None for an array without elements."""
    stream: Stream | None
    """The stream after which its numbers are there; None if the array does not say."""
    kept: Any
    """The object that owns the memory, which is kept alive."""

    def overlaps(self, other: Operand) -> bool:
        """Whether both have a byte in common."""
        return self.address < other.address + other.nbytes and other.address < self.address + self.nbytes


@dataclass(frozen=True)
class Reading:
    """Reads and checks the arrays of one function; its name and its type of numbers appear in errors."""

    caller: str
    dtype: np.dtype[Any]

    def operand(self, name: str, given: Any, stream: Stream, *, written: bool = False) -> Operand:
        """The array that was given for an argument.

        Args:
            name: the name of the argument.
            given: what was given.
            stream: the stream of the call, which libraries let wait for arrays that they lend by DLPack.
            written: whether results are written to it.

        Raises:
            ArrayTypeError: it is no array on a GPU, or of another type.
            ArrayValueError: its numbers are not in C order, or begin at an address that kernels cannot read.
        """
        if isinstance(given, DeviceArray) and given.dtype == self.dtype:
            return self._made(name, given, given.address, given.shape, given.written_on)
        found = self._interface(name, given)
        if found is None or (not written and found.get("stream") is None and hasattr(given, "__dlpack__")):
            if written:
                raise ArrayTypeError(
                    f"{self.caller}: {name} is a {_kind(given)}, which cannot be written; pass an array of "
                    "PyTorch, CuPy or rbdgen"
                )
            return self._lent(name, given, stream)
        address, read_only = found["data"]
        if written and read_only:
            raise ArrayValueError(f"{self.caller}: {name} is read-only; pass a writable array")
        shape: tuple[int, ...] = tuple(found["shape"])
        strides = found.get("strides")
        self._check(name, found["typestr"], shape, strides, address)
        return self._made(name, given, address, shape, _own_stream(given, found))

    def _interface(self, name: str, given: Any) -> Mapping[str, Any] | None:
        """The `__cuda_array_interface__` of an array; None if it has none."""
        try:
            found: Mapping[str, Any] | None = getattr(given, "__cuda_array_interface__", None)
        except (RuntimeError, TypeError, ValueError, BufferError) as error:
            raise ArrayTypeError(
                f"{self.caller}: {name} is a {_kind(given)} that cannot be read ({_line(error)}); pass plain "
                "numbers, such as tensor.detach()"
            ) from error
        return found

    def _lent(self, name: str, given: Any, stream: Stream) -> Operand:
        """The array by DLPack, whose library lets the stream of the call wait for it."""
        try:
            kind, _ = given.__dlpack_device__()
            if kind in (dlpack.CUDA, dlpack.MANAGED):
                found = dlpack.lent(given.__dlpack__(stream=stream.handle))
                self._check(name, found.typestr, found.shape, found.strides, found.address)
                return self._made(name, found.capsule, found.address, found.shape, None)
        except (AttributeError, RuntimeError, ValueError, BufferError) as error:
            if isinstance(error, ArrayValueError):
                raise
            if hasattr(given, "__dlpack_device__"):
                raise ArrayTypeError(
                    f"{self.caller}: {name} is a {_kind(given)} that cannot be read ({_line(error)}); pass "
                    "plain numbers on a GPU"
                ) from error
        raise ArrayTypeError(
            f"{self.caller}: {name} is a {_kind(given)} on the host; pass an array on a GPU, such as "
            f"lib.to_device({name})"
        )

    def _check(
        self,
        name: str,
        typestr: str,
        shape: tuple[int, ...],
        strides: Sequence[int] | None,
        address: int,
    ) -> None:
        if typestr != self.dtype.str:
            told = np.dtype(typestr) if typestr.startswith("<f") else typestr
            raise ArrayTypeError(f"{self.caller}: {name} has dtype {told}, expected {self.dtype}; convert it")
        if strides is not None and 0 not in shape and not _compact(shape, strides, self.dtype.itemsize):
            raise ArrayValueError(
                f"{self.caller}: {name} has strides {tuple(strides)} in bytes, which is not C order without "
                "gaps; pass a contiguous copy"
            )
        if 0 not in shape and address % ALIGNMENT:
            raise ArrayValueError(
                f"{self.caller}: {name} begins at an address that is no multiple of {ALIGNMENT}; pass a copy"
            )

    def _made(
        self, name: str, kept: Any, address: int, shape: tuple[int, ...], stream: Stream | None
    ) -> Operand:
        size = prod(shape) * self.dtype.itemsize
        if isinstance(kept, DeviceArray):
            return Operand(address, shape, size, kept.device.ordinal if size else None, stream, kept)
        ordinal = ordinal_at(address) if size else None
        if size and ordinal is None:
            raise ArrayTypeError(
                f"{self.caller}: {name} is not in the memory of a GPU; pass an array on a GPU, such as "
                f"lib.to_device({name})"
            )
        return Operand(address, shape, size, ordinal, stream, kept)


def check_apart(caller: str, outputs: Mapping[str, Operand], inputs: Mapping[str, Operand]) -> None:
    """Raises ArrayValueError if an output overlaps another array."""
    pairs = [(name, one, inputs) for name, one in outputs.items()]
    for name, one, others in pairs:
        for other, array in others.items():
            if one.overlaps(array):
                raise ArrayValueError(f"{caller}: {name} overlaps {other}; pass an array of its own")
    ordered = sorted(outputs.items(), key=lambda pair: pair[1].address)
    for (name, one), (other, array) in pairwise(ordered):
        if one.overlaps(array):
            raise ArrayValueError(f"{caller}: {name} overlaps {other}; pass an array of its own")


def stream_among(arrays: Sequence[Any]) -> Stream:
    """The stream of a call that names none: that of the first array which has one, else the default one."""
    for given in arrays:
        try:
            found = _own_stream(given, getattr(given, "__cuda_array_interface__", None) or {})
        except (RuntimeError, TypeError, ValueError, BufferError):
            continue  # `operand` says what is wrong
        if found is not None:
            return found
    return DEFAULT


def _own_stream(given: Any, found: Mapping[str, Any]) -> Stream | None:
    """The stream on which an array was written; `found` is its `__cuda_array_interface__`."""
    if isinstance(given, DeviceArray):
        return given.written_on
    handle = found.get("stream")
    return torch_stream(given) if handle is None else Stream(handle)


def _compact(shape: Sequence[int], strides: Sequence[int], step: int) -> bool:
    """Whether numbers lie in C order without gaps. Steps along axes of one element do not matter."""
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length > 1 and stride != step:
            return False
        step *= length
    return True


def _kind(given: Any) -> str:
    kind = type(given)
    module = kind.__module__.partition(".")[0]
    return kind.__name__ if module == "builtins" else f"{module}.{kind.__name__}"


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0]
