"""Observers of the progress of a compilation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock
from time import perf_counter


class Watch:
    """An observer of functions that are compiled; this one does nothing.

    `begins` may be called in any thread.
    """

    def expects(self, total: int, kept: int = 0) -> None:
        """Receives the number of functions that are wanted, and of those that were compiled before."""

    def begins(self, function: str) -> None:
        """Is called when the compilation of a function begins."""

    def ends(self, function: str, seconds: float) -> None:
        """Is called when the compilation of a function is complete, with the time that it took."""


class FunctionsWatched:
    """Reports on functions, each of which is compiled into one or several objects."""

    def __init__(self, watch: Watch, functions: Mapping[str, str], kept: int = 0) -> None:
        """`functions` has the function of each object; `kept` counts those that were compiled before."""
        self._watch, self._functions = watch, functions
        self._left = Counter(functions.values())
        self._since: dict[str, float] = {}
        self._lock = Lock()
        watch.expects(kept + len(self._left), kept)

    def begun(self, target: str) -> None:
        """Is called when the compilation of an object begins."""
        function = self._functions.get(target)
        if function is None:
            return
        with self._lock:
            first = function not in self._since
            self._since.setdefault(function, perf_counter())
        if first:
            self._watch.begins(function)

    def ended(self, target: str) -> None:
        """Is called when the compilation of an object is complete."""
        function = self._functions.get(target)
        if function is None:
            return
        with self._lock:
            self._left[function] -= 1
            last = not self._left[function]
        if last:
            self._watch.ends(function, perf_counter() - self._since[function])
