"""Compiles the sources of a pickled library where they arrive: on another machine, or in another process."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final

from rbdgen.emit.names import check_identifier, check_robot_name
from rbdgen.emit.package import Sources
from rbdgen.errors import EmitError, LoadError
from rbdgen.frameworks.functions import More, functions_of
from rbdgen.machine import available_cores
from rbdgen.options import AUTO, environment_compiler
from rbdgen.runtime import Library, open_library
from rbdgen.toolchain.batch import ARCHITECTURES
from rbdgen.toolchain.cache import user_cache
from rbdgen.toolchain.compiler import compilers_named
from rbdgen.toolchain.module import Toolchain, built
from rbdgen.toolchain.targets import TARGETS

_FLAGS: Final = frozenset(
    {
        "-ffp-contract=fast",
        *(flag for flag, _ in ARCHITECTURES.values()),
        *(flag for target in TARGETS.values() if not target.embedded for flag in target.flags),
    }
)
"""All flags with which libraries are compiled. Other flags of a pickled library are refused, because they
might load a plugin or write a file."""

_LEVELS: Final = frozenset(levels for _, levels in ARCHITECTURES.values())


@cache
def library_of(packed: bytes) -> Library:
    """The library of packed texts, compiled for this machine, or from its cache.

    Raises:
        LoadError: the bytes are not those of a pickled library.
        BuildError: it has to be compiled here, and there is no compiler.
    """
    try:
        made = json.loads(zlib.decompress(packed))
        keys = ("name", "files", "flags", "levels", "compiler")
        name, files, flags, levels, compiler = (made[key] for key in keys)
    except (zlib.error, ValueError, RecursionError, KeyError, TypeError) as error:
        raise LoadError(f"a pickled library cannot be read ({error}); pickle it again") from error
    sources = Sources(name, files)
    try:
        _check(sources, flags, levels, compiler)
    except (EmitError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise LoadError(f"a pickled library is not as rbdgen made it ({error}); pickle it again") from error
    first, other = compilers_named(compiler, environment_compiler())
    toolchain = Toolchain(first, tuple(flags), available_cores(), tuple(levels), other)
    with built(sources, toolchain, user_cache()) as folder:
        return open_built(folder)


def open_built(folder: str | Path, more: More | None = None) -> Library:
    """Opens a compiled folder, whose library is compiled again when it is unpickled.

    `more` builds other functions of its robot; None if the robot is not available.
    """
    return open_library(folder, library_of, partial(functions_of, more))


def _check(sources: Sources, flags: Sequence[str], levels: Sequence[str], compiler: str | None) -> None:
    """Raises an exception for a name or flag that rbdgen would not make, because names become paths, and
    flags become arguments of the compiler."""
    check_robot_name(sources.name)
    for file, text in sources.files.items():
        parts = file.split("/")
        if (
            not {"", ".", ".."}.isdisjoint(parts)
            or any(c in file for c in "\\:\0")
            or not isinstance(text, str)
        ):
            raise ValueError(f"its file {file!r}")
    for function, source in sources.c_sources():
        check_identifier(function)
        if source not in sources.files:
            raise ValueError(f"the source {source!r} of {function}")
    for flag in flags:
        if flag not in _FLAGS:
            raise ValueError(f"its compiler flag {flag!r}")
    if tuple(levels) not in _LEVELS:
        raise ValueError(f"its levels {levels!r}")
    if compiler not in (None, AUTO):
        raise ValueError(f"its compiler {compiler!r}")
