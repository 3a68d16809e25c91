"""How a long task reports its steps."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str], None]
"""Gets one line of words, such as `designed rnea`."""


def silent(_: str) -> None:
    """For callers that do not want to be told."""


def of_compilation(progress: Progress) -> Callable[[str, float], None]:
    """What compilers tell, a function's name and its seconds, in words."""
    return lambda name, seconds: progress(f"compiled {name} in {seconds:.1f} s")
