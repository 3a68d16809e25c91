"""Fitting functions into flash: those that save most get a smaller form, until what was measured fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rbdgen.emit.package import FunctionSource
from rbdgen.errors import BuildError

Sizes = Mapping[str, int]
"""Bytes of flash by function: its code and constants with all that it calls, every function apart."""

Measure = Callable[[Sequence[FunctionSource]], Sizes]
"""Compiles functions; nothing is estimated."""


def fitted(
    functions: Sequence[FunctionSource],
    smaller: Callable[[], Mapping[str, FunctionSource]],
    budget: int,
    measure: Measure,
) -> list[FunctionSource]:
    """The functions, as few as possible in their smaller form, within `budget` bytes.

    `smaller`: makes the other forms, for functions that have one; asked only where it must be.

    Raises:
        BuildError: all functions in the smallest form that they have exceed the budget.
    """
    chosen = list(functions)
    sizes = measure(chosen)
    if sum(sizes.values()) <= budget:
        return chosen
    others = smaller()
    least = measure([others.get(function.name, function) for function in functions])
    expected = dict(sizes)
    for name in sorted(others, key=lambda name: least[name] - sizes[name]):
        if least[name] >= sizes[name]:
            break
        chosen = [others[name] if function.name == name else function for function in chosen]
        expected[name] = least[name]
        if sum(expected.values()) <= budget:
            expected = dict(measure(chosen))
            if sum(expected.values()) <= budget:
                return chosen
    raise BuildError(_too_large(expected, budget))


def _too_large(sizes: Sizes, budget: int) -> str:
    """The figures of functions that do not fit."""
    total = sum(sizes.values())
    rows = sorted(sizes.items(), key=lambda row: -row[1])
    listed = ", ".join(f"{name} {size}" for name, size in rows)
    return (
        f"--budget-flash {budget}: {total} bytes are the least that was reached, {total - budget} too many "
        f"({listed}); leave functions out with -f, take --trig input or allow more"
    )
