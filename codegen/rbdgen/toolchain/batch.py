"""Builds of batch functions: one for this machine, or one per level of x86-64, chosen at run
time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rbdgen.emit.package import Sources
from rbdgen.errors import OptionError
from rbdgen.toolchain.compiler import Compilation, Compiler
from rbdgen.wording import choose, option

_X86: Final = ("x86-64-v2", "x86-64-v3", "x86-64-v4")

ARCHITECTURES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "native": ("-march=native", ()),
    "x86-64-v2": ("-march=x86-64-v2", _X86),
    "x86-64-v3": ("-march=x86-64-v3", _X86),
    "x86-64-v4": ("-march=x86-64-v4", _X86),
    "aarch64": ("-march=armv8-a", ()),
}
"""The architectures by name: the flag for single calls, and the levels of x86-64 for which batch functions
are compiled. The flag also names the oldest processor on which the module runs.
"""

_SHORT: Final = frozenset({"x86-64-v2", "aarch64"})
"""The architectures with vector registers of 16 bytes."""

DISPATCH_FLAG: Final = "-DDISPATCH_LEVELS"


def architecture(name: str) -> tuple[str, tuple[str, ...]]:
    """The flag and the levels of an architecture. Raises OptionError, with a remedy, for an unknown name."""
    if name not in ARCHITECTURES:
        raise OptionError(f"{option('arch', name)} is not known; {choose(name, ARCHITECTURES)}")
    return ARCHITECTURES[name]


def register_bytes(name: str) -> int:
    """The bytes of a vector register with which the choice of forms counts for single calls.

    It is 32 for `native`, whatever this machine is, so that the same options give the same C on all machines.
    """
    return 16 if name in _SHORT else 32


@dataclass(frozen=True)
class BatchFunction:
    """A build of a batch function. `level` is that of x86-64; it is empty if there is only one build."""

    function: str
    level: str
    compilation: Compilation


def batch_functions(
    sources: Sources,
    levels: tuple[str, ...],
    flags: Mapping[str, tuple[str, ...]],
    include: str,
    compiler: Compiler,
) -> Iterator[BatchFunction]:
    """All batch functions of a folder. `flags` has the compiler's flags of each function. The symbols of
    different levels have different suffixes.
    """
    for name, source in sources.c_sources():
        batch_function = source.removesuffix(".c") + "_batch.c"
        if batch_function not in sources.files:
            continue
        path = f"../{sources.name}/{batch_function}"
        if not levels:
            whole = Compilation(path, f"{name}_batch.o", (*flags[name], include), compiler)
            yield BatchFunction(name, "", whole)
        symbols = (f"{sources.name}_{name}_batch", f"{sources.name}_{name}_rollout_batch")
        for level in levels:
            ending = level.rpartition("-")[2]
            own = (f"-march={level}", *(f"-D{symbol}={symbol}_{ending}" for symbol in symbols), include)
            kept = (flag for flag in flags[name] if not flag.startswith("-march="))
            target = f"{name}_batch_{ending}.o"
            yield BatchFunction(name, level, Compilation(path, target, (*kept, *own), compiler))
