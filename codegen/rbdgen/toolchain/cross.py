"""Compiles a generated folder for a microcontroller, measures its figures (flash, stack and instructions),
and checks the guarantees of `figures.guarantees`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, Final

from rbdgen.emit.package import MANIFEST, Sources
from rbdgen.emit.readme.files import figures_page
from rbdgen.errors import BuildError
from rbdgen.figures.code import Figures, figures
from rbdgen.figures.guarantees import TRIGONOMETRY, violations
from rbdgen.toolchain.compiler import Compilation, Compiler, compile_all, find_compiler, reason_of
from rbdgen.toolchain.targets import Target
from rbdgen.toolchain.watch import FunctionsWatched, Watch

DEBUGGED: Final = "-O0"
"""The flag of a build for debugging: its flash and stack are reported beside those of the target's flags."""

CROSS_FLAGS: Final = ("-std=c99", "-fstack-usage", "-ffunction-sections", "-fdata-sections")
"""Flags that the measurement of figures needs, in addition to those of the target."""


def cross_compiler(target: Target) -> Compiler | None:
    """The target's compiler; None if it is not installed."""
    command = f"{target.prefix}gcc"
    return None if shutil.which(command) is None else find_compiler(command)


def refused_headers(sources: Sources, compiler: Compiler, flags: tuple[str, ...]) -> str | None:
    """The compiler's error about the headers that functions include; None if it has all of them.

    A compiler without a C library only has the headers of C's freestanding subset.
    """
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as name:
        folder = Path(name)
        _write_c(sources, folder)
        included = "".join(f'#include "{source}"\n' for _, source in sources.c_sources())
        (folder / "all.c").write_text(included, encoding="utf-8")
        command = [*compiler.command, "-std=c99", *flags, "-E", "all.c", "-o", "all.i"]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", check=False, stdin=DEVNULL
        )
    return None if done.returncode == 0 else reason_of(done.stderr)


def _write_c(sources: Sources, folder: Path) -> None:
    for file, text in sources.files.items():
        if file.endswith((".c", ".h")) and "/" not in file:
            (folder / file).write_text(text, encoding="utf-8")


def with_figures(
    sources: Sources,
    target: Target,
    compiler: Compiler,
    flags: tuple[str, ...],
    jobs: int = 1,
    watch: Watch | None = None,
) -> Sources:
    """The folder with the figures of every function in its manifest and on its page. Objects are not kept.

    Raises:
        BuildError: the compiler refuses a source, or a function violates a guarantee or does not fit the
            target.
    """
    manifest = sources.manifest
    functions: dict[str, dict[str, Any]] = manifest["functions"]
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as name:
        folder = Path(name)
        _write_c(sources, folder)
        every_flag = (*CROSS_FLAGS, *flags)
        compilations = [
            Compilation(facts["source"], f"{function}.o", every_flag) for function, facts in functions.items()
        ]
        watched = FunctionsWatched(watch or Watch(), {f"{function}.o": function for function in functions})
        seconds = compile_all(compiler, compilations, folder, jobs, watched)
        debugged = [Compilation(x.source, f"debugged_{x.target}", (*x.flags, DEBUGGED)) for x in compilations]
        compile_all(compiler, debugged, folder, jobs)
        for function, facts in functions.items():
            code = figures(folder / f"{function}.o", target.prefix)
            facts.update(_facts(function, facts, code, target, manifest))
            facts["debugged"] = _size(
                facts["symbol"], figures(folder / f"debugged_{function}.o", target.prefix)
            )
            facts["seconds"] = round(seconds[facts["source"]], 3)
    manifest["build"] = {
        "compiler": compiler.family,
        "version": compiler.version,
        "flags": list(every_flag),
    }
    page = figures_page(target.name, f"{compiler.command[0]} {compiler.version}", " ".join(flags), functions)
    files = {**sources.files, "README.md": sources.files["README.md"] + page}
    files[MANIFEST] = json.dumps(manifest, indent=1, allow_nan=False) + "\n"
    return replace(sources, files=files)


def _facts(
    function: str, facts: Mapping[str, Any], code: Figures, target: Target, manifest: Mapping[str, Any]
) -> Mapping[str, Any]:
    symbol, loops = facts["symbol"], facts.get("loops", [])
    allowed = TRIGONOMETRY if manifest["trig"] == "libm" else frozenset()
    broken = violations(code, allowed, {symbol: len(loops)})
    if broken:
        raise BuildError(f"{function} on {target.name}: {broken[0]}; report the generated file")
    size = _size(symbol, code)
    numbers = sum(prod(array["shape"]) for array in (*facts["inputs"], *facts["outputs"]))
    target.check_fits(
        function,
        size["object_bytes"],
        size["stack_bytes"],
        numbers * {"float": 4, "double": 8}[manifest["real"]],
    )
    return {
        **size,
        "instructions": code.instructions(symbol, loops),
        "outside": sorted(code.outside(symbol)),
    }


def _size(symbol: str, code: Figures) -> dict[str, int]:
    """The bytes of flash and of stack of a function, with all functions that it calls."""
    return {"object_bytes": code.flash(symbol), "stack_bytes": code.stack(symbol)}
