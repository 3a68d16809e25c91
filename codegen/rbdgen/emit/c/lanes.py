"""The vector type of c/ROBOT_lanes.h, which holds as many numbers as a vector register of the processor.

Its lanes hold either neighbouring runs of a loop or the states of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rbdgen.emit.c.choices import CHOICES
from rbdgen.emit.c.kernels import CKernels, kernels_in, vector_kernels
from rbdgen.emit.c.loops import Vectors
from rbdgen.emit.c.printer import Sincos, Style
from rbdgen.emit.folder import Folder
from rbdgen.emit.package import EmitOptions
from rbdgen.emit.real import real_type
from rbdgen.emit.text import filled
from rbdgen.graph.kernels import KERNELS
from rbdgen.machine import REAL_BYTES, VECTOR_BYTES
from rbdgen.machine import lanes as vector_lanes

_REGISTERS: Final[tuple[tuple[str, int], ...]] = (
    ("defined(__AVX512F__)", 64),
    ("defined(__AVX2__)", 32),
    ("", 16),
)
"""Pairs of a preprocessor condition and the bytes of a vector register where it holds. The last entry has no
condition.
"""


@dataclass(frozen=True)
class CExchange:
    """A stage of a transposition: it exchanges lanes of two rows that are `distance` apart.

    `lower` and `upper` list the lanes that the first and the second row receive. Lanes are numbered through
    both rows: those of the second row follow those of the first.
    """

    distance: int
    lower: str
    upper: str


@dataclass(frozen=True)
class CWidth:
    """A vector width that the preprocessor chooses."""

    condition: str
    """The preprocessor condition of this width, or an empty string."""
    lanes: int
    """The number of lanes."""
    stages: tuple[CExchange, ...]
    """The stages of a transposition, in order."""
    all: str
    """The text that copies `x` to all lanes."""
    bits: str
    """One bit for each lane: 1, 2, 4 and so on."""


CHOSEN: Final = ("abs", *CHOICES)
"""The operations that vectors compute from masks."""


@dataclass(frozen=True)
class CLaneFunction:
    """A function of the C library that is called lane by lane: its name here and its name in C."""

    name: str
    scalar: str


@dataclass(frozen=True)
class CLanes:
    """The context of the template of the vector type's header."""

    widths: tuple[CWidth, ...]
    """The widths that the preprocessor chooses from."""
    functions: tuple[CLaneFunction, ...]
    """The functions of the C library that are called lane by lane."""
    index: str
    """The C integer type that is as wide as a number."""
    suffix: str
    """The suffix of the machine instructions that move numbers, such as "d" for double."""
    tile: int
    """The number of elements in a tile."""
    tile_bytes: int
    """The bytes of a row of a tile."""
    sign: bool
    """Whether a function computes signs."""
    chosen: tuple[str, ...]
    """The operations that choose, or take absolute values, in some function."""
    kernels: CKernels | None
    """The elementary functions that some function calls; None if there are none."""
    loops: bool
    """Whether a function has loops."""
    rolls: bool
    """Whether a function rolls: it is a time step, whose result is the input of the next."""


def lanes_context(
    options: EmitOptions,
    *,
    sign: bool = False,
    chosen: tuple[str, ...] = (),
    kernels: CKernels | None = None,
    loops: bool = False,
    rolls: bool = False,
) -> CLanes:
    """The widths and functions of the vector type."""
    size = REAL_BYTES[options.real]
    real = real_type(options.real)
    functions = [CLaneFunction("sqrt", real.sqrt)]
    if options.trig == "libm":
        functions += [CLaneFunction("sin", real.sin), CLaneFunction("cos", real.cos)]
    widths = tuple(_width(condition, register // size, 16 // size) for condition, register in _REGISTERS)
    index, suffix = ("long long", "d") if size == 8 else ("int", "s")
    tile = vector_lanes(options.real)
    return CLanes(
        widths, tuple(functions), index, suffix, tile, VECTOR_BYTES, sign, chosen, kernels, loops, rolls
    )


def _width(condition: str, width: int, group: int) -> CWidth:
    """A width whose stages take one instruction each. The stages within 16 bytes (`group` lanes) come
    first.
    """
    within = [group >> k for k in range(1, group.bit_length())]
    across = [group << k for k in range((width // group).bit_length() - 1)]
    stages = (*(_interleave(width, group, d) for d in within), *(_gather(width, group, d) for d in across))
    bits = ", ".join(str(1 << lane) for lane in range(width))
    return CWidth(condition, width, stages, ", ".join(["x"] * width), bits)


def _interleave(width: int, group: int, distance: int) -> CExchange:
    """A stage that interleaves the lower halves of all groups, and the upper halves likewise."""
    halves = [
        [
            row + first + k
            for first in range(half, width, group)
            for k in range(group // 2)
            for row in (0, width)
        ]
        for half in (0, group // 2)
    ]
    return _exchange(distance, *halves)


def _gather(width: int, group: int, distance: int) -> CExchange:
    """A stage that gathers the even groups of both rows in one row, and the odd groups in the other."""
    parities = [
        [
            row + first + k
            for row in (0, width)
            for first in range(odd, width, 2 * group)
            for k in range(group)
        ]
        for odd in (0, group)
    ]
    return _exchange(distance, *parities)


def _exchange(distance: int, lower: Sequence[int], upper: Sequence[int]) -> CExchange:
    return CExchange(distance, ", ".join(map(str, lower)), ", ".join(map(str, upper)))


def lanes_file(folder: Folder) -> dict[str, str]:
    """The header of the vector type."""
    sign = any(function.source.program.cost.sign for function in folder.functions)
    loops = any(len(function.source.program.loops) > 1 for function in folder.functions)
    rolls = any(function.shown.rolls for function in folder.functions)
    costs = [function.source.program.cost for function in folder.functions]
    chosen = tuple(op for op in CHOSEN if any(cost.counts[op] for cost in costs))
    wanted, real = kernels_in(costs), real_type(folder.options.real)
    kernels = vector_kernels(folder.name, folder.robot.macro, real, wanted) if wanted else None
    lanes = lanes_context(folder.options, sign=sign, chosen=chosen, kernels=kernels, loops=loops, rolls=rolls)
    return {f"{folder.name}_lanes.h": filled("c/ROBOT_lanes.h.jinja", robot=folder.robot, lanes=lanes)}


def vectors_of(folder: Folder) -> Vectors | None:
    """The vectors that neighbouring runs of a loop may share within one call, or None without extensions."""
    if not folder.options.extensions:
        return None
    return Vectors(lanes_style(folder), folder.robot.macro, vector_lanes(folder.options.real))


def lanes_style(folder: Folder) -> Style:
    """The style of statements on vectors."""
    kind, options = f"{folder.name}_lanes", folder.options
    functions = {name: f"{kind}_{name}" for name in ("sqrt", "sin", "cos", "sign", *CHOSEN, *KERNELS)}
    sincos = Sincos(kind, None, lanes=True) if options.trig == "builtin" else None
    constant = f"{folder.robot.macro}_ALL({{}})"
    return Style(real_type(options.real), kind, functions, sincos, options.nesting, constant)
