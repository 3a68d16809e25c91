"""The consequences of `--emit julia` for the other options."""

from __future__ import annotations

from collections.abc import Mapping

from rbdgen.functions.function import Function
from rbdgen.model.model import Model
from rbdgen.options import Options
from rbdgen.wording import option


def refused(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude it, with advice; None if they do not."""
    if detail:
        return "the module of Julia has no further option; give julia alone"
    if small_machine or options.target == "wasm32":
        return f"it runs on a computer; leave {option('target', options.target)} out"
    return None


def extended(options: Options, rows: Mapping[str, Function], model: Model, parameters: int) -> Options:
    """The options as they are: the functions need no others."""
    del rows, model, parameters
    return options
