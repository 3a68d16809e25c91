"""Names that a description does not have and its links and joints need."""

from __future__ import annotations

from collections.abc import Iterable


class FreeNames:
    """Makes names that nothing else has: with a _ behind those that are taken."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def __call__(self, wanted: str) -> str:
        """This name, or the next free one; it is taken from now on."""
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted
