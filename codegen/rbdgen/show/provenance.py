"""Tells for every line of generated C which quantity of the algorithm it computes, and for which body.

The comments at the ends of lines name quantities, such as `motion[2].a.x`. A statement without such a comment
belongs to the first statement below it that reads its result.
"""

from __future__ import annotations

import re

Line = tuple[str, str | None, int | None]
"""The text of a line, the quantity that it computes, and the index of that quantity, usually of a body."""

_STATEMENT = re.compile(r"^\s*(?:const \w+ )?(\w+(?:\[[^\]]*\])*) = (.*?);(?:\s*/\* -?(.*?) \*/)?\s*$")
_QUANTITY = re.compile(r"^([A-Za-z_]\w*)\[(\d+)\]")
_ELEMENT = re.compile(r"^(\w+)\[(\d+)\]$")
_LOCAL = re.compile(r"\b[a-z]+\d+\b")


def owners(text: str) -> list[Line]:
    """Every line of a C file with the quantity it is part of; None for lines that are no statements."""
    lines = text.split("\n")
    readers: dict[str, tuple[str, int | None]] = {}
    found: list[Line] = []
    for line in reversed(lines):
        statement = _STATEMENT.match(line)
        if statement is None:
            found.append((line, None, None))
            continue
        name, expression, comment = statement.groups()
        owner = _named(comment) or readers.get(name) or _named(name) or (name, None)
        for local in _LOCAL.findall(expression):
            readers[local] = owner  # the last one that is written is the first reader in the text
        found.append((line, *owner))
    return found[::-1]


def statements(lines: list[Line]) -> tuple[int, int]:
    """The number of statements of a text, and of those that belong to a quantity of the algorithm."""
    found = [line for line in lines if _STATEMENT.match(line[0])]
    return len(found), sum(line[2] is not None for line in found)


def _named(text: str | None) -> tuple[str, int | None] | None:
    """The quantity that a comment or an element of an output names."""
    found = _QUANTITY.match(text or "") or _ELEMENT.match(text or "")
    return None if found is None else (found[1], int(found[2]))
