"""The options of files that are written in addition to the C."""

from __future__ import annotations

import argparse

from rbdgen.options import EMITTED, Options


def add_emit_options(group: argparse._ArgumentGroup) -> None:
    """Adds the option --emit and those that belong to it."""
    group.add_argument(
        "--emit",
        choices=EMITTED,
        action="append",
        default=[],
        help="also write functions for casadi.external, with sparse derivatives",
    )
    group.add_argument(
        "--knots",
        metavar="N",
        type=int,
        default=Options().knots,
        help="also write functions of CasADi that take N states per call, in SIMD vectors (default 1)",
    )
