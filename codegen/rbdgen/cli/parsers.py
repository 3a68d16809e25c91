"""The arguments of every command."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from rbdgen.cli.list_parser import list_parser
from rbdgen.cli.no_robot import cache_parser, completion_parser
from rbdgen.cli.options import add_emit_options, add_robot_options, distance_defaults
from rbdgen.cli.parser import Parser
from rbdgen.machine import REALS
from rbdgen.options import TRIGS, Options
from rbdgen.toolchain.targets import TARGETS
from rbdgen.version import __version__

GUIDE = """\
Rigid-body dynamics of a robot as plain C99 and as fast Python functions.

  rbdgen arm7                       write generated/arm7: C and a Python package
  rbdgen my_robot.urdf -f rnea,aba  these functions only
  rbdgen arm7 --target cortex-m4f   a folder for a small machine

Other commands:
  rbdgen show ROBOT                 write a page that shows it in a browser
  rbdgen list                       list the functions
  rbdgen inspect ROBOT              show the tree, indices, masses, warnings
  rbdgen check DIR|ROBOT            check the code on this machine
  rbdgen prove DIR|ROBOT            prove that the C has no undefined behaviour
  rbdgen bench DIR|ROBOT            measure the time of calls from Python
  rbdgen bounds ROBOT               bound values and rounding errors over ranges
  rbdgen inertia                    write operations on inertias as C
  rbdgen equations ROBOT            print M, C and g of a small robot
  rbdgen cover ROBOT                print capsules that cover its shapes
  rbdgen cache [clear]              show or empty the cache of builds
  rbdgen completion bash|zsh|fish   print a script that completes words

