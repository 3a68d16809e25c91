"""The consequences of `--emit fmu` for the other options."""

from __future__ import annotations

from collections.abc import Mapping

from rbdgen.emit.backends import asked_for
from rbdgen.emit.motions import motion_of
from rbdgen.errors import OptionError
from rbdgen.functions.function import Function
from rbdgen.model.model import Model
from rbdgen.options import Options
from rbdgen.wording import choose, option


def refused(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude an FMU, with advice; None if they do not."""
    del detail
    if small_machine or options.target == "wasm32":
        return f"an FMU runs on a computer; leave {option('target', options.target)} out"
    if options.real != "double":
        return f"an FMU computes in double; leave {option('real', options.real)} out"
    if options.params:
        return f"an FMU has no parameters of the robot; leave {option('params')} out"
    return None


def extended(options: Options, rows: Mapping[str, Function], model: Model, parameters: int) -> Options:
    """The options as they are.

    Raises:
        OptionError: no function is an integration step, or not the one that the detail names.
    """
    motions = {name: motion_of(row.sized(model, parameters)) for name, row in rows.items()}
    steps = [name for name, motion in motions.items() if motion is not None and motion.discrete]
    asked, chosen = option("emit", list(options.emit)), dict(asked_for(options.emit))["fmu"]
    if not steps:
        raise OptionError(
            f"{asked}: no function is an integration step; ask for {option('functions', ['step'])}, or with "
            "contacts for contact_step"
        )
    if chosen and chosen not in steps:
        raise OptionError(f"{asked}: '{chosen}' is no integration step; {choose(chosen, steps)}")
    return options
