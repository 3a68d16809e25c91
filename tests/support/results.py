"""The memory of results of calls."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def address(array: Array) -> int:
    place: int = array.__array_interface__["data"][0]
    return place


def block_of(array: Array) -> weakref.ref[Array]:
    assert array.base is not None
    return weakref.ref(array.base)


def alive(blocks: Iterable[weakref.ref[Array]]) -> int:
    """The bytes of the blocks that have not been freed."""
    there = [block for each in blocks if (block := each()) is not None]
    return sum({id(block): block.size for block in there}.values())


def bits(result: Any) -> list[bytes]:
    return [array.tobytes() for array in (result if isinstance(result, tuple) else (result,))]


def spoil(result: Any) -> None:
    """Overwrites all the memory of a result with other bits."""
    for array in result if isinstance(result, tuple) else (result,):
        assert array.base is not None
        array.base.view(np.uint8).fill(0xA5)
