"""Runs all steps: description -> model -> functions -> graph -> emission -> build -> load."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from rbdgen.emit.package import MANIFEST, FunctionSource, Sources
from rbdgen.emit.render import render
from rbdgen.errors import OptionError, either
from rbdgen.frameworks.functions import More
from rbdgen.functions.composition import Composition
from rbdgen.gpu.device import native_architecture
from rbdgen.gpu.library import KernelLibrary, library_of
from rbdgen.graph.bounds.found import Bounds
from rbdgen.machine import available_cores
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.bounded import bounded, check_ranges, with_bounds
from rbdgen.pipeline.compilation import compiler_flags, style, target_of, toolchain_of
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.design_cache import cached_design
from rbdgen.pipeline.emitted import check_emitted
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.flash import fitted, flash_bytes, smaller_forms
from rbdgen.pipeline.progress import Compiling, Progress, silent
from rbdgen.pipeline.rebuild import open_built
from rbdgen.pipeline.request import Request
from rbdgen.pipeline.written import Generated, written
from rbdgen.runtime import Library
from rbdgen.toolchain.cache import Cache, user_cache
from rbdgen.toolchain.module import built
from rbdgen.toolchain.nvrtc import SHARED, architectures, check_architectures, with_cubins
from rbdgen.toolchain.watch import Watch
from rbdgen.wording import option

Later = Callable[[], AbstractContextManager[Progress]]
"""Makes the progress of a task that begins later."""


def design(request: Request, progress: Progress = silent) -> Sources:
    """Designs the functions, fits them into flash if asked, and returns the files of the folder as text."""
    check_ranges(request, request.options.ranges)
    functions = design_functions(request, progress)
    if request.options.budget_flash is not None:
        functions = fitted(
            functions,
            lambda: smaller_forms(request, progress),
            request.options.budget_flash,
            lambda tried: flash_bytes(emit(request, tried), request, progress),
        )
    return emit(request, with_bounds(request, functions))


def designed(request: Request, store: Cache, progress: Progress = silent) -> Sources:
    """Designs, or takes the design from the cache if the same robot was designed with the same options
    before.
    """
    return cached_design(request, store, lambda: design(request, progress), progress)


def emit(request: Request, functions: Sequence[FunctionSource]) -> Sources:
    """The files of the generated folder as text."""
    return render(facts_of(request), functions, style(request.options, package=request.package))


def build_library(
    robot: Robot,
    options: Options,
    progress: Progress = silent,
    later: Later = lambda: nullcontext(silent),
    own: tuple[Composition, ...] = (),
) -> Library:
    """Designs, compiles and opens the functions; both steps use the cache.

    `later` shows the progress of derivatives that are built when CasADi, JAX or PyTorch needs them. `own` are
    the user's own functions that `options` may name.
    """
    if not target_of(options).runs_here:
        raise OptionError(
            f"{option('target', options.target)}: its code does not run on this machine; take "
            f"{option('target', 'host')}, or write a folder for it with "
            f"{either('rbdgen.generate', 'rbdgen ROBOT')}"
        )
    return _library(Request(robot, options, own=own), progress, later)


def _library(request: Request, progress: Progress, later: Later) -> Library:
    store = user_cache()

    def library(functions: Sequence[str]) -> Library:
        with later() as told:
            return _library(request.for_frameworks(functions), told, later)

    def sources(functions: Sequence[str]) -> Sources:
        with later() as told:
            return designed(request.for_frameworks(functions, packed=False), store, told)

    def bounds(name: str, given: Mapping[str, object], tighten: object) -> Bounds:
        with later() as told:
            (found,) = bounded(request.only(name), given, tighten, told)
            return found

    @contextmanager
    def watched() -> Iterator[Watch]:
        with later() as told:
            yield Compiling(told)

    found, toolchain = designed(request, store, progress), toolchain_of(request.options)
    with built(found, toolchain, store, Compiling(progress)) as folder:
        return open_built(folder, More(library, sources, watched, request.robot.show, bounds))


def build_kernels(
    robot: Robot, options: Options, progress: Progress = silent, own: tuple[Composition, ...] = ()
) -> KernelLibrary:
    """Designs the functions and compiles their kernels, for the GPU of this machine or for those of `arch`.

    Both steps use the cache. No GPU is needed until a function is called.
    """
    if options.arch == "native" and (found := native_architecture(list(SHARED))) is not None:
        options = replace(options, arch=found)
    compiler_flags(options)  # refuses contradictory options before the work starts
    check_emitted(options, target_of(options))
    archs = architectures(options.arch)
    check_architectures(archs)
    store = user_cache()
    sources = designed(Request(robot, options, package=False, own=own), store, progress)
    files = with_cubins(sources, archs, store, available_cores(), Compiling(progress))
    cubins = {file: data for file, data in files.items() if isinstance(data, bytes)}
    return library_of(sources.name, json.loads(files[MANIFEST]), cubins.__getitem__)


def generate(
    robot: Robot,
    options: Options,
    out: Path,
    *,
    compiled: bool = True,
    progress: Progress = silent,
    own: tuple[Composition, ...] = (),
) -> Generated:
    """Writes the folder `out/<name>`: C, and for the host a Python package, which needs nothing of rbdgen.

    If `compiled`, the package is compiled. For other targets the folder has no package; `compiled` makes the
    module of WebAssembly, or measures flash and stack for a small machine.
    """
    request = Request(robot, options, package=target_of(options).at_home, own=own)
    return written(
        lambda store: designed(request, store, progress), options, out, compiled=compiled, progress=progress
    )
