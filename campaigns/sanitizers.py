"""Emitted C under the sanitizers of gcc and clang, with strict warnings and under valgrind.

For every form of every function of some robots, in double and in float, the emitted self-test and that of the
batches must pass. The glue between Python and C runs in a Python that loads the sanitizer first.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from support import synthetic
from support.robots import PATHS

from campaigns.guard import PYTHON, Case, tallied
from campaigns.tally import Tally
from rbdgen.functions.table import TABLE, lookup
from rbdgen.machine import REALS, Real
from rbdgen.model.build import Base
from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.robot import load_robot

ROBOTS: tuple[tuple[str, Base], ...] = (
    ("double_pendulum", "fixed"),
    ("tree", "floating"),
    ("arm7", "fixed"),
    ("quadruped12", "floating"),
)
"""The robots, in the order in which larger campaigns include them; the tree has four bodies."""

ROOT = (
    '<link name="root"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="4"/>'
    '<inertia ixx="1" ixy="0.1" ixz="0.2" iyy="1.2" iyz="0.1" izz="0.9"/></inertial></link>'
)

FORMS = max(len(function.forms) for function in TABLE.values())

WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-Wno-psabi")
"""The flags of warnings; -Wno-psabi allows vectors wider than registers, which are passed in memory."""

SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
"""The flags of the sanitizers, without -g, whose tables for a long straight line take ten times the time and
memory.
"""

EXACT = ("-std=c99", "-O1", "-ffp-contract=off")

KINDS = ("self-tests of single calls", "self-tests of batches", "the glue in Python", "valgrind")

COMPILERS = tuple(name for name in ("gcc", "clang") if shutil.which(name))

GLUE_DRIVER = Path(__file__).with_name("glue.py")


FOLDERS = [(name, base, real, form) for name, base in ROBOTS for real in REALS for form in range(FORMS)]

OF_A_FOLDER = 7
"""The number of cases for each generated folder."""

SIZE = 300
SMALL = 1
OF_A_SMALL_ONE = ("rnea", "minv")
"""The functions of a campaign that is too small for all cases of a folder."""


def run(seed: int, size: int) -> Tally:
    """Runs about `size` cases, of small robots first: 300 include all forms of three robots, and 400 those of
    the quadruped.
    """
    return tallied(_cases(seed, size))


def _cases(seed: int, size: int) -> Iterator[Case]:
    whole = size >= OF_A_FOLDER
    folders = FOLDERS[: size // OF_A_FOLDER] if whole else [FOLDERS[seed % FORMS]]
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        for folder in folders:
            yield from _of_one_folder(Path(scratch), *folder, whole)
        yield Case("calls.c, binding.c, threads.c in Python", partial(_glue, Path(scratch), whole))


def _of_one_folder(
    scratch: Path, name: str, base: Base, real: Real, form: int, whole: bool
) -> Iterator[Case]:
    """Yields the cases of a folder in which every function that has a form of this number is in this form.

    If not `whole`, the folder has a few functions and is compiled by one compiler.
    """
    rows = TABLE.values() if whole else map(lookup, OF_A_SMALL_ONE)
    variants = {row.name: row.forms[form].name for row in rows if form < len(row.forms)}
    label = f"{name}_{real}_{form}"
    folder = scratch / label
    yield Case(f"{label}: generate", partial(_generated, scratch, folder, name, base, real, variants))
    for compiler in COMPILERS if whole else COMPILERS[:1]:
        for program in ("selftest", "batch_selftest"):
            yield Case(
                f"{label}: {program}, {compiler}", partial(_sanitized, folder, program, compiler, SANITIZERS)
            )
    if whole and "looped" in variants.values() and shutil.which("valgrind"):
        yield Case(f"{label}: valgrind", partial(_valgrind, folder))
    if whole:
        yield Case(f"{label}: remove", partial(_removed, folder))


def _generated(
    scratch: Path, folder: Path, name: str, base: Base, real: Real, variants: dict[str, str]
) -> None:
    path = PATHS.get(name, scratch / f"{name}.urdf")
    if name not in PATHS:
        tree = synthetic.urdf([-1, 0, 0, 2], seed=3)
        path.write_text(tree.replace('<link name="root"/>', ROOT), encoding="utf-8")
    options = Options(
        functions=tuple(variants), variants=variants, real=real, name=folder.name, target="host"
    )
    generate(load_robot(path, base), options, folder.parent, compiled=False)


def _removed(folder: Path) -> None:
    shutil.rmtree(folder)


def _program(folder: Path, program: str, command: list[str]) -> str | None:
    """Compiles a self-test to `folder/selftest/program`; returns the compiler's errors, or None."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    sources = [facts["source"] for facts in manifest["functions"].values()]
    if program == "batch_selftest":
        sources += [twin for s in sources if (folder / (twin := f"{s[:-2]}_batch.c")).is_file()]
    own = f"selftest/{folder.name}_{program}.c"
    if not (folder / own).is_file():
        return None
    done = subprocess.run(
        [*command, *EXACT, *WARNINGS, "-o", f"selftest/{program}", *sources, own, "-lm"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in done.stderr.splitlines() if "error" in line or "warning" in line]
    return None if done.returncode == 0 else f"does not compile: {(told or ['no message'])[0][:300]}"


def _sanitized(folder: Path, program: str, compiler: str, flags: tuple[str, ...]) -> str | None:
    problem = _program(folder, program, [compiler, *flags])
    if problem is not None or not (folder / "selftest" / program).is_file():
        return problem
    return _ended([f"selftest/{program}"], folder)


def _valgrind(folder: Path) -> str | None:
    problem = _program(folder, "selftest", ["gcc"])
    command = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "selftest/selftest"]
    return problem or _ended(command, folder)


def _ended(command: list[str], folder: Path, **environment: str) -> str | None:
    """The error that a program reports, or None."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode == 0 and not done.stderr.strip():
        return None
    lines = [
        line.strip()
        for line in (done.stdout + done.stderr).splitlines()
        if "FAILED" in line or "rror" in line or "==" in line
    ]
    return f"status {done.returncode}: {(lines or [done.stderr[:200]])[0][:300]}"


def _glue(scratch: Path, whole: bool) -> str | None:
    """Compiles the code between Python and the functions with the sanitizers, and runs `glue.py`."""
    library = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    wrapper = scratch / "gcc"
    wrapper.write_text(
        f'#!/bin/sh\nexec /usr/bin/env -u LD_PRELOAD gcc "$@" {" ".join(SANITIZERS)}\n', encoding="utf-8"
    )
    wrapper.chmod(0o755)
    return _ended(
        [PYTHON, str(GLUE_DRIVER), str(PATHS["double_pendulum"]), *(REALS if whole else REALS[:1])],
        scratch,
        CC=str(wrapper),
        RBDGEN_CACHE=str(scratch / "sanitized"),
        LD_PRELOAD=library,
        ASAN_OPTIONS="detect_leaks=0,abort_on_error=0",
        PYTHONMALLOC="malloc",
    )
