"""The consequences of `--emit bounds` for the other options."""

from __future__ import annotations

from collections.abc import Mapping

from rbdgen.functions.function import Function
from rbdgen.model.model import Model
from rbdgen.options import Options


def refused(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude bounds, with advice; None if they do not."""
    del options, small_machine
    return "bounds have no further option; give bounds alone" if detail else None


def extended(options: Options, rows: Mapping[str, Function], model: Model, parameters: int) -> Options:
    """The options as they are: bounds need no further functions."""
    del rows, model, parameters
    return options
