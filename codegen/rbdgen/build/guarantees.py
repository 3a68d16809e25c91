"""What emitted code promises a controller, checked on the compiled object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rbdgen.build.figures import Figures
from rbdgen.build.instructions import INDIRECT
from rbdgen.errors import BuildError

TRIGONOMETRY: Final = frozenset({"sinf", "cosf", "sin", "cos"})
"""All that code with `--trig libm` may take from elsewhere; with built-in or input ones it takes nothing."""

_HEAP: Final = frozenset({"malloc", "calloc", "realloc", "free", "aligned_alloc", "_sbrk"})


def violations(figures: Figures, allowed: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """One line for every broken promise, none if all hold.

    No heap, no writable globals, nothing undefined but `allowed`, no branch but the unconditional one over
    literal words, no loop, no call to a computed address, stack of a fixed size.
    """
    return tuple(_violations(figures, allowed))


def _violations(figures: Figures, allowed: frozenset[str]) -> Iterator[str]:
    for symbol in sorted(figures.undefined - allowed):
        yield f"{symbol} is undefined{': heap' if symbol in _HEAP else ''}"
    if figures.data:
        yield f"{figures.data} bytes of initialised writable globals"
    if figures.bss:
        yield f"{figures.bss} bytes of zero-initialised writable globals"
    for name, function in figures.functions.items():
        if function.conditional_branches:
            yield f"{name}: {function.conditional_branches} conditional branches"
        if function.backward_branches:
            yield f"{name}: {function.backward_branches} backward branches"
        if INDIRECT in function.calls:
            yield f"{name}: a call to a computed address"
        try:
            figures.stack(name)
        except BuildError as error:
            yield str(error)
