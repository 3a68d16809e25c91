"""A library's functions as those of a framework: `lib.casadi`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

from rbdgen.runtime import Library

More: TypeAlias = Callable[[Sequence[str]], Library]
"""Builds a library of other functions of the same robot."""


def functions_of(more: More | None, framework: str, library: Library) -> Any:
    """Those of `library` in a framework, `casadi`; `more` builds derivatives that it has not."""
    return partial(import_module(f"rbdgen.frameworks.in_{framework}").function_of, library, more)
