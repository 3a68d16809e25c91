"""The script of MATLAB."""

from __future__ import annotations

from typing import Final

from rbdgen.emit.folder import Folder
from rbdgen.emit.foreign import ForeignFunction, foreign_functions
from rbdgen.emit.text import filled

NUMBERS: Final = {"double": "double", "float": "single"}


def files(folder: Folder) -> dict[str, str]:
    """The script, by path."""
    number = NUMBERS[folder.options.real]
    text = filled(
        "matlab/simulink.m.jinja",
        robot=folder.robot,
        functions=[(x, _prototype(x, number)) for x in foreign_functions(folder, ())],
    )
    return {f"matlab/{folder.name}_simulink.m": text}


def _prototype(function: ForeignFunction, number: str) -> str:
    """The call of a function as the tool wants it: inputs are u1, u2, ... and outputs y1, y2, ...

    Arrays with more than two axes are vectors in the order of the C.
    """
    sides = (("u", function.inputs), ("y", function.outputs))
    arguments = [
        f"{number} {letter}{k}{_axes(x.shape, x.size)}"
        for letter, side in sides
        for k, x in enumerate(side, 1)
    ]
    return f"void {function.symbol}({', '.join(arguments)})"


def _axes(shape: tuple[int, ...], size: int) -> str:
    return "".join(f"[{length}]" for length in (shape if len(shape) == 2 else (size,)))
