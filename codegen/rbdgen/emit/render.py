"""All files of a generated folder as texts. Each backend prints its own files; nothing is written to disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rbdgen.emit.backends import BACKENDS, ON_REQUEST, Backend, asked_for
from rbdgen.emit.folder import Beside, folder_of
from rbdgen.emit.manifest import manifest_text
from rbdgen.emit.package import MANIFEST, EmitOptions, FunctionSource, RobotFacts, Sources
from rbdgen.emit.selftest.golden import Golden


def render(
    facts: RobotFacts,
    functions: Sequence[FunctionSource],
    options: EmitOptions | None = None,
    golden: Mapping[str, Golden] | None = None,
) -> Sources:
    """Prints the whole folder; the manifest, which lists all files, comes last.

    Args:
        facts: the facts of the robot that the files state.
        functions: the functions, in the order in which they are listed.
        options: precision, trigonometry and style.
        golden: the golden vectors of every function; they are computed if not given.

    Raises:
        EmitError: a name, a number or a graph cannot be printed, there is no function, or one occurs twice.
    """
    options = options or EmitOptions()
    folder = folder_of(facts, functions, options, golden)
    asked = {name: ON_REQUEST[name].files(folder) for name in dict(asked_for(options.emit))}
    folder = replace(
        folder, beside=tuple(_beside(folder.name, ON_REQUEST[name], asked[name]) for name in asked)
    )
    files: dict[str, str] = {}
    for backend in BACKENDS:
        files |= asked.get(backend.name, {}) if backend.asked else backend.files(folder)
    files[MANIFEST] = manifest_text(folder, files)
    return Sources(folder.name, files)


def _beside(robot: str, backend: Backend, files: Mapping[str, str]) -> Beside:
    return Beside(backend.name, backend.library_of(robot), backend.loaded_by, tuple(files))
