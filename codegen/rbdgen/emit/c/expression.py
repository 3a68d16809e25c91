"""Texts of expressions, with what decides where they need parentheses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CHOSEN: Final = 0
"""The precedence of a choice `a ? b : c`."""

SUM: Final = 1
PRODUCT: Final = 2
UNARY: Final = 3
ATOM: Final = 4


@dataclass(frozen=True)
class Expression:
    text: str
    precedence: int
    depth: int
    """The number of levels of operations in the text."""


def infix(left: Expression, sign: str, right: Expression, precedence: int) -> str:
    """The text of a binary operation; the right operand keeps its parentheses at equal precedence.

    Rounding makes a + (b + c) differ from a + b + c.
    """
    return f"{within(left, precedence)} {sign} {within(right, precedence + 1, signed=False)}"


def within(operand: Expression, precedence: int, *, signed: bool = True) -> str:
    """The operand's text, in parentheses if it binds less tightly or may not begin with its sign here."""
    bare = operand.precedence >= precedence and (signed or not operand.text.startswith("-"))
    return operand.text if bare else f"({operand.text})"
