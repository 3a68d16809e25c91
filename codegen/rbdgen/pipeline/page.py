"""Runs all steps: description -> model -> functions -> graph -> emission -> build -> load."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rbdgen.description.quoting import told
from rbdgen.emit.package import EmitOptions, FunctionSource, Sources
from rbdgen.emit.render import render
from rbdgen.emit.write import write_folder
from rbdgen.errors import OptionError, either
from rbdgen.frameworks.functions import More
from rbdgen.functions.differentiated import mode_of
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.compilation import (
    check_measurable,
    compiler_flags,
    measured,
    target_of,
    toolchain_of,
    unmeasurable,
)
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.emitted import check_emitted, with_derivatives, with_emitted
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.flash import fitted, flash_bytes, smaller_forms
from rbdgen.pipeline.inertia import facts_of_inertia, inertia_functions
from rbdgen.pipeline.progress import Compiling, Progress, Report, Stage, silent
from rbdgen.pipeline.rebuild import open_built
from rbdgen.pipeline.remembered import remembered
from rbdgen.runtime import Library
from rbdgen.signature import UPDATE
from rbdgen.toolchain.cache import Cache, user_cache
from rbdgen.toolchain.module import built, package_files
from rbdgen.toolchain.targets import target_named
from rbdgen.toolchain.watch import Watch
from rbdgen.wording import option


def folder_of(given: object) -> Path:
    """The folder that a caller names. Raises OptionError if it is not a path."""
    if isinstance(given, str | os.PathLike):
        return Path(given)
    raise OptionError(f"out {told(given)} is no folder; give its path")


def design(robot: Robot, options: Options, progress: Progress = silent, *, package: bool = True) -> Sources:
    """Designs the functions, fits them into flash if asked, and returns the files of the folder as text."""
    functions = design_functions(robot, options, progress)
    if options.budget_flash is not None:
        functions = fitted(
            functions,
            lambda: smaller_forms(robot, options, progress),
            options.budget_flash,
            lambda tried: flash_bytes(emit(robot, tried, options), options, progress),
        )
    return emit(robot, functions, options, package=package)


def designed(
    robot: Robot, options: Options, store: Cache, progress: Progress = silent, *, package: bool = True
) -> Sources:
    """As `design`, from the cache if the same robot was designed with the same options before."""
    anew = False

    def made() -> Sources:
        nonlocal anew
        anew = True
        return design(robot, options, progress, package=package)

    sources = remembered(robot, options, store, made, package=package)
    if not anew:
        kept = len(options.functions)
        Stage(progress, "designing", kept, kept)
    return sources


def emit(
    robot: Robot, functions: Sequence[FunctionSource], options: Options, *, package: bool = True
) -> Sources:
    """The files of the generated folder as text.

    `package` says whether the folder is a Python package too, which is not possible for a small machine.
    """
    return render(facts_of(robot, options), functions, _style(options, package=package))


def _style(options: Options, *, package: bool) -> EmitOptions:
    target = target_named(options.target)
    return EmitOptions(
        options.real,
        options.trig,
        target.name,
        target.extensions,
        prefix=target.prefix,
        flags=compiler_flags(options),
        emit=options.emit,
        knots=options.knots,
        package=package,
    )


Later = Callable[[], AbstractContextManager[Progress]]
"""Makes the progress of a task that begins later."""


def build_library(
    robot: Robot,
    options: Options,
    progress: Progress = silent,
    later: Later = lambda: nullcontext(silent),
) -> Library:
    """Designs, compiles and opens the functions; both steps use the cache.

    `later` shows the progress of derivatives that are built when CasADi, JAX or PyTorch needs them.
    """
    if target_of(options).embedded:
        raise OptionError(
            f"{option('target', options.target)}: its code does not run on this machine; take "
            f"{option('target', 'host')}, or write a folder for it with "
            f"{either('rbdgen.generate', 'rbdgen ROBOT')}"
        )
    compiler_flags(options)  # refuses contradictory options before the work starts
    options = with_derivatives(robot, options)
    store = user_cache()
    sources = designed(robot, options, store, progress)

    def other(functions: Sequence[str]) -> Options:
        # products with derivatives of the table are only designed along with another product; this one is
        # quick
        own = [name for name in functions if name.partition("_")[0] != UPDATE] or ["potential_energy_vjp"]
        forms = {name: form for name, form in options.variants.items() if name in own}
        along = any(mode_of(name) for name in own)
        return replace(options, functions=tuple(own), variants=forms, coordinates=along)

    def library(functions: Sequence[str]) -> Library:
        with later() as told:
            return build_library(robot, other(functions), told, later)

    def more_sources(functions: Sequence[str]) -> Sources:
        with later() as told:
            return designed(robot, replace(other(functions), packed=False), store, told)

    @contextmanager
    def watched() -> Iterator[Watch]:
        with later() as told:
            yield Compiling(told)

    more = More(library, more_sources, watched)
    with built(sources, toolchain_of(options), store, Compiling(progress)) as folder:
        return open_built(folder, more)


@dataclass(frozen=True)
class Generated:
    """The folder that `generate` wrote, and its manifest."""

    folder: Path
    manifest: dict[str, Any]


def generate(
    robot: Robot,
    options: Options,
    out: Path,
    *,
    compiled: bool = True,
    progress: Progress = silent,
) -> Generated:
    """Writes the folder `out/<name>`: C, and for the host a Python package, which needs nothing of rbdgen.

    If `compiled`, the package is compiled. For other targets the folder has C alone, and for a small machine
    `compiled` measures flash and stack.
    """
    extended = with_derivatives(robot, options)
    return written(
        lambda store: designed(robot, extended, store, progress, package=target_of(extended).at_home),
        extended,
        out,
        compiled=compiled,
        progress=progress,
    )


def generate_inertia(
    options: Options, out: Path, *, compiled: bool = True, progress: Progress = silent
) -> Generated:
    """As `generate`, for the operations on ten-parameter inertias."""

    def design_inertia(_: Cache) -> Sources:
        functions = inertia_functions(options)
        progress(Report("designed the operations on inertias"))
        return render(
            facts_of_inertia(options), functions, _style(options, package=target_of(options).at_home)
        )

    return written(design_inertia, options, out, compiled=compiled, progress=progress)


def written(
    design: Callable[[Cache], Sources],
    options: Options,
    out: Path,
    *,
    compiled: bool,
    progress: Progress = silent,
) -> Generated:
    """Writes the sources that `design` returns, compiled for the host or measured for a small machine."""
    _check_path(out)
    compiler_flags(options)  # refuses contradictory options before the work starts
    target = target_of(options)
    check_emitted(options, target)
    check_measurable(options, target, compiled=compiled)
    store = user_cache()
    sources = design(store)
    folder = out / sources.name
    if compiled and target.embedded:
        reason = unmeasurable(sources, target, options)
        if reason is None or options.ram is not None:
            sources = measured(sources, target, options, progress)
        else:
            progress(Report(f"took no figures: {reason}"))
    if not (target.at_home and compiled):
        write_folder(folder, sources.files)
        return Generated(folder, sources.manifest)
    toolchain = toolchain_of(options)
    with built(sources, toolchain, store, Compiling(progress)) as compiled_folder:
        files = package_files(compiled_folder)
    files = with_emitted(files, sources, toolchain, store)
    write_folder(folder, files)
    return Generated(folder, json.loads(files["manifest.json"]))


def _check_path(out: Path) -> None:
    """Raises OptionError if no file system can have a folder of that name."""
    try:
        sound = b"\0" not in os.fsencode(out)
    except UnicodeEncodeError:
        sound = False
    if not sound:
        raise OptionError(f"{str(out)!r}: is no name of a folder; choose another {option('out')}")
