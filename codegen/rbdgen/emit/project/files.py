"""Files by which a C or C++ project uses the folder."""

from __future__ import annotations

import re

from rbdgen.emit.c.headers import batch_headers, headers
from rbdgen.emit.folder import Folder
from rbdgen.emit.text import copied, filled


def files(folder: Folder) -> dict[str, str]:
    """A header for C++, build files of make and CMake, and the record of deviations from MISRA C, by path.

    Code with extensions of compilers has no such record.
    """
    context = {
        "robot": folder.robot,
        "functions": folder.shown,
        "batch_functions": folder.shown_batches,
        "public": [f"{folder.name}.h", f"{folder.name}.hpp", *_batches(folder), *_further(folder)],
        "headers": headers(folder),
        "batch_headers": batch_headers(folder),
        "libraries": [beside for beside in folder.beside if beside.library],
        "prefix": folder.options.prefix,
        "esp_idf": any(beside.name == "esp-idf" for beside in folder.beside),
        "flags": " ".join(folder.options.flags),
        "module": folder.options.module,
        "boards": folder.options.boards,
    }
    made = {
        f"{folder.name}.hpp": filled("project/ROBOT.hpp.jinja", **context),
        "Makefile": filled("project/Makefile.jinja", **context),
        "CMakeLists.txt": filled("project/CMakeLists.txt.jinja", **context),
    }
    if not (folder.options.extensions or folder.options.module):
        made["MISRA.md"] = copied("project/MISRA.md")
    if folder.options.boards:
        startups = sorted({f"{board.startup}.c" for board in folder.options.boards})
        for file in ("board.c", "board.ld", "report.h", "semihosting.h", *startups):
            made[f"selftest/board/{file}"] = copied(f"board/{file}")
    return made


def _batches(folder: Folder) -> list[str]:
    """The header of the batch functions, if there are any."""
    return [f"{folder.name}_batch.h"] if folder.batches else []


def _further(folder: Folder) -> list[str]:
    """The C headers of requested backends that lie beside that of the functions."""
    return [file for beside in folder.beside for file in beside.files if re.fullmatch(r"\w+\.h", file)]
