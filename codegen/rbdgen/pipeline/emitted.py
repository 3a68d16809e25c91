"""What `--emit` adds to a folder: the functions that its files need, and what is compiled of these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from rbdgen.emit.package import MANIFEST, Sources
from rbdgen.errors import OptionError
from rbdgen.functions.table import rows_of
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.module import Toolchain
from rbdgen.toolchain.shared import shared_library
from rbdgen.toolchain.targets import Target


def with_derivatives(robot: Robot, options: Options) -> Options:
    """The options with the derivatives of all functions asked for, where CasADi is to know them."""
    if not options.emit:
        return options
    asked = options.functions
    rows = rows_of(robot.model).values()
    more = [row.name for row in rows if row.derivative_of in asked and row.name not in asked]
    return replace(options, functions=(*asked, *more))


def check_emitted(options: Options, target: Target) -> None:
    """`OptionError` where nobody could call what is asked for."""
    if options.emit and target.embedded:
        raise OptionError(f"--emit casadi: CasADi runs on this machine; leave --target {target.name} out")


def with_emitted(
    files: Mapping[str, bytes], sources: Sources, toolchain: Toolchain, cache: Cache
) -> dict[str, bytes]:
    """The files of a compiled package, with the library of the functions of CasADi if there are some."""
    callers = {file: text for file, text in sources.files.items() if file.startswith("casadi/")}
    if not callers:
        return dict(files)
    library = shared_library(sources, callers, toolchain, cache)
    name = f"lib{sources.name}_casadi.so"
    manifest = json.loads(files[MANIFEST])
    manifest["files"].append(name)
    told = json.dumps(manifest, indent=1, allow_nan=False) + "\n"
    return {**files, MANIFEST: told.encode(), name: library.read_bytes()}
