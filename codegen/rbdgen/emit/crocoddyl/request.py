"""The consequences of `--emit crocoddyl` for the other options."""

from __future__ import annotations

from collections.abc import Mapping

from rbdgen.emit.motions import refused_in_cpp, with_derivatives
from rbdgen.functions.configurations.rows import MOVES
from rbdgen.functions.function import Function
from rbdgen.model.model import Model
from rbdgen.options import Options


def refused(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude models for Crocoddyl, with advice; None if they do not."""
    return refused_in_cpp(options, detail, small_machine=small_machine)


def extended(options: Options, rows: Mapping[str, Function], model: Model, parameters: int) -> Options:
    """The options with the derivatives of the accelerations, and with the moves of a q that is no vector.

    Raises:
        OptionError: no function computes accelerations.
    """
    del parameters
    more = () if model.manifold.flat else MOVES
    return with_derivatives(options, "crocoddyl", rows, model, more)
