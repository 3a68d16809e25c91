"""Reports of long tasks on their progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from rbdgen.toolchain.watch import Watch


@dataclass(frozen=True)
class Report:
    """The current step of a long task."""

    ended: str = ""
    """The step that has just ended, such as `designed rnea`; empty if none has."""
    now: str = ""
    """The step that is running, such as `compiling rnea, 4 of 9`; empty if it is not known."""
    done: int = 0
    """The number of steps of this stage that are done."""
    total: int = 0
    """The number of steps of this stage, 0 if it is not known."""


Progress = Callable[[Report], None]
"""Receives every report, in any thread."""


def silent(_: Report) -> None:
    """Ignores the reports."""


class Stage:
    """The steps of one kind, several of which may run at once."""

    def __init__(self, progress: Progress, doing: str, total: int, kept: int = 0) -> None:
        """`doing` is a word such as `compiling`; `kept` is the number of steps that the cache saves."""
        self._progress, self._doing, self._total, self._kept = progress, doing, total, kept
        self._done = kept
        self._running: list[str] = []
        self._lock = Lock()
        if kept:
            self._tell(f"{doing}: {kept} of {total} from the cache")

    def begins(self, name: str) -> None:
        """Reports that a step begins."""
        with self._lock:
            self._running.append(name)
            self._tell("")

    def ends(self, name: str, ended: str) -> None:
        """Reports, in the words of `ended`, that a step has ended."""
        with self._lock:
            self._done += 1
            if name in self._running:
                self._running.remove(name)
            self._tell(ended)

    def _tell(self, ended: str) -> None:
        now = ""
        if self._running:
            kept = f" ({self._kept} from the cache)" if self._kept else ""
            now = f"{self._doing} {self._running[-1]}, {self._done + 1} of {self._total}{kept}"
        self._progress(Report(ended, now, self._done, self._total))


class Compiling(Watch):
    """Reports the progress of compilations."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stage = Stage(progress, "compiling", 0)

    def expects(self, total: int, kept: int = 0) -> None:
        self._stage = Stage(self._progress, "compiling", total, kept)

    def begins(self, function: str) -> None:
        self._stage.begins(function)

    def ends(self, function: str, seconds: float) -> None:
        self._stage.ends(function, f"compiled {function} in {seconds:.1f} s")
