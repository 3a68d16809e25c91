"""Options of what is written beside the C."""

from __future__ import annotations

import argparse

from rbdgen.options import EMITTED, Options


def add_emit_options(group: argparse._ArgumentGroup) -> None:
    """Those of `--emit`."""
    group.add_argument(
        "--emit",
        choices=EMITTED,
        action="append",
        default=[],
        help="write more: functions for casadi.external, with their sparse derivatives",
    )
    group.add_argument(
        "--knots",
        metavar="N",
        type=int,
        default=Options().knots,
        help="states in a call of functions of CasADi, in vectors, beside those of one (default 1)",
    )
