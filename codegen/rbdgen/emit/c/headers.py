"""The headers of a folder's C files, and the conditions under which a function and a folder need them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rbdgen.emit.c.kernels import kernels_in
from rbdgen.emit.c.lanes import vectors_of
from rbdgen.emit.c.printer import Style
from rbdgen.emit.c.trigonometry import TRIGONOMETRY, live_nodes
from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.graph.kernels import KERNELS
from rbdgen.graph.programs.program import Program


@dataclass(frozen=True)
class CNeeds:
    """The headers and declarations that a file needs in addition to the statements of its function."""

    unused: tuple[str, ...]
    """The arguments that no statement reads."""
    math: bool
    """Whether functions of the C library's math.h are called."""
    sincos: bool
    """Whether the built-in sine and cosine are called."""
    kernels: bool
    """Whether functions of c/kernels.jinja are called."""


def needs_of(program: Program, style: Style) -> CNeeds:
    """The needs of a program that is printed in the given style."""
    read: set[str] = set()
    ops: set[str] = set()
    for loop in program.loops:
        for node in live_nodes(loop.kernel):
            ops.add(node.op)
            if node.op == "input":
                read.add(loop.reads[loop.kernel.input_element(int(node.value))[0]].array)
    sines = not ops.isdisjoint(TRIGONOMETRY)
    return CNeeds(
        tuple(array.name for array in program.inputs if array.name not in read),
        math=not ops.isdisjoint({"sqrt", "abs"}) or (sines and style.sincos is None),
        sincos=sines and style.sincos is not None,
        kernels=not ops.isdisjoint(KERNELS),
    )


def headers(folder: Folder) -> list[str]:
    """The headers that the sources of the functions may include."""
    name, vectors = folder.name, vectors_of(folder)
    loops = (loop for function in folder.functions for loop in function.source.printed.loops)
    shared = vectors is not None and any(loop.vectorised(vectors.most) for loop in loops)
    sincos = [f"{name}_sincos.h"] if calls_sincos(folder, folder.functions) else []
    kernels = [f"{name}_math.h"] if kernels_of(folder.functions) else []
    limbs = [f"{name}_limbs.h"] if any(function.source.lanes for function in folder.functions) else []
    return [f"{name}.h", *sincos, *kernels, *([f"{name}_lanes.h"] if shared else []), *limbs]


def batch_headers(folder: Folder) -> list[str]:
    """The headers that any source may include, those of batch functions among them."""
    if not folder.batches:
        return headers(folder)
    own = [f"{folder.name}_batch.h", f"{folder.name}_lanes.h"]
    sincos = [f"{folder.name}_lanes_sincos.h"] if calls_sincos(folder, folder.batches) else []
    return list(dict.fromkeys([*headers(folder), *own, *sincos]))


def calls_sincos(folder: Folder, functions: Iterable[FolderFunction]) -> bool:
    """Whether at least one of the functions calls the built-in sine and cosine."""
    return folder.options.trig == "builtin" and most_angles(functions) > 0


def kernels_of(functions: Iterable[FolderFunction]) -> tuple[str, ...]:
    """The operations of the functions that have kernels."""
    return kernels_in(function.source.program.cost for function in functions)


def most_angles(functions: Iterable[FolderFunction]) -> int:
    """The largest number of angles whose sine or cosine one straight-line piece of the functions needs."""
    return max((function.most_angles for function in functions), default=0)
