"""C names that depend on the precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rbdgen.errors import OptionError
from rbdgen.wording import option


@dataclass(frozen=True)
class Real:
    """A floating-point type of C and its functions in <math.h>."""

    name: str
    sin: str
    cos: str
    sqrt: str
    fabs: str
    numpy: str


REALS: Final[Mapping[str, Real]] = MappingProxyType(
    {
        "double": Real("double", "sin", "cos", "sqrt", "fabs", "float64"),
        "float": Real("float", "sinf", "cosf", "sqrtf", "fabsf", "float32"),
    }
)


def real_type(name: str) -> Real:
    """The type called `name` ("double" or "float"); any other name raises `OptionError`."""
    if name not in REALS:
        raise OptionError(f"{option('real', name)} is not known; choose from: {', '.join(REALS)}")
    return REALS[name]
