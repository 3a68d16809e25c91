"""A generated folder compiled for a microcontroller, with its figures and its promises checked."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any, Final

from rbdgen.emit.package import MANIFEST, Sources
from rbdgen.emit.readme.files import figures_page
from rbdgen.errors import BuildError
from rbdgen.figures.code import Figures, figures
from rbdgen.figures.guarantees import TRIGONOMETRY, violations
from rbdgen.toolchain.compiler import Compilation, Compiler, compile_all, find_compiler
from rbdgen.toolchain.targets import Target

CROSS_FLAGS: Final = ("-std=c99", "-fstack-usage", "-ffunction-sections", "-fdata-sections")
"""Flags that figures need, beside those of the target."""

Progress = Callable[[str, float], None]


def cross_compiler(target: Target) -> Compiler | None:
    """The target's compiler; None if it is not installed."""
    command = f"{target.prefix}gcc"
    return None if shutil.which(command) is None else find_compiler(command)


def with_figures(
    sources: Sources,
    target: Target,
    compiler: Compiler,
    flags: tuple[str, ...],
    jobs: int = 1,
    progress: Progress | None = None,
) -> Sources:
    """The folder with the figures of every function in its manifest and on its page. Objects are not kept.

    Raises:
        BuildError: the compiler refuses a source, a promise is broken, or a function does not fit the target.
    """
    manifest = sources.manifest
    functions: dict[str, dict[str, Any]] = manifest["functions"]
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as name:
        folder = Path(name)
        for file, text in sources.files.items():
            if file.endswith((".c", ".h")) and "/" not in file:
                (folder / file).write_text(text, encoding="utf-8")
        every_flag = (*CROSS_FLAGS, *flags)
        compilations = [
            Compilation(facts["source"], f"{function}.o", every_flag) for function, facts in functions.items()
        ]
        names = {facts["source"]: function for function, facts in functions.items()}
        report = None if progress is None else lambda source, taken: progress(names[source], taken)
        seconds = compile_all(compiler, compilations, folder, jobs, report)
        for function, facts in functions.items():
            code = figures(folder / f"{function}.o", target.prefix)
            facts.update(_facts(function, facts, code, target, manifest))
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
    flash, stack = code.flash(symbol), code.stack(symbol)
    numbers = sum(prod(array["shape"]) for array in (*facts["inputs"], *facts["outputs"]))
    target.check_fits(function, flash, stack, numbers * {"float": 4, "double": 8}[manifest["real"]])
    return {
        "object_bytes": flash,
        "stack_bytes": stack,
        "instructions": code.instructions(symbol, loops),
        "outside": sorted(code.outside(symbol)),
    }
