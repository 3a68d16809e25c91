"""Lists functions, their operations for a robot, and the figures of their kernels on GPUs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rbdgen.cli.arguments import kernel_options_of, names_of, refuse_others, robot_of
from rbdgen.pipeline.shown import shown_on

if TYPE_CHECKING:
    from rich.console import Console

_KERNELS = ("target", "arch", "real")
"""The options of kernels."""


def run_list(parsed: argparse.Namespace) -> int:
    from rbdgen.cli import tables  # noqa: PLC0415

    console, errors = tables.consoles()
    if parsed.robot is None:
        refuse_others("list", parsed, ["forms"], "is an option of a robot; give one with --counts ROBOT")
        console.print(tables.forms_table() if parsed.forms else tables.functions_table())
        return 0
    if parsed.target is not None:
        return _list_kernels(parsed, console, errors)
    robot_options = [name for name in vars(parsed) if name not in _KERNELS]
    refuse_others("list", parsed, robot_options, "is an option of kernels; give --target cuda as well")
    from rbdgen.functions.table import rows_of  # noqa: PLC0415
    from rbdgen.pipeline.design import count  # noqa: PLC0415

    robot = robot_of(parsed, parsed.robot)
    functions = tuple(rows_of(robot.model)) if parsed.functions is None else names_of(parsed.functions)
    with shown_on(errors) as done:
        counted = count(robot, functions, done)
    console.print(tables.counts_table(counted))
    return 0


def _list_kernels(parsed: argparse.Namespace, console: Console, errors: Console) -> int:
    """Compiles the kernels and prints their figures."""
    from rbdgen.cli import tables  # noqa: PLC0415
    from rbdgen.pipeline.page import build_kernels  # noqa: PLC0415

    options = kernel_options_of(parsed)
    robot = robot_of(parsed, parsed.robot)
    with shown_on(errors) as done:
        library = build_kernels(robot, options, done)
    console.print(tables.kernels_table({name: f.facts for name, f in library.functions.items()}))
    return 0
