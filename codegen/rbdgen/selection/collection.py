"""The garbage collector, while graphs are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """No search for cycles: a trace makes a million small objects and not one cycle, and to look through them
    again and again takes a sixth of the time. Reference counts free what is done with."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
