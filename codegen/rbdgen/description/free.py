"""Makes unique names for links and joints that have no name in the file."""

from __future__ import annotations

from collections.abc import Iterable


class FreeNames:
    """Makes unique names by appending underscores to names that are taken."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def __call__(self, wanted: str) -> str:
        """Returns `wanted`, with underscores appended if it is taken, and marks the result as taken."""
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted
