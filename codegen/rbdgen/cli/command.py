"""The commands of the command line: each converts its arguments, calls the pipeline and prints the result."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rbdgen.cli.arguments import (
    inertia_options_of,
    names_of,
    options_of,
    own_of,
    positions_of,
    refuse_others,
    robot_of,
)
from rbdgen.cli.listing import run_list
from rbdgen.cli.mistakes import in_own_file, no_command
from rbdgen.cli.no_robot import run_cache
from rbdgen.cli.parser import FAILED
from rbdgen.cli.parsers import GUIDE, MORE, PARSERS
from rbdgen.errors import OptionError, RbdgenError
from rbdgen.options import BOUNDS, Options
from rbdgen.pipeline.shown import say, shown_on

if TYPE_CHECKING:
    from rich.console import Console

    from rbdgen.pipeline.written import Generated

COMMANDS = (
    "list",
    "inspect",
    "check",
    "prove",
    "bench",
    "bounds",
    "inertia",
    "equations",
    "show",
    "cover",
    "cache",
    "completion",
)
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status: 0, or 2 after one line that says what is wrong.

    `check` and `prove` return 1 if a check failed or a proof is missing, and an interrupted
    command returns 130.
    """
    if sys.stderr is None:  # closed: print() would write to standard output instead
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  (until the process ends)
    if sys.stdout is None:
        print("rbdgen: error: the output cannot be written (it is closed)", file=sys.stderr)
        return FAILED
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = "generate" if given else "guide"
    if given and given[0] in COMMANDS:
        command = given.pop(0)
    elif complaint := no_command(given, COMMANDS):
        print(f"rbdgen: error: {complaint}", file=sys.stderr)
        return FAILED
    parsed = PARSERS[command]().parse_args(given)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            status = _RUN[command](parsed)
        sys.stdout.flush()
        return status
    except RbdgenError as error:
        print(f"rbdgen: error: {' '.join(error.in_shell.split())}", file=sys.stderr)
        return FAILED
    except OSError as error:  # from standard output: all others have become an RbdgenError
        print(f"rbdgen: error: the output cannot be written ({error.strerror})", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discards buffered output
        return FAILED
    except KeyboardInterrupt:
        print("rbdgen: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        complaint = in_own_file(error, getattr(parsed, "own", None))
        if complaint is None:
            raise
        print(f"rbdgen: error: {' '.join(complaint.split())}", file=sys.stderr)
        return FAILED


def _guide(_: argparse.Namespace) -> int:
    """Prints a short guide if no arguments are given."""
    print(GUIDE, MORE, sep="\n", end="")
    return 0


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Prints a warning as one line, without its place in Python. The arguments are those of `showwarning`."""
    print(f"rbdgen: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _check_compiled(parsed: argparse.Namespace, options: Options) -> None:
    """Raises OptionError for a compiler that would not be used. A budget of flash is measured by one."""
    if parsed.no_compile and options.compiler is not None and options.budget_flash is None:
        raise OptionError("--compiler: --no-compile compiles nothing; leave one of them out")


def _generate(parsed: argparse.Namespace) -> int:
    options = options_of(parsed)
    _check_compiled(parsed, options)
    from rbdgen.cli import tables  # noqa: PLC0415  (heavy imports only once the arguments are sound)
    from rbdgen.own.asked import compositions  # noqa: PLC0415
    from rbdgen.pipeline.facts import warnings_of  # noqa: PLC0415
    from rbdgen.pipeline.page import generate  # noqa: PLC0415

    robot = robot_of(parsed, parsed.robot)
    console, errors = tables.consoles(quiet=parsed.quiet)
    tables.warn(errors, tables.folded(warnings_of(robot, options)))
    _tell_real(parsed, options, errors)
    with shown_on(errors) as done:
        own = compositions(own_of(parsed, robot), options.functions, robot)
        result = generate(robot, options, parsed.out, compiled=not parsed.no_compile, progress=done, own=own)
    _tell_generated(result, console)
    return 0


def _inertia(parsed: argparse.Namespace) -> int:
    options = inertia_options_of(parsed)
    _check_compiled(parsed, options)
    from rbdgen.cli import tables  # noqa: PLC0415
    from rbdgen.pipeline.inertia import generate_inertia  # noqa: PLC0415

    console, errors = tables.consoles(quiet=parsed.quiet)
    _tell_real(parsed, options, errors)
    with shown_on(errors) as done:
        result = generate_inertia(options, parsed.out, compiled=not parsed.no_compile, progress=done)
    _tell_generated(result, console)
    return 0


def _tell_real(parsed: argparse.Namespace, options: Options, errors: Console) -> None:
    """Says which type of numbers is used if the target, rather than the user, determines it."""
    if parsed.real is None and options.real != Options().real:
        why = (
            "a GPU is faster in it"
            if options.target == "cuda"
            else f"{options.target} has no hardware for another type"
        )
        say(errors, f"computes in {options.real}: {why}")


def _tell_generated(result: Generated, console: Console) -> None:
    """Prints the table of the functions and the folder that were written."""
    from rbdgen.cli import tables  # noqa: PLC0415

    console.print(tables.generation_table(result.manifest["functions"]))
    console.print(f"wrote {result.folder}", markup=False, highlight=False, soft_wrap=True)


def _inspect(parsed: argparse.Namespace) -> int:
    from rbdgen.cli import tables  # noqa: PLC0415
    from rbdgen.cli.facts import robot_as_json  # noqa: PLC0415
    from rbdgen.pipeline.facts import warnings_of  # noqa: PLC0415
    from rbdgen.show.plausible import implausible  # noqa: PLC0415

    console, errors = tables.consoles()
    robot = robot_of(parsed, parsed.robot)
    compared, unread = implausible(robot)
    warned = (*warnings_of(robot), *compared)
    if parsed.json:
        print(json.dumps(robot_as_json(robot, warned), indent=1))
    else:
        tables.inspect(console, robot, warned)
    if unread:
        told = f"inertias are not compared with shapes that cannot be read ({len(unread)})"
        say(errors, f"{told}, such as {unread[0]}")
    return 0


def _is_folder(command: str, parsed: argparse.Namespace) -> bool:
    """Whether the argument is a folder, not a robot.

    Raises OptionError if the folder does not exist, or if options are given that only a robot takes.
    """
    path = Path(parsed.subject)
    if path.is_dir():
        why = "cannot change a folder; give the robot instead"
        refuse_others(command, parsed, ["subject", "json"], why)
        return True
    if path.parent != Path() and not path.suffix and not path.exists():
        raise OptionError(f"{path}: no such folder; write it with rbdgen ROBOT")
    return False


def _check(parsed: argparse.Namespace) -> int:
    from rbdgen.checks.check import STATES, check, check_robot  # noqa: PLC0415
    from rbdgen.cli import tables  # noqa: PLC0415

    console, errors = tables.consoles()
    if _is_folder("check", parsed):
        findings = check(Path(parsed.subject))
    elif parsed.real == "float":
        return _check_float(parsed)
    else:
        options = options_of(parsed)
        robot = robot_of(parsed, parsed.subject)
        tables.warn(errors, tables.folded(robot.warnings))
        with shown_on(errors) as done:
            findings = check_robot(robot, options, done, own_of(parsed, robot))
    if parsed.json:
        print(json.dumps([finding.as_json() for finding in findings], indent=1))
    else:
        console.print(tables.findings_table(findings))
        say(console, tables.findings_told(findings, STATES))
    return 1 if any(finding.passed is False for finding in findings) else 0


def _check_float(parsed: argparse.Namespace) -> int:
    """Prints the relative error of every function in float, without a verdict."""
    options = options_of(parsed)
    from rbdgen.checks.accuracy import STATES, float_accuracy  # noqa: PLC0415
    from rbdgen.cli import tables  # noqa: PLC0415

    robot = robot_of(parsed, parsed.subject)
    console, errors = tables.consoles()
    tables.warn(errors, tables.folded(robot.warnings))
    with shown_on(errors) as done:
        rows = float_accuracy(robot, options, STATES, done, own_of(parsed, robot))
    if parsed.json:
        print(json.dumps([row.as_json() for row in rows], indent=1))
    else:
        console.print(tables.accuracy_table(rows, STATES))
    return 0


def _prove(parsed: argparse.Namespace) -> int:
    """Returns 1 if a function is not proved."""
    from rbdgen.cli import tables  # noqa: PLC0415
    from rbdgen.own.asked import compositions  # noqa: PLC0415
    from rbdgen.prove.prove import prove, prove_robot  # noqa: PLC0415

    console, errors = tables.consoles()
    if _is_folder("prove", parsed):
        with shown_on(errors) as done:
            proofs = prove(Path(parsed.subject), progress=done)
    else:
        options = options_of(parsed)
        robot = robot_of(parsed, parsed.subject)
        tables.warn(errors, tables.folded(robot.warnings))
        with shown_on(errors) as done:
            own = compositions(own_of(parsed, robot), options.functions, robot)
            proofs = prove_robot(robot, options, done, own)
    if parsed.json:
        print(json.dumps([proof.as_json() for proof in proofs], indent=1))
    else:
        console.print(tables.proofs_table(proofs))
    return 0 if all(proof.proved for proof in proofs) else 1


def _bench(parsed: argparse.Namespace) -> int:
    from rbdgen.checks.timing import time_library  # noqa: PLC0415
    from rbdgen.cli import tables  # noqa: PLC0415
    from rbdgen.own.asked import compositions  # noqa: PLC0415
    from rbdgen.pipeline.page import build_library  # noqa: PLC0415
    from rbdgen.runtime import open_library  # noqa: PLC0415

    console, errors = tables.consoles()
    if _is_folder("bench", parsed):
        library = open_library(Path(parsed.subject))
    else:
        options = options_of(parsed)
        robot = robot_of(parsed, parsed.subject)
        tables.warn(errors, tables.folded(robot.warnings))
        with shown_on(errors) as done:
            own = compositions(own_of(parsed, robot), options.functions, robot)
            library = build_library(robot, options, done, own=own)
    times = time_library(library)
    if parsed.json:
        print(json.dumps([time.as_json() for time in times], indent=1))
    else:
        console.print(tables.times_table(times))
    return 0


def _check_out(parsed: argparse.Namespace) -> None:
    """Raises OptionError if the file to be written is the robot's own."""
    files = [path for path in (parsed.out, Path(parsed.robot)) if path is not None and path.exists()]
    if len(files) == 2 and files[0].samefile(files[1]):
        raise OptionError(f"{parsed.out}: is the robot itself; choose another file with -o")


def _equations(parsed: argparse.Namespace) -> int:
    from rbdgen.cli import tables  # noqa: PLC0415
    from rbdgen.emit.write import write_file  # noqa: PLC0415
    from rbdgen.formulas.equations import equations_of  # noqa: PLC0415

    robot = robot_of(parsed, parsed.robot)
    _check_out(parsed)
    _, errors = tables.consoles()
    tables.warn(errors, tables.folded(robot.warnings))
    functions = None if parsed.functions is None else names_of(parsed.functions)
    equations = equations_of(robot, functions, parsed.symbols, parsed.budget_terms)
    document = getattr(equations, parsed.format)()
    if parsed.out is None:
        print(document, end="")
    else:
        write_file(parsed.out, document)
    return 0


def _bounds(parsed: argparse.Namespace) -> int:
    parsed.emit = [*parsed.emit, BOUNDS]
    options = options_of(parsed)
    from rbdgen.cli import tables  # noqa: PLC0415
    from rbdgen.own.asked import compositions  # noqa: PLC0415
    from rbdgen.pipeline.bounded import bounded  # noqa: PLC0415
    from rbdgen.pipeline.request import Request  # noqa: PLC0415

    robot = robot_of(parsed, parsed.robot)
    console, errors = tables.consoles()
    tables.warn(errors, tables.folded(robot.warnings))
    with shown_on(errors) as done:
        own = compositions(own_of(parsed, robot), options.functions, robot)
        found = bounded(Request(robot, options, own=own), options.ranges, options.tighten, done)
    if parsed.json:
        print(json.dumps([bounds.as_json() for bounds in found], indent=1))
    else:
        console.print(tables.bounds_table(found))
    return 0


def _completion(parsed: argparse.Namespace) -> int:
    from rbdgen.cli.completion import script  # noqa: PLC0415

    print(script(parsed.shell, COMMANDS, PARSERS), end="")
    return 0


def _show(parsed: argparse.Namespace) -> int:
    from rbdgen.cli import tables  # noqa: PLC0415
    from rbdgen.emit.names import robot_identifier  # noqa: PLC0415
    from rbdgen.show.page import page_of  # noqa: PLC0415

    robot = robot_of(parsed, parsed.robot)
    _check_out(parsed)
    _, errors = tables.consoles()
    tables.warn(errors, tables.folded(robot.warnings))
    with shown_on(errors) as done:
        page = page_of(
            robot,
            pose=positions_of("--pose", names_of(parsed.pose)),
            functions=names_of(parsed.functions),
            triangles=parsed.triangles,
            shapes=not parsed.no_shapes,
            all=parsed.all,
            figures=parsed.figures,
            progress=done,
        )
    tables.warn(errors, page.missing)
    file = page.save(parsed.out or Path(f"{robot_identifier(robot.name)}.html"))
    print(f"wrote {file}")
    if parsed.open:
        webbrowser.open(file.resolve().as_uri())
    return 0


def _cover(parsed: argparse.Namespace) -> int:
    from rbdgen.cli import tables  # noqa: PLC0415
    from rbdgen.description.shapes.covers.capsules_file import written  # noqa: PLC0415

    if not any(text.startswith("mesh=") for text in parsed.cover):
        parsed.cover = [*parsed.cover, "mesh=capsules:1"]
    robot = robot_of(parsed, parsed.robot)
    _, errors = tables.consoles()
    tables.warn(errors, tables.folded(robot.warnings))
    print(written(robot.description.distances.capsules), end="")
    return 0


_RUN: dict[str, Callable[[argparse.Namespace], int]] = {
    "guide": _guide,
    "generate": _generate,
    "list": run_list,
    "inspect": _inspect,
    "check": _check,
    "prove": _prove,
    "bench": _bench,
    "bounds": _bounds,
    "inertia": _inertia,
    "equations": _equations,
    "show": _show,
    "cover": _cover,
    "cache": run_cache,
    "completion": _completion,
}
