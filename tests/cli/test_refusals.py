"""The command line refuses by one line with status 2, and writes nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support import synthetic
from support.command import rbdgen as in_a_process
from support.robots import BUNDLED

from rbdgen.cli import main

PENDULUM = str(BUNDLED["double_pendulum"])


def lines(text: str) -> list[str]:
    return text.splitlines()


def status_of(arguments: list[str]) -> object:
    try:
        return main(arguments)
    except SystemExit as left:  # raised by argparse
        return left.code


def sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


@pytest.fixture
def files(here: Path) -> Path:
    """A folder with files that are no robots, and one for a robot that is too large."""
    Path("empty.urdf").touch()
    Path("folder.urdf").mkdir()
    Path("text.urdf").write_text("not a robot\n")
    Path("half.urdf").write_text(Path(PENDULUM).read_text()[:900])
    sparse(Path("huge.urdf"), 50 * 2**20)
    Path("long.urdf").write_text(synthetic.urdf(synthetic.chain(300)))
    return here


BAD: dict[str, tuple[list[str], str]] = {
    "options alone": (["-q"], "required"),
    "missing file": (["missing.urdf"], "missing.urdf"),
    "a folder": (["folder.urdf"], "folder.urdf"),
    "an empty file": (["empty.urdf"], "empty.urdf"),
    "50 MB": (["huge.urdf"], "huge.urdf"),
    "not XML": (["text.urdf"], "text.urdf:1: "),
    "cut off": (["half.urdf"], "half.urdf:"),
    "name with a line break": (["a\nb.urdf"], "b.urdf"),
    "unknown option": ([PENDULUM, "--fast"], "--fast"),
    "unknown function": ([PENDULUM, "-f", "rnea,gradient"], "unknown function 'gradient'"),
    "no function": ([PENDULUM, "-f", ","], "no function"),
    "function twice": ([PENDULUM, "-f", "rnea,rnea"], "twice"),
    "unknown target": ([PENDULUM, "--target", "abacus"], "abacus"),
    "unknown engine": ([PENDULUM, "--engine", "maple"], "maple"),
    "unknown real": ([PENDULUM, "--real", "half"], "half"),
    "unknown trig": ([PENDULUM, "--trig", "table"], "table"),
    "unknown base": ([PENDULUM, "--base", "hanging"], "hanging"),
    "unknown variant": ([PENDULUM, "--variant", "rnea=quick"], "no form 'quick'"),
    "variant of another function": ([PENDULUM, "-f", "rnea", "--variant", "aba=bias"], "'aba' is not among"),
    "variant without a form": ([PENDULUM, "--variant", "rnea"], "FUNCTION=FORM"),
    "snap that is no number": ([PENDULUM, "--snap", "much"], "much"),
    "snap out of range": ([PENDULUM, "--snap", "0.5"], "0.5"),
    "snap NaN": ([PENDULUM, "--snap", "nan"], "nan"),
    "an argument of a xacro without a name": ([PENDULUM, "--xacro-arg", "=1"], "NAME=VALUE"),
    "an argument of a URDF": ([PENDULUM, "--xacro-arg", "a=1"], "this takes no xacro arguments"),
    "an argument of a xacro twice": (
        [PENDULUM, "--xacro-arg", "a=1", "--xacro-arg", "a=2"],
        "already given 1",
    ),
    "a lock that is no number": ([PENDULUM, "--lock", "elbow=half"], "'half'; give JOINT=VALUE"),
    "a lock without a position": ([PENDULUM, "--lock", "elbow"], "JOINT=VALUE"),
    "a lock of no joint": ([PENDULUM, "--lock", "knee=1"], "no joint 'knee'"),
    "a root that is not there": ([PENDULUM, "--root", "a\nb"], r"no link 'a\nb'"),
    "a tip that is not there": (["check", PENDULUM, "--real", "float", "--tip", "x"], "no link 'x'"),
    "no budget": ([PENDULUM, "--budget-operations", "0"], "--budget-operations"),
    "beyond the budget": (["long.urdf", "-q"], "the budget is 2,000,000"),
    "name that is no identifier": ([PENDULUM, "--name", "a b"], "'a b'"),
    "empty name": ([PENDULUM, "--name", ""], "''"),
    "forms that contradict": (
        [PENDULUM, "--variant", "rnea=classical", "--variant", "rnea=newton_euler"],
        "already given classical",
    ),
    "function twice, in two options": ([PENDULUM, "-f", "rnea", "-f", "rnea"], "twice"),
    "name with a path": ([PENDULUM, "--name", "../up"], "'../up'"),
    "name that shadows a module": ([PENDULUM, "--name", "numpy"], "'numpy'"),
    "an output folder under a file": (
        [PENDULUM, "-f", "rnea", "-q", "-o", "text.urdf/x"],
        "choose another folder",
    ),
    "list: missing file": (["list", "--counts", "missing.urdf"], "missing.urdf"),
    "list: a base of no robot": (
        ["list", "--base", "floating"],
        "--base is an option of a robot",
    ),
    "list: a snap of no robot": (["list", "--snap", "0"], "--snap is an option of a robot"),
    "list: a contact of no robot": (["list", "--contact", "tip"], "list: --contact is an option of a robot"),
    "list: unknown option": (["list", "--all"], "--all"),
    "inspect: a folder": (["inspect", "folder.urdf"], "folder.urdf"),
    "inspect: nothing": (["inspect"], "required"),
    "check: missing folder": (["check", "missing"], "missing"),
    "check: a file": (["check", "text.urdf"], "text.urdf"),
    "check: an empty folder": (["check", "folder.urdf"], "generate it again"),
    "check: a robot of another machine": (["check", PENDULUM, "--target", "rv32imafc"], "--target host"),
    "check: a missing folder's path": (["check", "generated/arm7"], "no such folder; write it with rbdgen"),
    "check: a folder with a type": (["check", "folder.urdf", "--real", "float"], "give the robot"),
    "check: a folder's name": (["check", PENDULUM, "--name", "a"], "--name"),
    "list: both": (["list", "--forms", "--counts", PENDULUM], "not allowed"),
    "check: a missing robot": (["check", "missing.urdf", "--real", "float"], "missing.urdf"),
    "check: no robot": (["check", "text.urdf", "--real", "float"], "text.urdf:1: "),
    "check: no angles": (["check", PENDULUM, "--real", "float", "--trig", "input"], "--trig builtin"),
    "check: another machine": (
        ["check", PENDULUM, "--real", "float", "--target", "cortex-m7"],
        "--target host",
    ),
    "bench: missing": (["bench", "missing.urdf"], "missing.urdf"),
    "bench: an empty folder": (["bench", "folder.urdf"], "generate it again"),
    "bench: a folder with options": (["bench", "folder.urdf", "--target", "portable"], "--target cannot"),
    "check: a folder with functions": (["check", "folder.urdf", "-f", "aba"], "--functions cannot change"),
    "bench: another machine": (
        ["bench", PENDULUM, "--real", "float", "--target", "cortex-m4f"],
        "does not run on this machine",
    ),
    "an argument of two lines": ([PENDULUM, "--base", "a\nb"], "--base"),
    "a processor without compiling": ([PENDULUM, "--no-compile", "--arch", "z80"], "--arch z80"),
    "equations: unknown function": (
        ["equations", PENDULUM, "-f", "aba"],
        "choose from: crba, coriolis, grav",
    ),
    "equations: no function": (["equations", PENDULUM, "-f", ","], "no function is asked for"),
    "equations: function twice": (["equations", PENDULUM, "-f", "crba,crba"], "asked for twice"),
    "equations: unknown symbols": (["equations", PENDULUM, "--symbols", "mass"], "choose from: masses, len"),
    "equations: unknown format": (["equations", PENDULUM, "--format", "pdf"], "pdf"),
    "equations: missing file": (["equations", "missing.urdf"], "missing.urdf"),
    "equations: too large": (["equations", "arm7"], "terms; make fewer numbers symbols"),
    "equations: no budget": (["equations", PENDULUM, "--budget-terms", "0"], "a budget of 0 terms"),
    "equations: a folder as output": (["equations", PENDULUM, "-o", "folder.urdf"], "is not a file; choose"),
    "equations: the robot as output": (["equations", PENDULUM, "-o", PENDULUM], "is the robot itself"),
    "equations: a device as output": (["equations", PENDULUM, "-o", "/dev/null"], "/dev/null: is not a file"),
    "equations: output in no folder": (["equations", PENDULUM, "-o", "no/where.tex"], "choose another file"),
    "equations: output of no name": (["equations", PENDULUM, "-o", "a\0b"], "choose another file"),
    "equations: a floating base": (["equations", PENDULUM, "--base", "floating"], "-f crba,gravity, or nle"),
    "bench: unknown function": (["bench", PENDULUM, "-f", "gradient"], "unknown function 'gradient'"),
}


@pytest.mark.parametrize("what", BAD)
def test_one_line_status_2_nothing_written(
    what: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(files.rglob("*"))
    arguments, fragment = BAD[what]
    status = status_of(arguments)
    printed = capsys.readouterr()
    (line,) = lines(printed.err)
    assert line.startswith("rbdgen: error: ")
    assert fragment in line
    assert (status, printed.out) == (2, "")
    assert sorted(files.rglob("*")) == before


def test_the_process_says_the_same(files: Path) -> None:
    done = in_a_process("missing.urdf", cwd=files)
    assert (done.returncode, done.stdout, len(lines(done.stderr))) == (2, "", 1)
    assert done.stderr.startswith("rbdgen: error: missing.urdf: ")


def test_no_compiler(files: Path) -> None:
    done = in_a_process(PENDULUM, "-f", "rnea", "-q", cwd=files, CC="/no/such/cc")
    assert done.returncode == 2
    assert "apt install gcc python3-dev" in done.stderr
    assert len(lines(done.stderr)) == 1
    assert not (files / "generated").exists()


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_stream(closed: str, here: Path) -> None:
    arguments = [sys.executable, "-m", "rbdgen.cli", "inspect", PENDULUM]
    number = 1 if closed == "stdout" else 2
    program = f"import os; os.close({number}); os.execv({sys.executable!r}, {arguments!r})"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    if closed == "stdout":
        told = "rbdgen: error: the output cannot be written (it is closed)\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", told)
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert "nq 2" in done.stdout


def test_a_cache_without_a_home_is_a_warning_of_one_line(here: Path) -> None:
    done = in_a_process(PENDULUM, "-f", "gravity", "-q", cwd=here, RBDGEN_CACHE="~nosuchuser/x")
    (line,) = lines(done.stderr)
    assert (done.returncode, line.startswith("rbdgen: warning: the cache ~nosuchuser/x cannot be used")) == (
        0,
        True,
    )
