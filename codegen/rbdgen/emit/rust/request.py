"""The consequences of `--emit rust` for the other options."""

from __future__ import annotations

from collections.abc import Mapping

from rbdgen.functions.function import Function
from rbdgen.model.model import Model
from rbdgen.options import Options
from rbdgen.wording import option


def refused(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude a crate, with advice; None if they do not."""
    del small_machine
    if detail:
        return "a crate has no further option; give rust alone"
    if options.target == "wasm32":
        return f"a crate compiles C for a processor; take {option('target', 'portable')}"
    return None


def extended(options: Options, rows: Mapping[str, Function], model: Model, parameters: int) -> Options:
    """The options as they are: the functions need no others."""
    del rows, model, parameters
    return options
