"""The options of a call of the API."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from rbdgen.errors import OptionError
from rbdgen.model.build import Robot
from rbdgen.options import Options, default_functions
from rbdgen.pipeline.robot import load_robot


def asked(caller: str, robot: Robot, functions: Sequence[str] | None, given: Mapping[str, Any]) -> Options:
    """The options of a call; OptionError for one that there is none of, or that is of `load_robot`."""
    for name in given:
        if name in inspect.signature(load_robot).parameters:
            raise OptionError(
                f"{name} is an option of load_robot, not of {caller}; give load_robot(..., {name}=...)"
            )
    if functions is None:
        functions = default_functions(bool(robot.model.frames), bool(robot.model.contacts))
    return Options.of(functions=functions, **given)
