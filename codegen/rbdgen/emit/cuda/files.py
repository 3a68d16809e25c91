"""The files of a folder's kernels: two for each function, and a header with what they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rbdgen.emit.c.headers import kernels_of
from rbdgen.emit.c.kernels import CKernels, math_function
from rbdgen.emit.cuda.printer import sqrt_of
from rbdgen.emit.cuda.tiles import HALF, LANES, WIDTH
from rbdgen.emit.folder import Folder
from rbdgen.emit.real import real_type
from rbdgen.emit.text import filled
from rbdgen.machine import REAL_BYTES

INLINED: Final = "static __device__ __forceinline__"
"""The specifiers of functions that kernels call."""


@dataclass(frozen=True)
class Kernels(CKernels):
    """The elementary functions of a GPU."""

    @property
    def always(self) -> str:
        return INLINED


def header_of(name: str) -> str:
    """The path of the header. `name` is the robot's."""
    return f"cuda/{name}_cuda.h"


def files(folder: Folder) -> dict[str, str]:
    """The files by path; none for other targets."""
    kernels = [(x.shown, x.kernel) for x in folder.functions if x.kernel is not None]
    if not kernels or folder.options.kernels is None:
        return {}
    made = {
        header_of(folder.name): filled(
            "cuda/ROBOT_cuda.h.jinja",
            robot=folder.robot,
            fused=folder.options.kernels.fused,
            inlined=INLINED,
            sincos=any(kernel.sines for _, kernel in kernels),
            f=_elementary(folder),
            lanes=LANES,
            width=WIDTH,
            half=HALF,
            pack=16 // REAL_BYTES[folder.options.real],
        )
    }
    for shown, kernel in kernels:
        made[kernel.file] = filled(
            "cuda/ROBOT_FUNCTION.cu.jinja",
            robot=folder.robot,
            function=shown,
            kernel=kernel,
            lanes=LANES,
        )
        made[kernel.header] = filled(
            "cuda/ROBOT_FUNCTION.cuh.jinja",
            robot=folder.robot,
            function=shown,
            kernel=kernel,
            inlined=INLINED,
        )
    return made


def _elementary(folder: Folder) -> Kernels | None:
    """The elementary functions that some kernel calls; None if there are none."""
    wanted = kernels_of(folder.functions)
    if not wanted:
        return None
    real = real_type(folder.options.real)
    word = {"float": "unsigned int", "double": "unsigned long long"}[real.name]
    return Kernels(wanted, math_function(folder.name, ""), real.name, word, real, sqrt_of(real))
