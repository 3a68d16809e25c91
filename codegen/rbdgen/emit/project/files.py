"""Files by which a C or C++ project uses the folder."""

from __future__ import annotations

import re

from rbdgen.emit.c.headers import batch_headers, headers
from rbdgen.emit.folder import Folder
from rbdgen.emit.text import filled


def files(folder: Folder) -> dict[str, str]:
    """A header for C++ and the build files of make and CMake, by path."""
    context = {
        "robot": folder.robot,
        "functions": folder.shown,
        "batch_functions": folder.shown_batches,
        "public": [f"{folder.name}.h", f"{folder.name}.hpp", *_further(folder)],
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


def _further(folder: Folder) -> list[str]:
    """The C headers of requested backends that lie beside that of the functions."""
    return [file for beside in folder.beside for file in beside.files if re.fullmatch(r"\w+\.h", file)]


def release_of(version: str) -> str:
    """The numbers at the beginning of a version, which are a version for CMake: 0.2.0 of 0.2.0rc1."""
    found = re.match(r"\d+(?:\.\d+){0,3}", version, re.ASCII)
    return found[0] if found else "0"
