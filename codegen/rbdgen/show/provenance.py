"""Tells for every line of generated C which quantity of the algorithm it computes, and for which body.

The comments at the ends of lines name quantities, such as `motion[2].a.x`. A statement without such a comment
belongs to the first statement below it that reads its result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class Line(NamedTuple):
    """A line of C."""

    text: str
    quantity: str | None = None
    """The name of the quantity that it computes; None for lines that are no statements."""
    of: int | None = None
    """The first index of that quantity, usually of a body."""
    at: int | None = None
    """The number of the line of the algorithm, from 0."""


_STATEMENT = re.compile(r"^\s*(?:const \w+ )?(\w+(?:\[[^\]]*\])*) = ([^{].*?);(?:\s*/\* -?(.*?) \*/)?\s*$")
_QUANTITY = re.compile(r"^((?:1/)?[A-Za-z_]\w*)\[(\d+)[,\]]")
_ELEMENT = re.compile(r"^\w+\[\d+\]$")
_ROOM = re.compile(r"^(workspace\[\d+\])$")
_READ = re.compile(r"\bworkspace\[\d+\]|\b[a-z]+\d+\b")


def owners(text: str, line_of: Callable[[str], int | None] = lambda label: None) -> list[Line]:
    """Every line of a C file with the quantity it is part of; None for lines that are no statements.

    Args:
        text: the text of the file.
        line_of: gives the line of the algorithm for a quantity with its indices.
    """
    readers: dict[str, str] = {}
    found: list[Line] = []
    for line in reversed(text.split("\n")):
        statement = _STATEMENT.match(line)
        if statement is None:
            found.append(Line(line))
            continue
        name, expression, comment = statement.groups()
        own = name if _ELEMENT.match(name) and not _ROOM.match(name) else None
        label = _labelled(comment) or readers.get(name) or own or name
        for local in _READ.findall(expression):
            readers[local] = label  # the last one that is written is the first reader in the text
        quantity = _QUANTITY.match(label)
        index = None if quantity is None else int(quantity[2])
        found.append(Line(line, quantity[1] if quantity else name, index, line_of(label)))
    return found[::-1]


def statements(lines: list[Line]) -> tuple[int, int, int]:
    """The number of statements of a text, of those that belong to a quantity of the algorithm, and of those
    whose line of the algorithm is known."""
    found = [line for line in lines if _STATEMENT.match(line.text)]
    return len(found), sum(x.of is not None for x in found), sum(x.at is not None for x in found)


def _labelled(comment: str | None) -> str | None:
    """The quantity that a comment names."""
    return comment if comment and _QUANTITY.match(comment) else None
