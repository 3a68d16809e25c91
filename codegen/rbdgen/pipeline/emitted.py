"""What `--emit` adds to a folder: the functions that CasADi's files need, and their compiled library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from rbdgen.emit.casadi.matrices import is_flat
from rbdgen.emit.casadi.subjects import needed
from rbdgen.emit.package import MANIFEST, Sources
from rbdgen.errors import OptionError
from rbdgen.functions.table import derivatives_of, is_differentiable, lookup
from rbdgen.model.build import Robot
from rbdgen.model.parameters import asked_parameters
from rbdgen.options import Options
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.module import Toolchain
from rbdgen.toolchain.shared import shared_library
from rbdgen.toolchain.targets import Target
from rbdgen.wording import option


def with_derivatives(robot: Robot, options: Options) -> Options:
    """The options with the functions that give the derivatives of those asked for, if files for CasADi are.

    Products with derivatives are then by the elements of q, unless the options ask for some that are not.
    """
    if not options.emit:
        return options
    asked, model = options.functions, robot.model
    rows = {name: lookup(name, model) for name in asked}
    own_products = any(row.differentiated for row in rows.values())
    by_elements = options.coordinates or is_flat(model.manifold) or not own_products
    parameters = len(asked_parameters(robot, options.params))
    more: list[str] = []
    for name, row in rows.items():
        if row.derivative_of in asked or (row.differentiated and row.differentiated.of.name in asked):
            continue
        all_at_once = derivatives_of(name, model.contact_sets)
        found = needed(row.sized(model, parameters), all_at_once, hessian=False, parameters=parameters)
        more += [found.derivatives] if found.derivatives else []
        if found.first and by_elements and not row.packed(options.packed) and is_differentiable(name, model):
            more.append(found.first)
    added = tuple(name for name in dict.fromkeys(more) if name not in asked)
    products = any(lookup(name, model).differentiated for name in added)
    coordinates = options.coordinates or (products and not is_flat(model.manifold))
    return replace(options, functions=(*asked, *added), coordinates=coordinates)


def check_emitted(options: Options, target: Target) -> None:
    """Raises OptionError for files for CasADi with a target on which CasADi does not run."""
    if options.emit and target.embedded:
        raise OptionError(
            f"{option('emit', ['casadi'])}: CasADi runs on this machine; leave "
            f"{option('target', target.name)} out"
        )


def with_emitted(
    files: Mapping[str, bytes], sources: Sources, toolchain: Toolchain, cache: Cache
) -> dict[str, bytes]:
    """The files of a compiled package, with the library of functions for CasADi if there are any."""
    callers = {file: text for file, text in sources.files.items() if file.startswith("casadi/")}
    if not callers:
        return dict(files)
    with shared_library(sources, callers, toolchain, cache) as path:
        library = path.read_bytes()
    name = f"lib{sources.name}_casadi.so"
    manifest = json.loads(files[MANIFEST])
    manifest["files"].append(name)
    told = json.dumps(manifest, indent=1, allow_nan=False) + "\n"
    return {**files, MANIFEST: told.encode(), name: library}
