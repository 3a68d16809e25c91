"""Optimisation flags of long straight lines, by compiler and length; each row says what was measured."""

from __future__ import annotations

from typing import Final

LONG: Final = 20_000
"""Operations from which a function counts as long: compilers then take time that grows faster than it."""

_TUNING: Final[dict[str, tuple[str, ...]]] = {"gcc": (), "clang": ()}

_TUNING_LONG: Final[dict[str, tuple[str, ...]]] = {"gcc": ("-O1",), "clang": ()}


def tuning(family: str, operations: int) -> tuple[str, ...]:
    """Flags for a function of so many operations, to stand after the target's own; none changes a result."""
    return (_TUNING_LONG if operations >= LONG else _TUNING)[family]
