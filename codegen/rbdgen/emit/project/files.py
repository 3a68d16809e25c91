"""Files by which a C or C++ project uses the folder."""

from __future__ import annotations

from rbdgen.emit.c.headers import batch_headers, headers
from rbdgen.emit.folder import Folder
from rbdgen.emit.text import filled, release_of


def files(folder: Folder) -> dict[str, str]:
    """A header for C++ and the build files of make and CMake, by path."""
    context = {
        "robot": folder.robot,
        "functions": folder.shown,
        "batch_functions": folder.shown_batches,
        "headers": headers(folder),
        "batch_headers": batch_headers(folder),
        "libraries": [beside for beside in folder.beside if beside.library],
        "prefix": folder.options.prefix,
        "release": release_of(folder.robot.version),
        "flags": " ".join(folder.options.flags),
        "module": folder.options.module,
    }
    return {
        f"{folder.name}.hpp": filled("project/ROBOT.hpp.jinja", **context),
        "Makefile": filled("project/Makefile.jinja", **context),
        "CMakeLists.txt": filled("project/CMakeLists.txt.jinja", **context),
    }
