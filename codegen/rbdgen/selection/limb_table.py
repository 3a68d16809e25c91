"""The table of numbers in which alike limbs differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from rbdgen.description.schema import Limit
from rbdgen.selection.parameter_table import Entry
from rbdgen.spatial.ops import Matrix, Vector
from rbdgen.spatial.scalar import is_number


class LimbTable:
    """The table of numbers in which limbs differ, while it grows: each entry has one number per lane."""

    def __init__(self) -> None:
        self.entries: list[tuple[float, ...]] = []
        self._places: dict[tuple[float, ...], int] = {}

    def merged(self, values: Sequence[Any]) -> Any:
        """Merge the values of all lanes into one: equal numbers are kept, different ones become an entry.

        All else must be equal, except for names and limits, which nothing reads here.
        """
        first = values[0]
        if all(value is first for value in values) or isinstance(first, str):
            return first
        if any(isinstance(value, Limit) for value in values):
            return None
        if is_number(first):
            return first if all(x == first for x in values) else self._entry(tuple(map(float, values)))
        assert all(type(value) is type(first) for value in values), f"limbs differ in kind: {values}"
        if isinstance(first, (Vector, Matrix)):
            return type(first)(*map(self.merged, zip(*values, strict=True)))
        if isinstance(first, tuple):
            each = map(self.merged, zip(*values, strict=True))
            return type(first)(*each) if hasattr(first, "_fields") else type(first)(each)
        if is_dataclass(first) and not isinstance(first, type):
            parts = {x.name: self.merged([getattr(v, x.name) for v in values]) for x in fields(first)}
            return replace(first, **parts)
        assert all(value == first for value in values), f"limbs differ in what is no number: {values}"
        return first

    def _entry(self, row: tuple[float, ...]) -> Entry:
        opposite = tuple(-x for x in row)
        if opposite in self._places:
            return Entry(self._places[opposite], True)
        if row not in self._places:
            self._places[row] = len(self.entries)
            self.entries.append(row)
        return Entry(self._places[row], False)
