"""Libraries as bytes: their sources and how they were compiled, and who makes libraries of them again."""

from __future__ import annotations

import json
import zlib
from collections import namedtuple
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from ..errors import LoadError

Revive = Callable[[bytes], Any]
"""Makes the library of packed texts where they arrive; it pickles by its name."""

ORIGIN: Final = "_rbdgen/origin.json"
"""The manifest as it was before compilation, the flags and the levels."""


@cache
def results_type(function: str, fields: tuple[str, ...]) -> Any:
    """The named tuple of a function with several outputs; it pickles by its fields."""
    made = namedtuple("_Outputs", fields)  # type: ignore[misc]
    made.__name__ = made.__qualname__ = f"{function}_outputs"

    def reduce(results: tuple[Any, ...]) -> tuple[Any, ...]:
        return _results_of, (function, fields, tuple(results))

    setattr(made, "__reduce__", reduce)  # noqa: B010
    return made


def _results_of(function: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return results_type(function, fields)(*values)


class Content:
    """The texts of a compiled folder as they were when it was opened.

    The folder may be generated anew later: what is shown and what is pickled stays what runs. `library`: what
    was opened; pickled, a `Content` arrives as one that makes its library where somebody asks for that.
    """

    library: Any

    def __init__(self, folder: Path, files: Sequence[str], revive: Revive) -> None:
        self.folder = folder
        self.revive = revive
        self._texts: dict[str, str] = {}
        for name in files:
            with suppress(OSError, ValueError):  # a folder without its sources runs
                self._texts[name] = (folder / name).read_text(encoding="utf-8")

    def __reduce__(self) -> tuple[Any, ...]:
        return Arrived, (self.revive, self.packed)

    def text(self, name: str) -> str:
        """The text of a file; `LoadError` where there was none."""
        if name not in self._texts:
            raise LoadError(f"{self.folder / name}: could not be read; generate the folder again")
        return self._texts[name]

    @cached_property
    def packed(self) -> bytes:
        """All of it as bytes; `LoadError` where a text is missing."""
        try:
            origin = json.loads(self.text(ORIGIN))
            manifest = json.loads(origin["manifest"])
            files = {name: self.text(name) for name in manifest["files"]}
        except (LoadError, ValueError, RecursionError, KeyError, TypeError) as error:
            raise LoadError(
                f"{self.folder}: cannot be pickled ({error}); generate the folder again"
            ) from error
        files["manifest.json"] = origin.pop("manifest")
        return zlib.compress(json.dumps({"name": manifest["name"], "files": files, **origin}).encode())


class Arrived:
    """The bytes of a library as other processes get them; nothing is compiled where they only pass."""

    def __init__(self, revive: Revive, packed: bytes) -> None:
        self._revive = revive
        self._packed = packed

    @property
    def library(self) -> Any:
        """The library, compiled here or found in the cache."""
        return self._revive(self._packed)


def function_of(revive: Revive, packed: bytes, name: str) -> Any:
    """A function of the library that `revive` makes."""
    return revive(packed).functions[name]
