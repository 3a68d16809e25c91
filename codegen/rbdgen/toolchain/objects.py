"""Caches the objects of functions by the sources and flags of each function.

A function is therefore compiled once, even if it is in several folders with different other functions; and so
is the code that all folders share.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from posixpath import dirname, normpath
from typing import Final

from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import Compilation, Compiler, compile_all
from rbdgen.toolchain.watch import FunctionsWatched, Watch

_INCLUDE: Final = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)
_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_PROTOTYPE: Final = re.compile(r"^void (\w+)\([^();]*\);$", re.MULTILINE)
_SECONDS: Final = "seconds.json"


class Objects:
    """The objects of a folder's functions, from the cache if they were compiled before."""

    def __init__(
        self, name: str, files: Mapping[str, str], compiler: Compiler, flags: Sequence[str], cache: Cache
    ) -> None:
        """`name` and `files` are those of the folder; `flags` are those that name the machine."""
        self._name, self._files = name, files
        self._compiler, self._cache = compiler, cache
        self._machine = lru_cache(lambda compiler: compiler.fingerprint(flags))

    def compile(
        self,
        functions: Mapping[str, Sequence[Compilation]],
        others: Sequence[Compilation],
        folder: Path,
        jobs: int,
        watch: Watch,
    ) -> dict[str, float]:
        """Compiles all sources in this folder as `compile_all` does, or copies their objects from the cache.
        Returns the seconds that each source took when it was compiled.

        `functions` has the compilations of each function. `others` may include headers of Python and NumPy,
        and `watch` does not hear of them.
        """
        function_of = {one.target: name for name, compilations in functions.items() for one in compilations}
        seconds: dict[str, float] = {}
        keys: dict[str, str] = {}
        new: list[Compilation] = []
        for one in [*chain(*functions.values()), *others]:
            key = self._key(one, () if one.target in function_of else _interpreter())
            kept = None if key is None else self._cache.read(key, partial(_copied, one, folder))
            if kept is None:
                new.append(one)
            else:
                seconds[one.source] = kept
            if key is not None:
                keys[one.target] = key
        missing = {one.target: function_of[one.target] for one in new if one.target in function_of}
        whole = len(functions) - len(set(missing.values()))
        # the longest come first, so that none of them finishes late
        new.sort(key=lambda one: -len(self._files.get(self._file(one), "")))
        watched = FunctionsWatched(watch, missing, whole)
        seconds |= compile_all(self._compiler, new, folder, jobs, watched)
        for one in (one for one in new if one.target in keys):
            self._keep(keys[one.target], one, folder, seconds[one.source])
        return seconds

    def _keep(self, key: str, one: Compilation, folder: Path, seconds: float) -> None:
        def fill(entry: Path) -> None:
            for file in _made(one):
                if (folder / file).exists():
                    shutil.copyfile(folder / file, entry / f"object{Path(file).suffix}")
            (entry / _SECONDS).write_text(json.dumps(seconds), encoding="utf-8")

        self._cache.entry(key, fill)

    def _key(self, one: Compilation, headers: Sequence[str]) -> str | None:
        """A hash of all that the object depends on, with the versions of the `headers` outside the folder.
        None if its source, or a file that it includes between quotes, is outside the folder.
        """
        try:
            texts = self._texts(self._file(one))
        except KeyError:
            return None
        compiler = one.compiler or self._compiler
        content = [compiler.command, self._machine(compiler), one.flags, texts, *headers]
        return f"object-{hashlib.sha256(json.dumps(content).encode()).hexdigest()}"

    def _file(self, one: Compilation) -> str:
        return one.source.removeprefix(f"../{self._name}/")

    def _texts(self, file: str) -> list[tuple[str, str]]:
        """The source and all headers that it includes, without comments and without prototypes of functions
        that it does not name.
        """
        source = self._files[file]
        found = {file: _code(_COMMENT.sub("", source))}
        waiting = [(file, include) for include in _INCLUDE.findall(source)]
        named = set(re.findall(r"\w+", source))

        def without_others(prototype: re.Match[str]) -> str:
            return prototype[0] if prototype[1] in named else ""

        while waiting:
            where, include = waiting.pop()
            beside = normpath(f"{dirname(where)}/{include}").lstrip("/")
            header = beside if beside in self._files else include
            if header not in found:
                text = self._files[header]
                found[header] = _code(_PROTOTYPE.sub(without_others, _COMMENT.sub("", text)))
                waiting += [(header, other) for other in _INCLUDE.findall(text)]
        return sorted(found.items())


def _interpreter() -> tuple[str, str]:
    """The versions of Python and NumPy."""
    import numpy as np  # noqa: PLC0415  (only builds need its headers)

    return sys.version, np.__version__


def _code(text: str) -> str:
    """A text without its empty lines."""
    return "\n".join(line for line in text.splitlines() if line.strip())


def _made(one: Compilation) -> tuple[str, str]:
    """The files that a compilation makes: the object, and the report of the stack of its functions."""
    return one.target, f"{Path(one.target).stem}.su"


def _copied(one: Compilation, folder: Path, entry: Path) -> float:
    """Copies an object from its entry; returns the seconds that its compilation took."""
    for file in _made(one):
        kept = entry / f"object{Path(file).suffix}"
        if kept.exists():
            shutil.copyfile(kept, folder / file)
    seconds: float = json.loads((entry / _SECONDS).read_text(encoding="utf-8"))
    return seconds
