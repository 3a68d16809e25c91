"""The consequences of `--emit acados` for the other options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rbdgen.emit.backends import asked_for
from rbdgen.emit.motions import motion_of
from rbdgen.errors import OptionError
from rbdgen.functions.function import Function
from rbdgen.model.model import Model
from rbdgen.options import Options
from rbdgen.wording import option

HESSIAN: Final = "hessian"
"""The detail of `--emit acados:hessian`, which adds second derivatives."""


def refused(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude models for acados, with advice; None if they do not.

    What excludes functions of CasADi is told by their own backend.
    """
    del options, small_machine
    return (
        None if detail in ("", HESSIAN) else f"give acados alone, or acados:{HESSIAN} for second derivatives"
    )


def extended(options: Options, rows: Mapping[str, Function], model: Model, parameters: int) -> Options:
    """The options with the products that second derivatives need, if these are asked for. First derivatives
    come with the functions of CasADi.

    Raises:
        OptionError: no function moves the robot.
    """
    moving = [name for name, row in rows.items() if motion_of(row.sized(model, parameters))]
    asked = option("emit", list(options.emit))
    if not moving:
        raise OptionError(
            f"{asked}: no function moves the robot; ask for {option('functions', ['step'])}, or for aba, or "
            "with contacts for contact_aba"
        )
    if dict(asked_for(options.emit)).get("acados") != HESSIAN:
        return options
    more = [f"{name}_{mode}" for name in moving for mode in ("vjp", "hvp")]
    added = tuple(name for name in more if name not in options.functions)
    curved = not model.manifold.flat
    return replace(options, functions=(*options.functions, *added), coordinates=options.coordinates or curved)
