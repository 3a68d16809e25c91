"""A library's sources compiled where they arrived: on another machine, in another process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rbdgen.build.cache import Cache
from rbdgen.build.compiler import find_compiler
from rbdgen.build.module import Toolchain, build
from rbdgen.emit.package import Sources
from rbdgen.options import available_cores, environment_cache, environment_compiler


def build_again(name: str, files: Mapping[str, str], flags: Sequence[str], levels: Sequence[str]) -> Path:
    """The compiled folder, from the cache where this machine has it; raises as `build` does."""
    toolchain = Toolchain(
        find_compiler(environment_compiler()), tuple(flags), available_cores(), tuple(levels)
    )
    return build(Sources(name, files), toolchain, Cache(environment_cache()))
