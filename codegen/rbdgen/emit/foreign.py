"""The functions of a folder as other languages show them.

Every backend that calls the C from another language takes names, shapes and documentation from here, and adds
only the words that its language reserves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import prod

from rbdgen.emit.contexts import CArgument, CFunction
from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.emit.names import comment_text
from rbdgen.signature import SizedArgument


@dataclass(frozen=True)
class ForeignArgument:
    """An array argument with the name that it has in the language."""

    name: str
    shown: CArgument
    sized: SizedArgument

    @property
    def shape(self) -> tuple[int, ...]:
        return self.sized.shape

    @property
    def size(self) -> int:
        return self.sized.size

    @property
    def scalar(self) -> bool:
        return not self.sized.shape

    @property
    def doc(self) -> str:
        """The unit and the meaning, for a comment."""
        return comment_text(f"{self.sized.unit}: {self.sized.meaning}")


@dataclass(frozen=True)
class ForeignFunction:
    """A function with the names that it and its arguments have in the language."""

    name: str
    shown: CFunction
    inputs: tuple[ForeignArgument, ...]
    outputs: tuple[ForeignArgument, ...]

    @property
    def arguments(self) -> tuple[ForeignArgument, ...]:
        return self.inputs + self.outputs

    @property
    def symbol(self) -> str:
        """The name in C."""
        return self.shown.symbol


def foreign_functions(folder: Folder, reserved: Collection[str]) -> tuple[ForeignFunction, ...]:
    """The functions of a folder for a language that reserves some words."""
    names = renamed((function.source.name for function in folder.functions), reserved)
    return tuple(
        foreign_function(function, name, reserved)
        for function, name in zip(folder.functions, names, strict=True)
    )


def foreign_function(function: FolderFunction, name: str, reserved: Collection[str]) -> ForeignFunction:
    """A function that is called `name` in a language that reserves some words."""
    signature, shown = function.source.signature, function.shown
    sized = (*signature.inputs, *signature.outputs)
    names = renamed((x.name for x in sized), reserved)
    arguments = tuple(map(ForeignArgument, names, shown.arguments, sized))
    count = len(signature.inputs)
    return ForeignFunction(name, shown, arguments[:count], arguments[count:])


def renamed(names: Iterable[str], reserved: Collection[str]) -> list[str]:
    """The names, in order; "_" is appended to those that are reserved, until they differ from all others."""
    found = list(names)
    taken = {*found, *reserved}
    for k, name in enumerate(found):
        new = name
        while new in reserved or (new != name and new in taken):
            new += "_"
        taken.add(new)
        found[k] = new
    return found


def nested(values: Sequence[str], shape: tuple[int, ...]) -> str:
    """Texts of numbers in row-major order as nested lists in brackets; a scalar is the number alone."""
    if not shape:
        return values[0]
    step = prod(shape[1:])
    parts = (nested(values[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0]))
    return f"[{', '.join(parts)}]"
