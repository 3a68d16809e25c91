"""The work for `--emit`: its additions to a request, and the libraries that are compiled from its files."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rbdgen.emit.backends import ON_REQUEST, asked_for
from rbdgen.emit.package import MANIFEST, Sources
from rbdgen.errors import OptionError
from rbdgen.functions.function import Function
from rbdgen.model.model import Model
from rbdgen.options import Options
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.module import Toolchain
from rbdgen.toolchain.shared import shared_library
from rbdgen.toolchain.targets import Target
from rbdgen.wording import choose, option


def check_emitted(options: Options, target: Target) -> None:
    """Raises OptionError for a backend that does not exist, or that contradicts the other options."""
    for name, detail in asked_for(options.emit):
        if name not in ON_REQUEST:
            raise OptionError(f"{option('emit', [name])} is not known; {choose(name, ON_REQUEST)}")
        refused = ON_REQUEST[name].refused(options, detail, small_machine=target.embedded)
        if refused is not None:
            raise OptionError(f"{option('emit', list(options.emit))}: {refused}")


def with_needed(options: Options, rows: Mapping[str, Function], model: Model, parameters: int) -> Options:
    """The options with the functions that the files of backends need in addition to those asked for."""
    for name in dict(asked_for(options.emit)):
        options = ON_REQUEST[name].extended(options, rows, model, parameters)
    return options


def with_libraries(
    files: Mapping[str, bytes], sources: Sources, toolchain: Toolchain, cache: Cache
) -> dict[str, bytes]:
    """The files of a compiled package, with the libraries of backends."""
    made = dict(files)
    manifest = json.loads(files[MANIFEST])
    for name, backend in ON_REQUEST.items():
        own = {file: text for file, text in sources.files.items() if file.startswith(f"{name}/")}
        callers = {file: text for file, text in own.items() if file.endswith(".c")}
        if not (backend.library and callers):
            continue
        library = backend.library_of(sources.name)
        with shared_library(sources, callers, toolchain, cache) as path:
            made[library] = path.read_bytes()
        manifest["files"].append(library)
        told = json.dumps(manifest, indent=1, allow_nan=False) + "\n"
        made[MANIFEST] = told.encode()
    return made
