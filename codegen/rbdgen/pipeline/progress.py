"""How long tasks report their steps."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str], None]
"""Receives one line of text for each step, such as `designed rnea`."""


def silent(_: str) -> None:
    """Ignores the steps."""


def of_compilation(progress: Progress) -> Callable[[str, float], None]:
    """Reports a compiled function, given by name and seconds, as a line of text."""
    return lambda name, seconds: progress(f"compiled {name} in {seconds:.1f} s")
