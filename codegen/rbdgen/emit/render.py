"""All files of a generated folder as texts: every backend prints its own; nothing is written to disk."""

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
"""From the description of a folder to files by path; none where a folder does without them."""

BACKENDS: Final[tuple[Backend, ...]] = (
    c_files,
    batch_files,
    casadi_files,
    project_files,
    python_files,
    readme_files,
)
"""What a folder is made of, in this order.

Another language is a folder in `emit`, a folder in `templates` and a line here.
"""


def render(
    facts: RobotFacts,
    functions: Sequence[FunctionSource],
    options: EmitOptions | None = None,
    golden: Mapping[str, Golden] | None = None,
) -> Sources:
    """The whole folder; the manifest, which lists all files, is the last.

    Args:
        facts: what to say of the robot.
        functions: in the order in which they shall be listed.
        options: precision, trigonometry, style.
        golden: for every function its golden vectors; computed where not given.

    Raises:
        EmitError: a name, a number or a graph that cannot be printed; no function; a function twice.
    """
    folder = folder_of(facts, functions, options or EmitOptions(), golden)
    files: dict[str, str] = {}
    for backend in BACKENDS:
        files |= backend(folder)
    files[MANIFEST] = manifest_text(folder, files)
    return Sources(folder.name, files)
