"""The tools for which a folder is written: those that make WebAssembly, boards in qemu, compilers of CUDA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class ModuleFlags:
    """The flags of the tools that make a WebAssembly module of a folder."""

    compile: tuple[str, ...]
    """The flags of clang."""
    link: tuple[str, ...]
    """The flags of wasm-ld."""


@dataclass(frozen=True)
class Board:
    """A board in qemu on which the folder's self-test can run."""

    name: str
    prefix: str
    """The prefix of the cross tools."""
    flags: str
    """The flags of the compiler."""
    emulator: str
    """The emulator's program and options."""
    startup: str
    """The file of the start-up code in templates/board, without the ending."""
    code: str
    data: str
    """The addresses of code and of data."""


FORMS: Final = ("line", "warps", "stages")
"""The forms of kernels of CUDA (see `emit.cuda.kernel`)."""

MOST_SHARED: Final = 227 * 1024
"""The bytes of shared memory that a block has at most, on any GPU."""


@dataclass(frozen=True)
class Kernels:
    """The style of kernels of CUDA."""

    fused: bool = True
    """Whether products and sums are fused. Otherwise results have the bits of the C."""
    shared: int = MOST_SHARED
    """The bytes of shared memory that a block has at most, on those GPUs for which kernels are compiled."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """The forms that are asked for, by function."""
