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
from rbdgen.functions.loops import rows as loops
from rbdgen.functions.momentum import rows as momentum
from rbdgen.model.model import Model

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
"""The functions of every robot."""

OF_LOOPS: Final[Mapping[str, Function]] = MappingProxyType({row.name: row for row in loops.ROWS})
"""Those of robots with closed loops."""

ALL: Final[Mapping[str, Function]] = MappingProxyType({**TABLE, **OF_LOOPS})


def rows_of(model: Model) -> Mapping[str, Function]:
    """The functions of a robot."""
    return ALL if model.loops else TABLE


def lookup(name: str, model: Model | None = None) -> Function:
    """The row of this name; OptionError if there is none, or if it is none of this robot's."""
    if name not in ALL:
        raise OptionError(f"unknown function '{name}'; choose from: {', '.join(ALL)}")
    if model is not None and name not in rows_of(model):
        raise OptionError(
            f"function '{name}' is of closed loops, and '{model.name}' has none; give --loop FRAME1=FRAME2"
        )
    return ALL[name]
