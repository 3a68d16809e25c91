"""A library's functions as those of a framework: `lib.casadi`, `lib.jax`, `lib.torch`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeAlias

from rbdgen.runtime import Library

More: TypeAlias = Callable[[Sequence[str]], Library]
"""Builds a library of other functions of the same robot, derivatives by the elements of q."""


class Functions:
    """The functions by name: attributes, each made when it is first asked for, or by a call with options."""

    def __init__(self, framework: str, library: Library, more: More | None) -> None:
        self._make: Callable[..., Any] = import_module(f"rbdgen.frameworks.in_{framework}").function_of
        self._library, self._more = library, more

    def __repr__(self) -> str:
        return f"<{', '.join(self._library.functions)}>"

    def __dir__(self) -> list[str]:
        return list(self._library.functions)

    def __call__(self, name: str, *options: Any) -> Any:
        return self._make(self._library, self._more, name, *options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._library.functions:
            raise AttributeError(f"no function '{name}' was generated; there are: {', '.join(dir(self))}")
        made = self(name)
        setattr(self, name, made)
        return made


def functions_of(more: More | None, framework: str, library: Library) -> Functions:
    """Those of `library` in a framework, such as `jax`; `more` builds derivatives that it has not."""
    return Functions(framework, library, more)
