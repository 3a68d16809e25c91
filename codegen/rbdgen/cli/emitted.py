"""The options of files that are written in addition to the C."""

from __future__ import annotations

import argparse

from rbdgen.emit.backends import ON_REQUEST


def add_emit_options(group: argparse._ArgumentGroup) -> None:
    """Adds the option --emit and those that belong to it."""
    group.add_argument(
        "--emit",
        metavar="NAME",
        action="append",
        default=[],
        help="also write " + ", ".join(f"{name}: {row.adds}" for name, row in ON_REQUEST.items()),
    )
    group.add_argument(
        "--knots",
        metavar="N",
        type=int,
        default=1,
        help="--emit casadi --knots N means --emit casadi:N",
    )
