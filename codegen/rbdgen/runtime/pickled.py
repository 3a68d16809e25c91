"""Pickles libraries as bytes: their sources and compiler flags, from which the receiver builds them again."""

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
"""Makes a library from its packed texts in the receiving process. It is pickled by name."""

ORIGIN: Final = "_rbdgen/origin.json"
"""The file with the manifest before compilation, the compiler's flags and the levels of instruction sets."""


@cache
def results_type(function: str, fields: tuple[str, ...]) -> Any:
    """The type of the named tuple that a function with several outputs returns.

    No module has this type under its name, so a tuple is pickled as the function, the fields and the values.
    """
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

    The folder may be generated again later, so the texts that are shown and pickled are kept here. A pickled
    `Content` arrives as an `Arrived`, which makes its library on first use.
    """

    library: Any  # the library that was opened
    frameworks: Any  # what makes further things of the library; None in a package that stands alone

    def __init__(self, folder: Path, files: Sequence[str], revive: Revive) -> None:
        self.folder = folder
        self.revive = revive
        self._texts: dict[str, str] = {}
        for name in files:
            with suppress(OSError, ValueError):  # a folder without its sources can still be used
                self._texts[name] = (folder / name).read_text(encoding="utf-8")

    def __reduce__(self) -> tuple[Any, ...]:
        return Arrived, (self.revive, self.packed)

    def text(self, name: str) -> str:
        """The text of a file. Raises LoadError if it could not be read."""
        if name not in self._texts:
            raise LoadError(f"{self.folder / name}: could not be read; generate the folder again")
        return self._texts[name]

    @cached_property
    def packed(self) -> bytes:
        """All texts as bytes. Raises LoadError if a text is missing."""
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
    """The bytes of a library in another process, which compiles the library only if it is used there."""

    def __init__(self, revive: Revive, packed: bytes) -> None:
        self._revive = revive
        self._packed = packed

    @property
    def library(self) -> Any:
        """The library, which is compiled or found in the cache."""
        return self._revive(self._packed)


def function_of(revive: Revive, packed: bytes, name: str) -> Any:
    """A function of the library that `revive` makes."""
    return revive(packed).functions[name]
