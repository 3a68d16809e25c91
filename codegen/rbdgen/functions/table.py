"""The table of functions: one row each. Command line, templates, loader, docs and tests iterate it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rbdgen.errors import OptionError
from rbdgen.functions.derivatives import rows as derivatives
from rbdgen.functions.forward_dynamics import rows as forward_dynamics
from rbdgen.functions.function import Function, resisting
from rbdgen.functions.inertia_matrix import rows as inertia_matrix
from rbdgen.functions.inverse_dynamics import rows as inverse_dynamics
from rbdgen.functions.momentum import rows as momentum

_ROWS: Final = (
    *inverse_dynamics.ROWS,
    *forward_dynamics.ROWS,
    *inertia_matrix.ROWS,
    *derivatives.ROWS,
    inverse_dynamics.WITH_FORCES,
    forward_dynamics.WITH_FORCES,
    *momentum.ROWS,
)

TABLE: Final[Mapping[str, Function]] = MappingProxyType({row.name: resisting(row) for row in _ROWS})


def lookup(name: str) -> Function:
    """The row of this name; OptionError if there is none."""
    try:
        return TABLE[name]
    except KeyError:
        raise OptionError(f"unknown function '{name}'; choose from: {', '.join(TABLE)}") from None
