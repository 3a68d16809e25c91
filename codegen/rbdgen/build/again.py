"""A library's sources compiled where they arrived: on another machine, in another process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rbdgen.build.batch import ARCHITECTURES
from rbdgen.build.cache import Cache
from rbdgen.build.compiler import find_compiler
from rbdgen.build.module import Toolchain, build
from rbdgen.build.targets import TARGETS
from rbdgen.emit.names import check_identifier, check_robot_name
from rbdgen.emit.package import Sources
from rbdgen.errors import EmitError, LoadError
from rbdgen.options import available_cores, environment_cache, environment_compiler

_FLAGS: Final = frozenset(
    {
        "-ffp-contract=fast",
        *(flag for flag, _ in ARCHITECTURES.values()),
        *(flag for target in TARGETS.values() if not target.embedded for flag in target.flags),
    }
)
"""All that libraries are compiled with; another flag may load a plugin or write a file."""

_LEVELS: Final = frozenset(levels for _, levels in ARCHITECTURES.values())


def build_again(name: str, files: Mapping[str, str], flags: Sequence[str], levels: Sequence[str]) -> Path:
    """The compiled folder, from the cache where this machine has it; raises as `build` does.

    Raises:
        LoadError: what arrived is not what a library of rbdgen's is made of.
    """
    sources = Sources(name, files)
    try:
        _check(sources, flags, levels)
    except (EmitError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise LoadError(f"a pickled library is not as rbdgen made it ({error}); pickle it again") from error
    toolchain = Toolchain(
        find_compiler(environment_compiler()), tuple(flags), available_cores(), tuple(levels)
    )
    return build(sources, toolchain, Cache(environment_cache()))


def _check(sources: Sources, flags: Sequence[str], levels: Sequence[str]) -> None:
    """Names become paths and words of a command: an exception for one that rbdgen does not make."""
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
