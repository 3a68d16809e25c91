"""What lies where: results of calls and the memory under them."""

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
    """Bytes of those blocks that are not freed."""
    there = [block for each in blocks if (block := each()) is not None]
    return sum({id(block): block.size for block in there}.values())


def bits(result: Any) -> list[bytes]:
    return [array.tobytes() for array in (result if isinstance(result, tuple) else (result,))]


def spoil(result: Any) -> None:
    """Other bits into all the memory of a result, from its first byte to its last."""
    for array in result if isinstance(result, tuple) else (result,):
        assert array.base is not None
        array.base.view(np.uint8).fill(0xA5)
