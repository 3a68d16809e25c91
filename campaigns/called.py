"""Calls one function of a compiled library, in a process of its own, since wrong code may end the process.

`python called.py LIBRARY SYMBOL ARGUMENTS RESULTS` reads inputs, and writes the results of single calls and
of batches (both files of `numpy.savez`). `emitted.py` starts it and judges the results.
"""

from __future__ import annotations

import ctypes
import resource
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNWRITTEN = 1e30
"""The value of every element before a call."""

LINE = 64
"""The bytes of a cache line; results begin at one, as a batch may write past the caches."""

Array = NDArray[Any]


def main(library: str, symbol: str, arguments: str, results: str) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    functions = ctypes.CDLL(library)
    with np.load(arguments) as file:
        inputs = [file[f"input{k}"] for k in range(int(file["inputs"]))]
        sizes, batches = file["sizes"].tolist(), file["batches"].tolist()
    found = {"single": list(_singles(getattr(functions, symbol), inputs, sizes))}
    for k, (count, stream) in enumerate(batches):
        found[f"batch{k}"] = list(_batch(getattr(functions, f"{symbol}_batch"), inputs, sizes, count, stream))
    arrays: dict[str, Any] = {f"{call}_{k}": x for call, own in found.items() for k, x in enumerate(own)}
    np.savez(results, **arrays)


def _singles(call: Any, inputs: Sequence[Array], sizes: Sequence[int]) -> Iterator[Array]:
    """Yields the results of single calls, beginning with the last state.

    In this order, a call that writes beyond its result spoils a result that was written before.
    """
    states = len(inputs[0])
    rooms = [_room(states, size, inputs[0].dtype) for size in sizes]
    for k in reversed(range(states)):
        call(*(_address(x[k]) for x in inputs), *(_address(y[k]) for _, y in rooms))
    yield from _with_surroundings(rooms)


def _batch(
    call: Any, inputs: Sequence[Array], sizes: Sequence[int], count: int, stream: int
) -> Iterator[Array]:
    rooms = [_room(len(inputs[0]), size, inputs[0].dtype) for size in sizes]
    steps = [(_address(x), ctypes.c_size_t(x.shape[1])) for x in inputs]
    call(
        ctypes.c_size_t(count), *(x for pair in steps for x in pair), *(_address(y) for _, y in rooms), stream
    )
    yield from _with_surroundings(rooms)


def _room(states: int, size: int, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Memory that is filled with `UNWRITTEN`, and the result in it, which begins at a cache line."""
    line = LINE // dtype.itemsize
    memory = np.full(states * size + 2 * line, UNWRITTEN, dtype)
    first = line - memory.ctypes.data // dtype.itemsize % line
    return memory, memory[first : first + states * size].reshape(states, size)


def _with_surroundings(rooms: Sequence[tuple[Array, Array]]) -> Iterator[Array]:
    """Yields each result, and then the memory before and behind it."""
    for memory, result in rooms:
        first = (result.ctypes.data - memory.ctypes.data) // memory.itemsize
        yield result
        yield np.concatenate([memory[:first], memory[first + result.size :]])


def _address(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


if __name__ == "__main__":
    main(*sys.argv[1:])
