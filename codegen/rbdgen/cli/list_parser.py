"""The arguments of the command that lists functions."""

from __future__ import annotations

import argparse

from rbdgen.cli.options import add_robot_options
from rbdgen.cli.parser import Parser
from rbdgen.machine import REALS
from rbdgen.options import Options


def list_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "rbdgen list",
        "",
        "Lists the functions.\n\n"
        "  rbdgen list                                what they compute\n"
        "  rbdgen list --counts ROBOT                 their operations for a robot\n"
        "  rbdgen list --counts ROBOT --target cuda   registers, spills, shared memory and\n"
        "                                             instructions of their kernels on GPUs\n",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--forms", action="store_true", help="shapes, units, forms and their sources as well")
    shown.add_argument(
        "--counts", metavar="ROBOT", dest="robot", help="the operations of every function for a robot"
    )
    parser.add_argument(
        "-f", "--functions", metavar="NAME,NAME", action="append", help="the functions of --counts"
    )
    group = parser.add_argument_group("the kernels of --counts")
    group.add_argument("--target", choices=("cuda",), help="compile kernels for GPUs, and list their figures")
    group.add_argument("--arch", default=Options().arch, help="the GPUs, such as sm_90,sm_120")
    group.add_argument("--real", choices=REALS, help="the type of numbers (default float)")
    add_robot_options(parser, "the robot of --counts")
    return parser
