"""Misspelled commands and options, and completion of the existing ones."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rbdgen.cli import main
from rbdgen.cli.command import COMMANDS
from rbdgen.cli.completion import GENERATE, options_of, script
from rbdgen.cli.parsers import PARSERS


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The line that the command line prints when it refuses arguments."""
    try:
        status = main(words)
    except SystemExit as end:
        status = int(str(end.code))
    printed = capsys.readouterr()
    assert status == 2
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err.removeprefix("rbdgen: error: ").strip()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("benchmark arm7", "there is no command or robot 'benchmark'; did you mean rbdgen bench?"),
        ("lst", "there is no command or robot 'lst'; did you mean rbdgen list?"),
        ("shw arm7", "there is no command or robot 'shw'; did you mean rbdgen show?"),
        ("xyzw arm7", "there is no command 'xyzw'; there are list, inspect, "),
        ("arm6", "arm6: no such file, and no bundled robot; did you mean arm7?"),
        ("arm7 --floating", "there is no option --floating; take --base floating; see rbdgen --help"),
        ("arm7 --output x", "there is no option --output; take -o; see rbdgen --help"),
        ("arm7 --freams x", "there is no option --freams; did you mean --frames"),
        ("arm7 --qqqqqqq", "there is no option --qqqqqqq; leave it out; see rbdgen --help"),
        (
            "arm7 -f rnea aba crba",
            "unrecognized arguments: aba crba; names stand in one list: -f rnea,aba,crba",
        ),
        ("inspect arm7 x", "unrecognized arguments: x; leave them out; see rbdgen inspect --help"),
        ("cache empty", "invalid choice: 'empty'"),
        ("completion tcsh", "invalid choice: 'tcsh'"),
    ],
)
def test_what_is_meant(words: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told in said(words.split(), capsys)


def test_a_file_without_an_ending_is_a_robot_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bnch").write_text("<robot")
    assert "not XML" in said(["bnch"], capsys)


def test_a_folder_one_too_high(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["double_pendulum", "-q", "--no-compile", "-f", "gravity", "-o", str(out)]) == 0
    for command in ("check", "bench"):
        told = said([command, str(out)], capsys)
        assert told == f"{out}: not a generated folder itself; choose {out}/double_pendulum"
    assert "is not compiled" in said(["bench", str(out / "double_pendulum")], capsys).replace(
        "has not been compiled; generate it without --no-compile", "is not compiled"
    )


def test_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rbdgen", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("rbdgen ")


def completed(words: str) -> list[str]:
    """The words that bash offers for the last word."""
    program = f"""{script("bash", COMMANDS, PARSERS)}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _rbdgen; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("rbdgen in", ["inspect", "inertia"]),
        ("rbdgen arm7 --ba", ["--base"]),
        ("rbdgen arm7 --base f", ["fixed", "floating"]),
        ("rbdgen arm7 -f rnea,ab", None),
        ("rbdgen inspect hum", ["humanoid30"]),
        ("rbdgen inertia -f rot", ["rotated"]),
        ("rbdgen completion z", ["zsh"]),
        ("rbdgen cache c", ["clear"]),
        ("rbdgen arm7 --target cortex-m5", ["cortex-m55"]),
        ("rbdgen list --for", ["--forms"]),
        ("rbdgen equations arm7 --format l", ["latex"]),
        ("rbdgen inspect --packed", []),
    ],
)
def test_completion_in_bash(words: str, offered: list[str] | None) -> None:
    found = completed(words)
    if offered is None:
        assert "rnea,aba" in found
        assert all(word.startswith("rnea,ab") for word in found)
    else:
        assert found == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_have_all_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    printed = capsys.readouterr().out
    for command in (*COMMANDS, GENERATE):
        assert command in printed
        for option in options_of(PARSERS[command](), command):
            assert all(name.lstrip("-") in printed for name in option.names)
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=printed, text=True, check=True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1 / 0\n", "line 1: ZeroDivisionError: division by zero"),
        ("import rbdgen\ndef f(:\n", "line 2: SyntaxError: invalid syntax (own.py, line 2)"),
        (
            'import rbdgen\n@rbdgen.function(outputs={"tau": "tau"})\n'
            'def mine(robot, q):\n    """A fault."""\n    return robot.gravity(q) + nothing\n',
            "line 5: NameError: name 'nothing' is not defined",
        ),
    ],
    ids=["import", "syntax", "call"],
)
def test_a_fault_in_a_file_of_own_functions(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is one line with the line of the file, and nothing is written."""
    own = tmp_path / "own.py"
    own.write_text(text)
    assert main(["double_pendulum", "--own", str(own), "-f", "mine", "-o", str(tmp_path / "out"), "-q"]) == 2
    assert capsys.readouterr().err == f"rbdgen: error: {own}, {told}\n"
    assert not (tmp_path / "out").exists()
