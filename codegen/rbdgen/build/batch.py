"""How batch twins are compiled: once for this machine, or once a level of x86-64, chosen when they run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rbdgen.build.compiler import Compilation
from rbdgen.emit.package import Sources
from rbdgen.errors import OptionError

_X86: Final = ("x86-64-v2", "x86-64-v3", "x86-64-v4")

ARCHITECTURES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "native": ("-march=native", ()),
    "x86-64-v2": ("-march=x86-64-v2", _X86),
    "x86-64-v3": ("-march=x86-64-v3", _X86),
    "x86-64-v4": ("-march=x86-64-v4", _X86),
    "aarch64": ("-march=armv8-a", ()),
}
"""By name: the flag of single calls, the least that the module runs on, and the levels of the twins."""

DISPATCH_FLAG: Final = "-DDISPATCH_LEVELS"


def architecture(name: str) -> tuple[str, tuple[str, ...]]:
    """The row of the table; `OptionError` naming all rows where there is none."""
    if name not in ARCHITECTURES:
        raise OptionError(f"--arch {name} is not known; choose from: {', '.join(ARCHITECTURES)}")
    return ARCHITECTURES[name]


@dataclass(frozen=True)
class Twin:
    """The compilation of a function's twin; `level`: of x86-64, empty where there is one twin alone."""

    function: str
    level: str
    compilation: Compilation


def twins(
    sources: Sources, levels: tuple[str, ...], flags: Mapping[str, tuple[str, ...]], include: str
) -> Iterator[Twin]:
    """All twins of a folder; `flags`: by function. Levels differ in what their symbols end in."""
    for name, source in sources.c_sources():
        twin = source.removesuffix(".c") + "_batch.c"
        if twin not in sources.files:
            continue
        path = f"../{sources.name}/{twin}"
        if not levels:
            yield Twin(name, "", Compilation(path, f"{name}_batch.o", (*flags[name], include)))
        symbol = f"{sources.name}_{name}_batch"
        for level in levels:
            ending = level.rpartition("-")[2]
            own = (f"-march={level}", f"-D{symbol}={symbol}_{ending}", include)
            kept = (flag for flag in flags[name] if not flag.startswith("-march="))
            yield Twin(name, level, Compilation(path, f"{name}_batch_{ending}.o", (*kept, *own)))
