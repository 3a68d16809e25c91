"""The ES module that loads a folder's WebAssembly, and the header with which clang compiles it."""

from __future__ import annotations

from rbdgen.emit.es_module import es_module
from rbdgen.emit.folder import Folder
from rbdgen.emit.text import copied, filled

HOW = "It loads {}.wasm, which is beside it and has the functions of the C."


def files(folder: Folder) -> dict[str, str]:
    """The files by path; none if the folder does not become a WebAssembly module."""
    if folder.options.module is None:
        return {}
    made = es_module(
        folder,
        how=HOW.format(folder.name),
        engine=filled("webassembly/engine.mjs.jinja", name=folder.name),
        loading=copied("webassembly/loading.d.mts"),
    )
    return {**made, "webassembly/math.h": copied("webassembly/math.h")}
