"""The promises of emitted code to a controller, checked on the compiled object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from rbdgen.errors import BuildError
from rbdgen.figures.code import Figures
from rbdgen.figures.instructions import INDIRECT

TRIGONOMETRY: Final = frozenset({"sinf", "cosf", "sin", "cos"})
"""All functions that code with `--trig libm` may call; with built-in sines or sines as inputs there are
none.
"""

_HEAP: Final = frozenset({"malloc", "calloc", "realloc", "free", "aligned_alloc", "_sbrk"})


def violations(
    figures: Figures, allowed: frozenset[str] = frozenset(), loops: Mapping[str, int] = MappingProxyType({})
) -> tuple[str, ...]:
    """One line for every broken promise; empty if all hold.

    The code has no heap, no writable globals and no undefined symbols but `allowed`. It branches only to skip
    literal words and to close the `loops` of a function (their number, by the function's name; the emitted C
    gives them constant bounds). It calls no computed address, and its stack has a fixed size.
    """
    return tuple(_violations(figures, allowed, loops))


def _violations(figures: Figures, allowed: frozenset[str], loops: Mapping[str, int]) -> Iterator[str]:
    for symbol in sorted(figures.undefined - allowed):
        yield f"{symbol} is undefined{': heap' if symbol in _HEAP else ''}"
    if figures.data:
        yield f"{figures.data} bytes of initialised writable globals"
    if figures.bss:
        yield f"{figures.bss} bytes of zero-initialised writable globals"
    for name, function in figures.functions.items():
        if function.loops != (count := loops.get(name, 0)):
            beside = f" for {count} loops" if count else ""
            if function.conditional_branches:
                yield f"{name}: {function.conditional_branches} conditional branches{beside}"
            if function.backward_branches:
                yield f"{name}: {function.backward_branches} backward branches{beside}"
            if not (function.conditional_branches or function.backward_branches):
                yield f"{name}: a jump that cannot be followed"
        if INDIRECT in function.calls:
            yield f"{name}: a call to a computed address"
        try:
            figures.stack(name)
        except BuildError as error:
            yield str(error)
