"""The consequences of `--emit ros2` for the other options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rbdgen.emit.motions import refused_in_cpp
from rbdgen.errors import OptionError
from rbdgen.functions.function import Function
from rbdgen.functions.inertia_matrix.rows import CRBA
from rbdgen.functions.inverse_dynamics.rows import GRAVITY, NLE, RNEA
from rbdgen.model.model import Model
from rbdgen.options import Options
from rbdgen.wording import option

CALLED: Final = tuple(row.name for row in (RNEA, CRBA, NLE, GRAVITY))
"""The functions that the plug-ins call."""


def refused(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude a package of ROS 2, with advice; None if they do not."""
    return refused_in_cpp(options, detail, small_machine=small_machine)


def extended(options: Options, rows: Mapping[str, Function], model: Model, parameters: int) -> Options:
    """The options with the functions that the plug-ins call.

    Raises:
        OptionError: q has joints that are not those of a manipulator.
    """
    del parameters
    if not model.manifold.flat:
        raise OptionError(
            f"{option('emit', ['ros2'])}: its controller reads one position and one velocity of each joint; "
            "fix the base, and lock joints with several coordinates"
        )
    added = tuple(name for name in CALLED if name not in (*rows, *options.functions))
    return replace(options, functions=(*options.functions, *added))