ROBOT is a URDF, a xacro, an MJCF, or a bundled robot by name, such as arm7.
"""

MORE = "rbdgen --help shows all options, rbdgen COMMAND --help those of a command.\n"


def guide_parser() -> argparse.ArgumentParser:
    """The parser of `rbdgen` without arguments."""
    return Parser("rbdgen", "ROBOT ", GUIDE)


def generate_parser() -> argparse.ArgumentParser:
    parser = Parser("rbdgen", "ROBOT ", GUIDE)
    parser.add_argument("robot", metavar="ROBOT", help="a URDF, a xacro, an MJCF, or a bundled robot by name")
    _add_folder_options(parser, "the robot's")
    parser.add_argument(
        "--version", action="version", version=f"rbdgen {__version__}", help="print the version"
    )
    add_robot_options(parser)
    _add_function_options(parser)
    return parser


def inertia_parser() -> argparse.ArgumentParser:
    from rbdgen.inertia.operations import OPERATIONS  # noqa: PLC0415  (only this command needs it)

    parser = Parser(
        "rbdgen inertia",
        "",
        "Operations on the ten-parameter inertias of rigid bodies, as C and as a Python\n"
        "package: rotated, translated, merged, times a velocity, ... They need no robot.",
    )
    _add_folder_options(parser, "inertia")
    _add_code_options(
        parser.add_argument_group("the code"), f"which of {', '.join(OPERATIONS)} (default all)"
    )
    return parser


def inspect_parser() -> argparse.ArgumentParser:
    parser = Parser("rbdgen inspect", "ROBOT ", "Shows a robot's tree, indices, masses and warnings.")
    parser.add_argument("robot", metavar="ROBOT", help="a URDF, a xacro, an MJCF, or a bundled robot by name")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a tree")
    add_robot_options(parser)
    return parser


def check_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "rbdgen check",
        "DIR|ROBOT ",
        "Checks that generated code is right on this machine.\n\n"
        "  rbdgen check DIR                 recompile a folder, run its self-test, try\n"
        "                                   identities, compare with Pinocchio if installed\n"
        "  rbdgen check ROBOT               the same for new code, which is not kept\n"
        "  rbdgen check ROBOT --real float  the relative error of every function in float,\n"
        "                                   and the bound of the largest\n",
    )
    _add_subject(parser)
    return parser


def prove_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "rbdgen prove",
        "DIR|ROBOT ",
        "Proves by Frama-C/Eva that generated C has no undefined behaviour: no access out of\n"
        "bounds, nothing read before it is written, no overflow of integers.\n\n"
        "  rbdgen prove DIR    a folder made with --target portable or for a small machine;\n"
        "                      writes the result to its manifest and README\n"
        "  rbdgen prove ROBOT  the same for new portable code, which is not kept\n",
    )
    _add_subject(parser)
    return parser


def bench_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "rbdgen bench",
        "DIR|ROBOT ",
        "Measures the times of calls from Python: of one call, and per state of a batch.",
    )
    _add_subject(parser)
    return parser


def equations_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "rbdgen equations",
        "ROBOT ",
        "The equations of motion of a small robot, M a + C v + g = tau, as closed formulas.\n\n"
        "  rbdgen equations double_pendulum                      all in symbols\n"
        "  rbdgen equations ROBOT -f gravity --symbols masses    lengths stay numbers\n"
        "  rbdgen equations ROBOT --format html -o page.html     for a browser\n",
    )
    parser.add_argument("robot", metavar="ROBOT", help="a URDF, a xacro, an MJCF, or a bundled robot by name")
    parser.add_argument(
        "-f",
        "--functions",
        metavar="NAME,NAME",
        action="append",
        help="crba (M), coriolis (C), gravity (g), nle, rnea, kinetic_energy, potential_energy "
        "(default crba,coriolis,gravity)",
    )
    parser.add_argument(
        "--symbols",
        metavar="SET,SET",
        default="all",
        help="which numbers become symbols: masses (m1), lengths (l1, lc1), inertias (I1), gravity (g), "
        "all or none (default all)",
    )
    parser.add_argument(
        "--format", choices=("text", "latex", "html"), default="text", help="how to write them (default text)"
    )
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, help="write FILE (default: print)")
    parser.add_argument(
        "--budget-terms",
        metavar="N",
        type=int,
        default=1000,
        help="refuse equations with more terms (default 1000)",
    )
    add_robot_options(parser, frames=False)
    parser.set_defaults(
        frames=[],
        contacts=[],
        contact_from_collision=[],
        contact_set=[],
        contact_solver=None,
        contact_with=[],
        cover=[],
        capsules=None,
        shapes=None,
        **distance_defaults(),
    )
    return parser


def cover_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "rbdgen cover",
        "ROBOT ",
        "Prints the capsules that cover the shapes of a robot, as a file for --capsules.\n\n"
        "  rbdgen cover ROBOT > capsules.toml                       one for each mesh\n"
        "  rbdgen cover ROBOT --cover mesh=capsules:3               at most three for each mesh\n"
        "  rbdgen cover ROBOT --capsules old.toml --shapes visual   those of a file, and others\n",
    )
    parser.add_argument("robot", metavar="ROBOT", help="a URDF, a xacro, an MJCF, or a bundled robot by name")
    add_robot_options(parser, pairs=False)
    parser.set_defaults(
        **distance_defaults() | {"pairs": "all"}
    )  # they are not printed, so none is proved never to meet
    return parser


def show_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "rbdgen show",
        "ROBOT ",
        "Writes one HTML file that shows a robot in 3D and runs its generated C in the browser.\n"
        "It needs no network and no server.\n\n"
        "  rbdgen show arm7 --open\n"
        "  rbdgen show quadruped12 --base floating --contact lf=front_left_shank:0,0,-0.2\n"
        "  rbdgen show ROBOT --pose shoulder=1.2,elbow=-0.4 -o robot.html\n",
    )
    parser.add_argument("robot", metavar="ROBOT", help="a URDF, a xacro, an MJCF, or a bundled robot by name")
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, help="write FILE (default ROBOT.html)")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "--pose",
        metavar="JOINT=VALUE,...",
        action="append",
        default=[],
        help="the positions of joints at the beginning, rad or m",
    )
    parser.add_argument(
        "-f",
        "--functions",
        metavar="NAME,NAME",
        action="append",
        default=[],
        help="further functions whose C and cost are shown",
    )
    parser.add_argument(
        "--triangles",
        metavar="N",
        type=int,
        default=24_000,
        help="the number of triangles to keep of all meshes together (default 24000)",
    )
    parser.add_argument("--no-shapes", action="store_true", help="draw a skeleton instead of the shapes")
    parser.add_argument(
        "--all", action="store_true", help="show the costs of all functions, which takes long"
    )
    parser.add_argument(
        "--figures",
        action="store_true",
        help="show flash and stack of a Cortex-M4F as well; needs arm-none-eabi-gcc",
    )
    add_robot_options(parser)
    return parser


def bounds_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "rbdgen bounds",
        "ROBOT ",
        "Bounds the values and the rounding errors of functions, in float and in double, over\n"
        "ranges of all inputs. Inputs without a range are within the limits of the joints.\n\n"
        "  rbdgen bounds arm7 -f rnea --range a=-20:20\n"
        "  rbdgen bounds arm7 -f rnea --range a=-20:20 --tighten 1000     tighter, slower\n"
        "  rbdgen bounds arm7 -f gravity --param 'mass:*' --range 'mass:*=+-10%'\n",
    )
    parser.add_argument("robot", metavar="ROBOT", help="a URDF, a xacro, an MJCF, or a bundled robot by name")
    parser.add_argument("--json", action="store_true", help="print JSON, with the bounds of every element")
    add_robot_options(parser)
    _add_function_options(parser)
    return parser


PARSERS: dict[str, Callable[[], argparse.ArgumentParser]] = {
    "guide": guide_parser,
    "generate": generate_parser,
    "list": list_parser,
    "inspect": inspect_parser,
    "check": check_parser,
    "prove": prove_parser,
    "bench": bench_parser,
    "inertia": inertia_parser,
    "equations": equations_parser,
    "show": show_parser,
    "cover": cover_parser,
    "bounds": bounds_parser,
    "cache": cache_parser,
    "completion": completion_parser,
}


def _add_folder_options(parser: argparse.ArgumentParser, name: str) -> None:
    """Adds the options for the folder to write."""
    parser.add_argument(
        "-o",
        "--out",
        metavar="DIR",
        type=Path,
        default=Path("generated"),
        help="write DIR/NAME (default generated)",
    )
    parser.add_argument("--name", help=f"the name of folder, C prefix and package (default {name})")
    parser.add_argument("--no-compile", action="store_true", help="write the C without compiling it")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument(
        "--ram",
        metavar="BYTES",
        type=int,
        help="refuse functions that need more RAM than this (default: the RAM of the target)",
    )


def _add_subject(parser: argparse.ArgumentParser) -> None:
    """Adds the argument for a folder or a robot, and the options of robots, which are refused for folders."""
    parser.add_argument(
        "subject",
        metavar="DIR|ROBOT",
        help="a generated folder, or a robot as for rbdgen",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_robot_options(parser, "the robot, if one is given")
    _add_function_options(parser, "the code, if a robot is given")


def _add_function_options(parser: argparse.ArgumentParser, title: str = "the code") -> None:
    defaults = Options()
    group = parser.add_argument_group(title)
    default = f"default {','.join(defaults.functions)}, and some of --frames, --contact"
    _add_code_options(group, f"which functions, see rbdgen list ({default})")
    group.add_argument(
        "--own",
        metavar="FILE.py",
        type=Path,
        help="run this file, which defines functions with rbdgen.function that -f may name (default: all)",
    )
    group.add_argument(
        "--together",
        metavar="NAME=FUNCTION,FUNCTION",
        action="append",
        default=[],
        help="also a function NAME with the results of these, which computes what they share once",
    )
    group.add_argument(
        "--trig",
        choices=TRIGS,
        default=defaults.trig,
        help="the source of sines and cosines: rbdgen's own, libm, or the caller (default builtin)",
    )
    group.add_argument(
        "--packed",
        action="store_true",
        help="matrices only hold elements that are not always 0, symmetric ones once; see the header",
    )
    group.add_argument(
        "--same-bits",
        action="store_true",
        help="batches give the bits of single calls, which takes them more operations for some functions",
    )
    named = "NAME_vjp, NAME_jvp and NAME_hvp"
    group.add_argument("--coordinates", action="store_true", help=f"{named} by the nq numbers of q, not nv")
    group.add_argument(
        "--variant",
        metavar="FUNCTION=FORM",
        action="append",
        default=[],
        help="use this form of a function, see rbdgen list --forms",
    )
    group.add_argument(
        "--no-savings", action="store_true", help="use the textbook's forms in the model's frames"
    )
    group.add_argument(
        "--param",
        metavar="NAME",
        action="append",
        default=[],
        help="parameters that stay inputs, such as mass:tool, 'ten:*', xyz:wrist, gravity; once for each",
    )
    group.add_argument(
        "--budget-operations",
        metavar="N",
        type=int,
        default=defaults.budget,
        help="refuse functions that take more operations when unrolled (default 2000000)",
    )
    group.add_argument(
        "--budget-flash",
        metavar="BYTES",
        type=int,
        help="use smaller, slower forms until the measured size of all functions fits into this flash",
    )
    add_emit_options(group)


def _add_code_options(group: argparse._ArgumentGroup, which: str) -> None:
    """Adds the options that apply to all generated code."""
    defaults = Options()
    group.add_argument("-f", "--functions", metavar="NAME,NAME", action="append", help=which)
    group.add_argument(
        "--real",
        choices=REALS,
        help="the type of numbers (default double; float if the target has no other)",
    )
    group.add_argument(
        "--target",
        default=defaults.target,
        help=f"the machine that runs the C: {', '.join(TARGETS)} (default host; wasm32: for web pages)",
    )
    group.add_argument(
        "--arch",
        default=defaults.arch,
        help="oldest processor: native (default), x86-64-v2, x86-64-v3, x86-64-v4, aarch64; or GPUs: sm_90",
    )
    group.add_argument(
        "--compiler",
        help="gcc, clang, or auto for the one that compiles a file to faster code (default: that of CC)",
    )
    group.add_argument(
        "--contract",
        action="store_true",
        help="let the compiler fuse products and sums, which changes the last bits",
    )
    group.add_argument(
        "--engine",
        choices=("casadi", "sympy", "graph"),
        default=defaults.engine,
        help="the library that traces the algorithms (default casadi)",
    )
