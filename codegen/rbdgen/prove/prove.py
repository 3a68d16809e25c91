"""Proves the functions of a generated folder, and writes the result into the folder."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from rbdgen.emit.names import check_identifier, check_robot_name
from rbdgen.emit.package import MANIFEST
from rbdgen.emit.text import filled
from rbdgen.emit.write import write_file
from rbdgen.errors import EmitError, LoadError, OptionError
from rbdgen.functions.composition import Composition
from rbdgen.machine import available_cores
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.progress import Progress, Stage, silent
from rbdgen.prove.eva import OPTIONS, FramaC, Report, find_frama_c
from rbdgen.prove.harness import RANGE, harness
from rbdgen.runtime.manifest import read_manifest
from rbdgen.toolchain.targets import target_named
from rbdgen.wording import choose, option

PAGE: Final = "README.md"

PROGRAM: Final = "harness.c"

_HEADING: Final = "\n## Proof\n"


@dataclass(frozen=True)
class Proof:
    """The result of the analysis of one function."""

    function: str
    alarms: int
    kinds: tuple[str, ...]
    """The kinds of alarms with their counts; empty if there is none."""
    reached: int
    statements: int
    finite: bool
    """Whether no intermediate result is infinite or NaN for inputs in the range."""

    @property
    def proved(self) -> bool:
        """Whether there is no undefined behaviour, in all statements."""
        return self.alarms == 0 and self.reached == self.statements

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "kinds": list(self.kinds), "proved": self.proved}


def prove(folder: Path, functions: Sequence[str] | None = None, progress: Progress = silent) -> list[Proof]:
    """Proves the functions of a folder, and writes the result to its manifest and README.

    Args:
        folder: a generated folder without compiler extensions, such as one with `--target portable`.
        functions: the names of the functions; None for all.
        progress: reports every function.

    Raises:
        LoadError: it is no generated folder.
        OptionError: the code has extensions, or a function is unknown.
        BuildError: Frama-C is missing, too old, or refuses the sources.
    """
    tool = find_frama_c()
    proofs = _proofs(folder, functions, tool, progress)
    _write(folder, tool, proofs)
    return proofs


def prove_robot(
    robot: Robot, options: Options, progress: Progress = silent, own: tuple[Composition, ...] = ()
) -> list[Proof]:
    """Proves the functions of the folder that would be generated; nothing of it is kept.

    The code for this machine, which has vectors, is replaced by that for `--target portable`.
    """
    tool = find_frama_c()
    if target_named(options.target).extensions:
        options = replace(options, target="portable")
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as scratch:
        made = generate(robot, options, Path(scratch), compiled=False, progress=progress, own=own)
        return _proofs(made.folder, None, tool, progress)


def _proofs(folder: Path, chosen: Sequence[str] | None, tool: FramaC, progress: Progress) -> list[Proof]:
    manifest = read_manifest(folder)
    functions = manifest.get("functions")
    if not isinstance(functions, dict) or not isinstance(manifest.get("target"), str):
        raise LoadError(_damaged(folder, "it has no functions or no target"))
    if target_named(manifest["target"]).extensions:
        raise OptionError(
            f"{folder}: its code has vectors, which Frama-C does not read; generate it with "
            f"{option('target', 'portable')}"
        )
    names = list(functions) if chosen is None else list(chosen)
    for name in names:
        if name not in functions:
            raise OptionError(f"{folder} has no function '{name}'; {choose(name, functions)}")
    stage = Stage(progress, "proving", len(names))

    def proof(name: str) -> Proof:
        stage.begins(name)
        found = _proof(folder, name, manifest, tool)
        stage.ends(name, f"proved {name}" if found.proved else f"did not prove {name}")
        return found

    with ThreadPoolExecutor(available_cores()) as pool:
        return list(pool.map(proof, names))


def _proof(folder: Path, name: str, manifest: dict[str, Any], tool: FramaC) -> Proof:
    """The proof of one function: that results are finite too, or else the other properties alone.

    Finiteness is not tried for a function that divides: its denominators depend on the state, and their
    ranges contain 0, so that the analysis would follow an alarm in every later statement, ten times as long.
    """
    facts = manifest["functions"][name]
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as made:
        scratch = Path(made)
        try:
            text = harness(f"{check_robot_name(manifest['name'])}.h", facts, manifest["real"])
            divides = facts["operations"]["div"] > 0
            source = f"{check_identifier(facts['source'].removesuffix('.c'))}.c"
            for file in (folder / source, *folder.glob("*.h")):
                shutil.copyfile(file, scratch / file.name)
        except (EmitError, LookupError, TypeError, AttributeError) as error:
            raise LoadError(_damaged(folder, error)) from error
        except OSError as error:
            raise LoadError(f"{error.filename}: {error.strerror}; generate the folder again") from error
        (scratch / PROGRAM).write_text(text, encoding="utf-8")

        def report(*, finite: bool) -> Report:
            return tool.analyse(scratch, [PROGRAM, source], finite=finite)

        found = report(finite=not divides)
        finite = not divides and found.alarms == 0
        found = found if finite or divides else report(finite=False)
    return Proof(name, found.alarms, found.kinds, found.reached, found.statements, finite)


def _damaged(folder: Path, why: object) -> str:
    return f"{folder / MANIFEST}: not as rbdgen wrote it ({why}); generate the folder again"


def _write(folder: Path, tool: FramaC, proofs: Iterable[Proof]) -> None:
    """Adds the result to the manifest and to the README, in place of an earlier one."""
    manifest = read_manifest(folder)
    rows = {proof.function: proof.as_json() for proof in proofs}
    manifest["proof"] = {
        "tool": "Frama-C/Eva",
        "version": tool.version,
        "options": list(OPTIONS),
        "inputs": list(RANGE),
        "functions": rows,
    }
    page = filled("readme/PROOF.md.jinja", version=tool.version, inputs=RANGE, rows=list(rows.values()))
    readme = folder / PAGE
    try:
        before = readme.read_text(encoding="utf-8").partition(_HEADING)[0]
    except (OSError, ValueError) as error:
        raise LoadError(f"{readme}: cannot be read ({error}); generate the folder again") from error
    write_file(readme, before + page)
    write_file(folder / MANIFEST, json.dumps(manifest, indent=1, allow_nan=False) + "\n")
