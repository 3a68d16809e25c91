"""The module of Julia."""

from __future__ import annotations

from typing import Final

from rbdgen.emit.folder import Folder
from rbdgen.emit.foreign import foreign_functions
from rbdgen.emit.text import filled

RESERVED: Final = frozenset(
    """
    abstract baremodule begin break catch const continue do else elseif end export false finally for
    function global if import in isa let local macro module mutable primitive public quote return struct
    true try type using where while ccall library argument result rows NQ NV NBODIES
    """.split()  # noqa: SIM905  (a list would take a screen)
)
"""The words that Julia reserves, and the names that the module has for itself."""

NUMBERS: Final = {"double": "Float64", "float": "Float32"}


def files(folder: Folder) -> dict[str, str]:
    """The module, by path."""
    text = filled(
        "julia/ROBOT.jl.jinja",
        robot=folder.robot,
        functions=foreign_functions(folder, RESERVED),
        number=NUMBERS[folder.options.real],
    )
    return {f"julia/{folder.name}.jl": text}
