"""Writes a designed folder to disk: compiled for the host or to WebAssembly, measured for a small machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rbdgen.emit.package import MANIFEST, Sources
from rbdgen.emit.write import check_path, write_folder
from rbdgen.machine import available_cores
from rbdgen.options import Options
from rbdgen.pipeline.compilation import (
    check_measurable,
    compiler_flags,
    measured,
    module_tools,
    target_of,
    toolchain_of,
    unmeasurable,
)
from rbdgen.pipeline.emitted import check_emitted, with_libraries
from rbdgen.pipeline.progress import Compiling, Progress, Report, silent
from rbdgen.toolchain.cache import Cache, user_cache
from rbdgen.toolchain.module import built, package_files
from rbdgen.toolchain.nvrtc import architectures, check_architectures, missing, with_cubins
from rbdgen.toolchain.webassembly import linked, with_module


@dataclass(frozen=True)
class Generated:
    """The folder that was written, and its manifest."""

    folder: Path
    manifest: dict[str, Any]


def written(
    design: Callable[[Cache], Sources],
    options: Options,
    out: Path,
    *,
    compiled: bool,
    progress: Progress = silent,
) -> Generated:
    """Writes the sources that `design` returns: compiled for the host or to WebAssembly, measured for a small
    machine.
    """
    check_path(out)
    compiler_flags(options)  # refuses contradictory options before the work starts
    target = target_of(options)
    check_emitted(options, target)
    check_measurable(options, target, compiled=compiled)
    tools = module_tools() if compiled and target.module else None
    store = user_cache()
    reason = missing() if compiled and target.kernels else None
    if compiled and target.kernels and reason is None:
        check_architectures(architectures(options.arch))
    sources = design(store)
    folder = out / sources.name
    if tools is not None:
        module = linked(sources, tools, store, available_cores(), Compiling(progress))
        made = with_module(sources, module, tools)
        write_folder(folder, made)
        return Generated(folder, json.loads(made[MANIFEST]))
    if compiled and target.kernels:
        archs = architectures(options.arch)
        if reason is None:
            compiled_files = with_cubins(sources, archs, store, available_cores(), Compiling(progress))
            write_folder(folder, compiled_files)
            return Generated(folder, json.loads(compiled_files[MANIFEST]))
        progress(Report(f"wrote no machine code: {reason}"))
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
    files = with_libraries(files, sources, toolchain, store)
    write_folder(folder, files)
    return Generated(folder, json.loads(files[MANIFEST]))
