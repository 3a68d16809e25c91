"""The functions of a library as functions of a framework: `lib.casadi`, `lib.jax`, `lib.torch`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from rbdgen.emit.package import Sources
from rbdgen.errors import LoadError
from rbdgen.runtime import Library
from rbdgen.toolchain.watch import Watch


@dataclass(frozen=True)
class More:
    """Makes other functions of a library's robot by name, with derivatives with respect to q's elements."""

    library: Callable[[Sequence[str]], Library]  # builds a library of them
    sources: Callable[[Sequence[str]], Sources]  # writes their sources, for callers other than Python
    watched: Callable[[], AbstractContextManager[Watch]] = lambda: nullcontext(Watch())  # shows compilations
    show: Callable[..., Any] | None = None  # makes the page of the robot


class Functions:
    """The functions of a library as attributes, each made on first use, or made with options by a call."""

    def __init__(self, framework: str, library: Library, more: More | None) -> None:
        self._make: Callable[..., Any] = import_module(f"rbdgen.frameworks.in_{framework}").function_of
        self._framework = framework
        self._library, self._more = library, more

    def __repr__(self) -> str:
        return f"<{', '.join(self._library.functions)}>"

    def __dir__(self) -> list[str]:
        return list(self._library.functions)

    def __call__(self, name: str, *options: Any) -> Any:
        if not isinstance(name, str) or name not in self._library.functions:
            raise LoadError(self._unknown(name))
        if options and self._framework != "casadi":
            raise LoadError(
                f"lib.{self._framework}: its functions have no options; pass the name {name!r} alone"
            )
        return self._make(self._library, self._more, name, *options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._library.functions:
            raise AttributeError(self._unknown(name))
        made = self(name)
        setattr(self, name, made)
        return made

    def _unknown(self, name: object) -> str:
        near = get_close_matches(str(name), dir(self), 1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        there = ", ".join(self._library.functions)
        return f"lib.{self._framework}: no function {name!r} was generated; {meant}there are: {there}"


def functions_of(more: More | None, framework: str, library: Library) -> Any:
    """The functions of `library` for a framework, such as "jax"; `more` builds derivatives that it lacks.

    For "show" it is the function that makes the page of the robot.
    """
    if framework == "show":
        if more is None or more.show is None:
            raise LoadError(
                "lib.show: a library from a folder has no description of its robot; "
                "call rbdgen.load_robot(FILE).show()"
            )
        return more.show
    return Functions(framework, library, more)
