"""The functions of a folder as one ES module in JavaScript, for machines without clang."""

from __future__ import annotations

from rbdgen.emit.es_module import es_module
from rbdgen.emit.folder import Folder
from rbdgen.emit.javascript.functions import functions_text
from rbdgen.emit.text import copied, filled

HOW = "Everything is JavaScript. With the target wasm32, the same functions are WebAssembly and faster."


def files(folder: Folder) -> dict[str, str]:
    """The module and its types, by path. They are in a folder of their own, beside other modules."""
    symbols = [function.shown.symbol for function in folder.functions]
    engine = filled("javascript/engine.mjs.jinja", symbols=symbols)
    made = es_module(
        folder,
        how=HOW,
        engine=f"{functions_text(folder)}\n{engine}",
        loading=copied("javascript/loading.d.mts"),
    )
    return {f"javascript/{file}": text for file, text in made.items()}
