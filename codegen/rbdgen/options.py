"""All options of one generation, frozen; the only place that reads environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from rbdgen.errors import OptionError

Real: TypeAlias = Literal["double", "float"]
Trig: TypeAlias = Literal["libm", "builtin", "input"]

REALS: tuple[Real, ...] = ("double", "float")
TRIGS: tuple[Trig, ...] = ("libm", "builtin", "input")


@dataclass(frozen=True)
class Options:
    """What to generate and how.

    `functions`: names from the catalogue; `variants`: function name -> form, where forced;
    `compiler`: a path or a command; `jobs`: compilers run side by side.
    """

    functions: tuple[str, ...] = ("rnea", "aba", "crba", "minv", "rnea_derivatives", "aba_derivatives")
    name: str | None = None
    real: Real = "double"
    trig: Trig = "libm"
    target: str = "host"
    engine: str = "casadi"
    variants: Mapping[str, str] = field(default_factory=dict)
    compiler: str = "cc"
    cache: Path = Path()
    jobs: int = 1

    def __post_init__(self) -> None:
        _choice("--real", self.real, REALS)
        _choice("--trig", self.trig, TRIGS)
        if not self.functions:
            raise OptionError("no function asked for; pass -f NAME,NAME or leave it out for the default six")


def _choice(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise OptionError(f"{option} {value} is not known; choose from: {', '.join(known)}")


def environment_compiler() -> str:
    """The C compiler asked for by `CC`, else `cc`."""
    return os.environ.get("CC", "").strip() or "cc"


def environment_cache() -> Path:
    """`RBDGEN_CACHE`, else the user's cache folder by the XDG convention."""
    if own := os.environ.get("RBDGEN_CACHE", "").strip():
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME", "").strip()
    return (Path(base) if base else Path("~/.cache").expanduser()) / "rbdgen"


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)
