"""Memory of large results: what no array lies in any more, later results take again.

Fresh memory costs more than most results: the system hands it out page by page, filled with zeros.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from operator import index
from typing import Final

import numpy as np
import numpy.typing as npt

from ..errors import ArrayValueError

Block = npt.NDArray[np.uint8]
"""Memory that results lie in, one at a time: it is their `base`, and that of all their views."""

CACHE_LINE: Final = 64
"""Bytes. A block has so many more than its result, which begins with a line of its own."""

LARGE: Final = 1 << 16
"""Bytes of a result from which on it has a block: what is smaller, the C library gives again as quickly."""

MOST_BLOCKS: Final = 32
"""To look through more takes longer than fresh memory."""

_COUNTED: Final = hasattr(sys, "getrefcount") and "free-threading" not in sys.version
"""Whether the references to a block can be counted; elsewhere nothing is kept, all memory is fresh."""

_references: Final[Callable[[object], int]] = sys.getrefcount if _COUNTED else id

_ALONE: Final = next(map(_references, (object(),))) + 1
"""References, as counted below, to a block that no array lies in: of the list, the tuple and the counter."""


def _default_limit() -> int:
    """An eighth of the machine's memory, 1 GiB at most."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        physical = 2 << 30
    return min(1 << 30, physical // 8)


class Memory:
    """The blocks of the latest results, those in use and those given back, of both at most `limit` bytes.

    A result refers to its block, and so does each of its views, wherever they are: a block that only this
    object refers to has been given back. So nothing is done where an array is dropped, and nothing locked:
    that is the same in every thread and in the child of a fork. A block that is not kept here, because
    larger or newer ones are, is freed with the last array that lies in it.
    Callers keep the reference to a block that they are given until an array has its own.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._blocks: list[Block] = []

    @property
    def kept(self) -> int:
        """Bytes."""
        return sum(block.size for block in tuple(self._blocks))

    def block(self, size: int) -> tuple[Block, bool]:
        """A block for a result of `size` bytes, at most a quarter larger, and whether it is fresh."""
        least = size + CACHE_LINE
        if size < LARGE:
            return np.empty(least, np.uint8), True
        block = self._given_back(least)
        return (self._fresh(least), True) if block is None else (block, False)

    def release(self) -> None:
        """Frees the blocks given back; the others are freed with their arrays."""
        self._blocks.clear()

    def set_limit(self, size: int) -> None:
        """Keeps at most so many bytes from now on; 0: all memory is fresh."""
        try:
            limit = index(size)
        except TypeError:
            limit = -1
        if limit < 0:
            raise ArrayValueError(
                f"limit_memory: {size!r} is no number of bytes; pass a whole one, 0 or more"
            )
        self.limit = limit
        self._forget()

    def _given_back(self, size: int) -> Block | None:
        """The oldest that is neither too small nor much too large."""
        most = size + size // 4
        held = tuple(self._blocks)  # other threads count these references: they take none of these now
        for block, references in zip(held, list(map(_references, held)), strict=True):
            if references == _ALONE and size <= block.size <= most:
                return block
        return None

    def _fresh(self, size: int) -> Block:
        try:
            block = np.empty(size, np.uint8)
        except MemoryError:
            self.release()
            block = np.empty(size, np.uint8)
        if _COUNTED and size <= self.limit:
            self._blocks.append(block)
            self._forget()
        return block

    def _forget(self) -> None:
        """The oldest blocks, until the others are within the limits."""
        while self.kept > self.limit or len(self._blocks) > MOST_BLOCKS:
            del self._blocks[:1]


MEMORY: Final = Memory(_default_limit())
"""Of all libraries that this copy of the runtime opens."""

atexit.register(MEMORY.release)
