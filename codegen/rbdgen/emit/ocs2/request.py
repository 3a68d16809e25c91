"""The consequences of `--emit ocs2` for the other options."""

from __future__ import annotations

from collections.abc import Mapping

from rbdgen.emit.motions import refused_in_cpp, with_derivatives
from rbdgen.errors import OptionError
from rbdgen.functions.function import Function
from rbdgen.model.model import Model
from rbdgen.options import Options
from rbdgen.wording import option


def refused(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude models for OCS2, with advice; None if they do not."""
    return refused_in_cpp(options, detail, small_machine=small_machine)


def extended(options: Options, rows: Mapping[str, Function], model: Model, parameters: int) -> Options:
    """The options with the derivatives of the accelerations.

    Raises:
        OptionError: no function computes accelerations, or q is no vector to which OCS2 may add steps.
    """
    del parameters
    if not model.manifold.flat:
        raise OptionError(
            f"{option('emit', ['ocs2'])}: OCS2 adds steps to q, which has joints whose v is not dq/dt; "
            "describe a free base by three prismatic and three revolute joints, or take crocoddyl or acados"
        )
    return with_derivatives(options, "ocs2", rows, model, ())
