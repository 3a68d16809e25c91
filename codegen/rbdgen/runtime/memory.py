"""Reuses the memory of large results that are no longer in use for later results.

Fresh memory takes more time than the computation of most results, because the system provides it page by
page, filled with zeros.
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
"""A piece of memory, which holds one result at a time and is the `base` of this result and of all its
views."""

CACHE_LINE: Final = 64
"""The size of a cache line in bytes. A block is larger than its result by one line, so that the result can
begin at a cache line."""

LARGE: Final = 1 << 16
"""The size in bytes of the smallest results that reuse memory. The C library reuses smaller memory just as
quickly."""

MOST_BLOCKS: Final = 32
"""The largest number of blocks; a search through more of them would take longer than fresh memory."""

_COUNTED: Final = hasattr(sys, "getrefcount") and "free-threading" not in sys.version
"""Whether Python can count the references to a block. If it cannot, no memory is reused."""

_references: Final[Callable[[object], int]] = sys.getrefcount if _COUNTED else id

_ALONE: Final = next(map(_references, (object(),))) + 1
"""The number of references to a block that no array uses: those of the list, the tuple and the counter."""


def _default_limit() -> int:
    """An eighth of the machine's memory, but at most 1 GiB."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        physical = 2 << 30
    return min(1 << 30, physical // 8)


class Memory:
    """The blocks of the latest results, whether in use or not, with at most `limit` bytes in total.

    A result and all its views refer to its block, so a block is no longer in use if only this object refers
    to it. Therefore nothing needs to be done when an array is deleted. No lock is needed either, neither
    between threads nor in the child of a fork. A block that newer blocks have displaced from this object is
    freed with the last array that uses it.

    Callers must keep their reference to a block until an array refers to it.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._blocks: list[Block] = []

    @property
    def kept(self) -> int:
        """The total size of the kept blocks, in bytes."""
        return sum(block.size for block in tuple(self._blocks))

    def block(self, size: int) -> tuple[Block, bool]:
        """A block for a result of `size` bytes, and whether the block is fresh.

        The block is larger by a cache line, and by at most a quarter if it is reused.
        """
        least = size + CACHE_LINE
        if size < LARGE:
            return np.empty(least, np.uint8), True
        block = self._given_back(least)
        return (self._fresh(least), True) if block is None else (block, False)

    def release(self) -> None:
        """Frees the blocks that are no longer in use; the others are freed with their arrays."""
        self._blocks.clear()

    def set_limit(self, size: int) -> None:
        """Sets the limit of the kept blocks in bytes; with 0 no memory is reused."""
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
        """The oldest unused block that is neither too small nor more than a quarter too large; None if there
        is none."""
        most = size + size // 4
        held = tuple(
            self._blocks
        )  # other threads count the references of this tuple, so they reuse none of the blocks meanwhile
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
        """Drops the oldest blocks until the others are within the limits."""
        while self.kept > self.limit or len(self._blocks) > MOST_BLOCKS:
            del self._blocks[:1]


MEMORY: Final = Memory(_default_limit())
"""The memory of all libraries that this copy of the runtime opens."""

atexit.register(MEMORY.release)
