"""Expressions in C for the elements of arrays at which the runs of loops begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from rbdgen.emit.c.parts import CArrayOfNumbers, rows_of_numbers
from rbdgen.errors import EmitError


class Steps(NamedTuple):
    """The offset of each run of a loop from that of the first run."""

    elements: tuple[int, ...]
    counter: str
    """The variable that counts the runs in C."""

    @property
    def even(self) -> int | None:
        """The step between neighbouring runs; None if steps differ."""
        steps = {b - a for a, b in pairwise(self.elements)} or {0}
        return steps.pop() if len(steps) == 1 else None


@dataclass
class Offsets:
    """The expressions for the offsets in arrays, with the tables that they need."""

    symbol: str
    """The function that errors name."""
    tables: dict[tuple[int, ...], CArrayOfNumbers] = field(default_factory=dict)

    def begin(self, first: int, loops: Sequence[Steps]) -> str:
        """The element at which a run within these loops begins; empty for 0."""
        looked_up: list[str] = []
        for loop in loops:
            if loop.even is None:  # the first table has the first element in it
                added = max(first, -min(loop.elements))
                table = self.table(tuple(x + added for x in loop.elements))
                looked_up.append(f"{table.name}[{loop.counter}]")
                first -= added
        text = sum_of(first, [loop for loop in loops if loop.even is not None], looked_up)
        return "" if text == "0" else text

    def table(self, offsets: tuple[int, ...], what: str = "offsets") -> CArrayOfNumbers:
        """The table of these offsets.

        Raises EmitError if one is too large.
        """
        if min(offsets) < 0 or max(offsets) > 65535:
            raise EmitError(f"{self.symbol}: an array is too long for a loop; generate the unrolled form")
        if offsets not in self.tables:
            name = f"{what}{len(self.tables) + 1}"
            rows = rows_of_numbers([str(offset) for offset in offsets])
            kind = "unsigned char" if max(offsets) < 256 else "unsigned short"
            self.tables[offsets] = CArrayOfNumbers(name, kind, len(offsets), rows)
        return self.tables[offsets]


def sum_of(first: int, loops: Sequence[Steps], terms: Sequence[str] = ()) -> str:
    """A number that changes evenly in loops, plus other terms, as an expression."""
    scaled = [(step, loop.counter) for loop in loops if (step := loop.even)]
    written = [(step, name if abs(step) == 1 else f"{abs(step)} * {name}") for step, name in scaled]
    added = [f"{first}"] if first > 0 else []
    added += [*terms, *(text for step, text in written if step > 0)]
    taken = [f"{-first}"] if first < 0 else []
    taken += [text for step, text in written if step < 0]
    return " - ".join([" + ".join(added) or "0", *taken])
