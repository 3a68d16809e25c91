"""The consequences of `--emit eigen` for the other options."""

from __future__ import annotations

from collections.abc import Mapping

from rbdgen.functions.function import Function
from rbdgen.model.model import Model
from rbdgen.options import Options


def refused(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude the header, with advice; None if they do not."""
    del options, small_machine
    return "the header of Eigen has no further option; give eigen alone" if detail else None


def extended(options: Options, rows: Mapping[str, Function], model: Model, parameters: int) -> Options:
    """The options as they are: the header has the functions that were asked for."""
    del rows, model, parameters
    return options
