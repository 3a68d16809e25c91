"""The C header with the bounds of all functions, rounded outwards to the type of numbers of the folder."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

import numpy as np

from rbdgen.emit.c.constants import Constant, initialiser
from rbdgen.emit.folder import Folder
from rbdgen.emit.names import comment_text, unique_identifiers
from rbdgen.emit.numbers import literal
from rbdgen.emit.text import filled
from rbdgen.graph.bounds.enclosure import Array
from rbdgen.graph.bounds.found import Bounds
from rbdgen.machine import Real

WIDTH = 110
"""The number of characters of a line of the list of ranges."""


@dataclass(frozen=True)
class CBounds:
    """The bounds of a function as the header shows them."""

    function: str
    ranges: tuple[str, ...]
    """Lines with the ranges of the inputs."""
    constants: tuple[Constant, ...]
    """The initialisers of arrays, by the ends of the names of their macros."""


def files(folder: Folder) -> dict[str, str]:
    """The header, by its path. Functions without bounds, such as the one that updates parameters, are left
    out.
    """
    real = folder.options.real
    known = [(f, f.source.bounds) for f in folder.functions if f.source.bounds is not None]
    names = unique_identifiers(f"{f.source.name}_{output}" for f, found in known for output in found.outputs)
    macros = iter(names)
    shown = [
        CBounds(f.source.name, tuple(_ranges(found)), tuple(_constants(found, macros, real)))
        for f, found in known
    ]
    infinite = any("INFINITY" in line for one in shown for row in one.constants for line in row.lines)
    page = filled("bounds/ROBOT_bounds.h.jinja", robot=folder.robot, functions=shown, infinite=infinite)
    return {f"{folder.name}_bounds.h": page}


def _constants(found: Bounds, macros: Iterator[str], real: Real) -> Iterator[Constant]:
    """The bounds of every output. The next names of `macros` are theirs."""
    for name, output in found.outputs.items():
        macro = next(macros).upper()
        comment = comment_text(f"{name}, {output.unit}")
        for end, values, outward in (
            ("LOWEST", output.lowest, -math.inf),
            ("HIGHEST", output.highest, math.inf),
            ("ERROR", output.error[real], math.inf),
        ):
            items = [_literal(value, outward, real) for value in values.ravel().tolist()]
            yield initialiser(f"{macro}_{end}", items, comment)


def _literal(value: float, outward: float, real: Real) -> str:
    """A bound as a literal that is not closer to the other bound than it, with INFINITY for none."""
    if real == "float":
        with np.errstate(over="ignore"):
            rounded = np.float32(value)
        short = float(rounded) < value if outward > 0 else float(rounded) > value
        value = float(np.nextafter(rounded, np.float32(outward)) if short else rounded)
    if math.isfinite(value):
        return literal(value, real)
    return "INFINITY" if value > 0 else "-INFINITY"


def _ranges(found: Bounds) -> Iterator[str]:
    """The lines that list the ranges of the inputs; elements that are not read are not listed."""
    for name, (low, high) in found.inputs.items():
        # a range stays in one line: only the spaces between ranges may become ends of lines
        told = [text.replace(" ", "\u00a0") for text in _told(name, low.ravel(), high.ravel())]
        lines = wrap("; ".join(told), WIDTH, break_long_words=False, break_on_hyphens=False)
        yield from (line.replace("\u00a0", " ") for line in lines)


def _told(name: str, low: Array, high: Array) -> list[str]:
    """The ranges of the elements of an input, in one text if all are the same."""
    read = [k for k in range(low.size) if not math.isnan(low[k])]
    pairs = {(float(low[k]), float(high[k])) for k in read}
    if not read:
        return [f"{name}: any"]
    if len(pairs) == 1:
        ((one, other),) = pairs
        return [f"{name}: {_span(one, other)}"]
    return [f"{name}[{k}]: {_span(float(low[k]), float(high[k]))}" for k in read]


def _span(low: float, high: float) -> str:
    return repr(low) if low == high else f"{low!r} to {high!r}"
