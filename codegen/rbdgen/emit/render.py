"""All files of a generated folder as texts. Each backend prints its own files; nothing is written to disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from rbdgen.emit.batch.files import files as batch_files
from rbdgen.emit.c.files import files as c_files
from rbdgen.emit.casadi.files import files as casadi_files
from rbdgen.emit.folder import Folder, folder_of
from rbdgen.emit.manifest import manifest_text
from rbdgen.emit.package import MANIFEST, EmitOptions, FunctionSource, RobotFacts, Sources
from rbdgen.emit.project.files import files as project_files
from rbdgen.emit.python.files import files as python_files
from rbdgen.emit.readme.files import files as readme_files
from rbdgen.emit.selftest.golden import Golden

Backend: TypeAlias = Callable[[Folder], Mapping[str, str]]
"""A function from the description of a folder to files by path; it returns none if the folder needs none."""

BACKENDS: Final[tuple[Backend, ...]] = (
    c_files,
    batch_files,
    casadi_files,
    project_files,
    python_files,
    readme_files,
)
"""The backends of a folder, in this order.

To add a language, add a folder in `emit`, a folder in `templates` and a line here.
"""


def render(
    facts: RobotFacts,
    functions: Sequence[FunctionSource],
    options: EmitOptions | None = None,
    golden: Mapping[str, Golden] | None = None,
) -> Sources:
    """Print the whole folder; the manifest, which lists all files, comes last.

    Args:
        facts: what the files say of the robot.
        functions: the functions, in the order in which they are listed.
        options: precision, trigonometry and style.
        golden: the golden vectors of every function; they are computed if not given.

    Raises:
        EmitError: a name, a number or a graph cannot be printed, there is no function, or one occurs twice.
    """
    folder = folder_of(facts, functions, options or EmitOptions(), golden)
    files: dict[str, str] = {}
    for backend in BACKENDS:
        files |= backend(folder)
    files[MANIFEST] = manifest_text(folder, files)
    return Sources(folder.name, files)
