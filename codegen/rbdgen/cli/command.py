"""The command line: arguments -> pipeline -> report; no logic of its own."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rbdgen.errors import OptionError, RbdgenError
from rbdgen.machine import REALS
from rbdgen.options import TRIGS, Options
from rbdgen.version import __version__

if TYPE_CHECKING:
    from rbdgen.model.build import Robot

COMMANDS = ("list", "inspect", "check", "bench")
FAILED = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status: 0, or 2 after one line that says what is wrong."""
    if sys.stderr is None:  # closed: print() would turn to standard output
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  (until the process ends)
    if sys.stdout is None:
        print("rbdgen: error: the output cannot be written (it is closed)", file=sys.stderr)
        return FAILED
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = given[0] if given and given[0] in COMMANDS else "generate"
    parser, run = _PARSERS[command]()
    parsed = parser.parse_args(given if command == "generate" else given[1:])
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            status = run(parsed)
        sys.stdout.flush()
        return status
    except RbdgenError as error:
        print(f"rbdgen: error: {' '.join(str(error).split())}", file=sys.stderr)
        return FAILED
    except OSError as error:  # of standard output: all others have become an RbdgenError
        print(f"rbdgen: error: the output cannot be written ({error.strerror})", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is buffered has nowhere to go
        return FAILED
    except KeyboardInterrupt:
        print("rbdgen: interrupted", file=sys.stderr)
        return INTERRUPTED


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as one line, without the Python that gave it; the arguments are those of `showwarning`."""
    print(f"rbdgen: warning: {' '.join(str(message).split())}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as all errors do."""

    def error(self, message: str) -> None:  # type: ignore[override]
        print(f"rbdgen: error: {' '.join(message.split())}; see {self.prog} --help", file=sys.stderr)
        raise SystemExit(FAILED)


_Run = Callable[[argparse.Namespace], int]
_Made = tuple[argparse.ArgumentParser, _Run]


def _generate_parser() -> _Made:
    parser = _Parser(
        prog="rbdgen",
        description="Rigid-body dynamics from a URDF as plain C99 and as fast Python callables.",
        epilog=f"Other commands: {', '.join(COMMANDS)}; see rbdgen COMMAND --help.",
    )
    parser.add_argument("robot", metavar="ROBOT.urdf", type=Path)
    parser.add_argument("-o", "--out", metavar="DIR", type=Path, default=Path("generated"))
    parser.add_argument("--no-compile", action="store_true", help="write the C only")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument("--version", action="version", version=f"rbdgen {__version__}")
    _add_robot_options(parser)
    _add_function_options(parser)
    return parser, _generate


def _add_robot_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base", choices=("fixed", "floating"), default="fixed")
    parser.add_argument(
        "--snap",
        metavar="TOL",
        type=float,
        default=1e-9,
        help="entries of fixed rotations this close to 0 become 0 (default 1e-9; 0: none)",
    )
    parser.add_argument(
        "--xacro-arg",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="an argument of a xacro; give the option once for each",
    )
    parser.add_argument(
        "--lock",
        metavar="JOINT=VALUE",
        action="append",
        default=[],
        help="keep a joint fixed at this position, rad or m; give the option once for each",
    )
    parser.add_argument("--root", metavar="LINK", help="take only what this link carries")
    parser.add_argument(
        "--tip", metavar="LINK", help="take only the chain from the root to this link, no branches"
    )


def _add_function_options(parser: argparse.ArgumentParser) -> None:
    defaults = Options()
    parser.add_argument(
        "-f",
        "--functions",
        metavar="NAME,NAME",
        action="append",
        help=f"which functions (rbdgen list shows all; default {','.join(defaults.functions)})",
    )
    parser.add_argument("--real", choices=REALS, default=defaults.real)
    parser.add_argument("--name", help="name of the folder, the C prefix and the Python package")
    parser.add_argument("--engine", choices=("casadi", "sympy", "graph"), default=defaults.engine)
    parser.add_argument(
        "--trig", choices=TRIGS, default=defaults.trig, help="where sines and cosines come from"
    )
    parser.add_argument(
        "--target", default=defaults.target, help="the machine that runs the C (default host)"
    )
    parser.add_argument(
        "--variant",
        metavar="FUNCTION=FORM",
        action="append",
        default=[],
        help="force a form of a function (rbdgen list shows them)",
    )
    parser.add_argument(
        "--no-savings", action="store_true", help="the textbook's forms in the model's frames"
    )
    parser.add_argument(
        "--contract", action="store_true", help="let the compiler fuse products and sums: other last bits"
    )
    parser.add_argument(
        "--arch",
        default=defaults.arch,
        help="least processor to run on: native, x86-64-v2, x86-64-v3, x86-64-v4 or aarch64",
    )
    parser.add_argument(
        "--ram",
        metavar="BYTES",
        type=int,
        help="refuse functions whose stack and arguments take more on a small target (default: its part's)",
    )
    parser.add_argument(
        "--budget-flash",
        metavar="BYTES",
        type=int,
        help="smaller forms, that take more instructions, until all functions fit (measured, so compiled)",
    )
    parser.add_argument(
        "--budget-operations",
        metavar="N",
        type=int,
        default=defaults.budget,
        help="refuse functions that unrolled would take more (default 2000000)",
    )


def _options(parsed: argparse.Namespace) -> Options:
    asked = Options().functions if parsed.functions is None else ",".join(parsed.functions).split(",")
    return Options(
        functions=tuple(name.strip() for name in asked if name.strip()),
        name=parsed.name,
        real=parsed.real,
        trig=parsed.trig,
        target=parsed.target,
        engine=parsed.engine,
        variants=_pairs("--variant", parsed.variant, "FUNCTION=FORM"),
        savings=not parsed.no_savings,
        contract=parsed.contract,
        arch=parsed.arch,
        budget=parsed.budget_operations,
        ram=parsed.ram,
        budget_flash=parsed.budget_flash,
    )


def _pairs(option: str, texts: Sequence[str], form: str = "NAME=VALUE") -> dict[str, str]:
    """The values of an option that is given once for each name."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise OptionError(f"{option} {text}: not of the form {form}; see rbdgen --help")
        if values.setdefault(name, value) != value:
            raise OptionError(f"{option} {text}: '{name}' is already given {values[name]}; keep one")
    return values


def _robot(parsed: argparse.Namespace) -> Robot:
    from rbdgen.pipeline.robot import load_robot  # noqa: PLC0415

    return load_robot(
        parsed.robot,
        parsed.base,
        parsed.snap,
        xacro_args=_pairs("--xacro-arg", parsed.xacro_arg),
        lock=_positions(parsed.lock),
        root=parsed.root,
        tip=parsed.tip,
    )


def _positions(texts: Sequence[str]) -> dict[str, float]:
    """Positions of joints by name."""
    try:
        return {joint: float(text) for joint, text in _pairs("--lock", texts, "JOINT=VALUE").items()}
    except ValueError as error:
        raise OptionError(f"--lock: {error}; give JOINT=VALUE, in rad or m") from None


def _generate(parsed: argparse.Namespace) -> int:
    options = _options(parsed)
    from rbdgen.cli import tables  # noqa: PLC0415  (heavy imports only once the arguments are sound)
    from rbdgen.pipeline.facts import warnings_of  # noqa: PLC0415
    from rbdgen.pipeline.page import generate  # noqa: PLC0415

    robot = _robot(parsed)
    console, errors = tables.consoles(quiet=parsed.quiet)
    tables.warn(errors, tables.folded(warnings_of(robot, options)))
    with tables.progress(errors, 2 * len(options.functions) + 1) as done:
        result = generate(robot, options, parsed.out, compiled=not parsed.no_compile, progress=done)
    console.print(tables.generation_table(result.manifest["functions"]))
    console.print(f"wrote {result.folder}", markup=False, highlight=False, soft_wrap=True)
    return 0


def _refuse_design_options(parsed: argparse.Namespace, command: str) -> None:
    """`OptionError` where a folder, which was designed with its own options, is given others."""
    parser, _ = _PARSERS[command]()
    for option, value in vars(parsed).items():
        if option not in ("subject", "json") and value != parser.get_default(option):
            raise OptionError(
                f"{command} {parsed.subject}: --{option.replace('_', '-')} cannot change a folder; "
                "give the URDF"
            )


def _list_parser() -> _Made:
    parser = _Parser(prog="rbdgen list", description="Every function: inputs, outputs, shapes, units, forms.")
    parser.add_argument(
        "--counts", metavar="ROBOT.urdf", dest="robot", type=Path, help="operations for a robot instead"
    )
    _add_robot_options(parser)
    return parser, _list


def _list(parsed: argparse.Namespace) -> int:
    from rbdgen.cli import tables  # noqa: PLC0415

    console, errors = tables.consoles()
    if parsed.robot is None:
        _refuse_robot_options(parsed)
        console.print(tables.catalogue_table())
        return 0
    from rbdgen.functions.table import TABLE  # noqa: PLC0415
    from rbdgen.pipeline.design import count  # noqa: PLC0415

    with tables.progress(errors, len(TABLE) + 1) as done:
        counted = count(_robot(parsed), tuple(TABLE), done)
    console.print(tables.counts_table(counted))
    return 0


def _refuse_robot_options(parsed: argparse.Namespace) -> None:
    """`OptionError` where the table of all functions is asked for, and options of a robot are given."""
    parser, _ = _list_parser()
    for option in ("base", "snap"):
        if getattr(parsed, option) != parser.get_default(option):
            raise OptionError(f"list --{option}: is of a robot; name it with --counts ROBOT.urdf")


def _inspect_parser() -> _Made:
    parser = _Parser(prog="rbdgen inspect", description="The tree, indices, masses, merged links, warnings.")
    parser.add_argument("robot", metavar="ROBOT.urdf", type=Path)
    _add_robot_options(parser)
    return parser, _inspect


def _inspect(parsed: argparse.Namespace) -> int:
    from rbdgen.cli import tables  # noqa: PLC0415
    from rbdgen.pipeline.facts import warnings_of  # noqa: PLC0415

    console, _ = tables.consoles()
    robot = _robot(parsed)
    tables.inspect(console, robot, warnings_of(robot))
    return 0


def _check_parser() -> _Made:
    parser = _Parser(
        prog="rbdgen check",
        description="DIR: recompile, run the emitted self-test and the identities, compare with Pinocchio. "
        "ROBOT.urdf --real float: the relative error of every function in float, against double.",
    )
    parser.add_argument("subject", metavar="DIR|ROBOT.urdf", type=Path)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    _add_robot_options(parser)
    _add_function_options(parser)
    return parser, _check


def _check(parsed: argparse.Namespace) -> int:
    if parsed.subject.suffix == ".urdf" and not parsed.subject.is_dir():
        return _check_float(parsed)
    from rbdgen.checks.check import check  # noqa: PLC0415
    from rbdgen.cli import tables  # noqa: PLC0415

    if parsed.real != Options().real:
        raise OptionError(
            f"check {parsed.subject} --real {parsed.real}: a folder has one type; give the URDF for both"
        )
    console, _ = tables.consoles()
    _refuse_design_options(parsed, "check")
    findings = check(parsed.subject)
    if parsed.json:
        print(json.dumps([finding.as_json() for finding in findings], indent=1))
    else:
        console.print(tables.findings_table(findings))
    return 0 if all(finding.passed for finding in findings) else 1


def _check_float(parsed: argparse.Namespace) -> int:
    """What float costs: a report, no verdict."""
    options = _options(parsed)
    if options.real != "float":
        raise OptionError(
            f"check {parsed.subject}: add --real float to compare it with double, or give a generated folder"
        )
    from rbdgen.checks.accuracy import STATES, float_accuracy  # noqa: PLC0415
    from rbdgen.cli import tables  # noqa: PLC0415

    parsed.robot = parsed.subject
    robot = _robot(parsed)
    console, errors = tables.consoles()
    tables.warn(errors, tables.folded(robot.warnings))
    with tables.progress(errors, 2 * (2 * len(options.functions) + 1)) as done:
        rows = float_accuracy(robot, options, STATES, done)
    if parsed.json:
        print(json.dumps([row.as_json() for row in rows], indent=1))
    else:
        console.print(tables.accuracy_table(rows, STATES))
    return 0


def _bench_parser() -> _Made:
    parser = _Parser(prog="rbdgen bench", description="Times a call and in batches; operation counts.")
    parser.add_argument("subject", metavar="DIR|ROBOT.urdf", type=Path)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    _add_robot_options(parser)
    _add_function_options(parser)
    return parser, _bench


def _bench(parsed: argparse.Namespace) -> int:
    from rbdgen.checks.timing import time_library  # noqa: PLC0415
    from rbdgen.cli import tables  # noqa: PLC0415
    from rbdgen.pipeline.page import build_library  # noqa: PLC0415
    from rbdgen.runtime import open_library  # noqa: PLC0415

    console, errors = tables.consoles()
    if parsed.subject.is_dir():
        _refuse_design_options(parsed, "bench")
        library = open_library(parsed.subject)
    else:
        parsed.robot = parsed.subject
        options = _options(parsed)
        with tables.progress(errors, 2 * len(options.functions) + 1) as done:
            library = build_library(_robot(parsed), options, done)
    times = time_library(library)
    if parsed.json:
        print(json.dumps([time.as_json() for time in times], indent=1))
    else:
        console.print(tables.times_table(times))
    return 0


_PARSERS: dict[str, Callable[[], _Made]] = {
    "generate": _generate_parser,
    "list": _list_parser,
    "inspect": _inspect_parser,
    "check": _check_parser,
    "bench": _bench_parser,
}
