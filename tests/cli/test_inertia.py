"""`rbdgen inertia` writes the operations on inertias as C, without a robot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rbdgen.cli import main


def test_command(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inertia", "-f", "rotated,times", "--name", "body", "--real", "float"]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "wrote generated/body"
    manifest = json.loads((here / "generated/body/manifest.json").read_text())
    assert list(manifest["functions"]) == ["rotated", "times"]
    assert manifest["real"] == "float"
    assert (here / "generated/body/body_rotated.c").is_file()
    assert main(["check", "generated/body"]) == 0
    assert "FAILED" not in capsys.readouterr().out


def test_a_package_of_its_own(here: Path) -> None:
    assert main(["inertia", "-f", "translated", "-q"]) == 0
    program = "import inertia; print(inertia.translated([2.0] + [0.0] * 9, [1.0, 0.0, 0.0]).tolist())"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=here / "generated", capture_output=True, text=True, check=True)
    assert done.stdout == "[2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 2.0]\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-f", "turned"], "unknown operation 'turned'; choose from: rotated, translated"),
        (["-f", "rotated,rotated"], "asked for twice"),
        (["--name", "int"], "name"),
        (["--target", "cortex-m4f", "--real", "double"], "take --real float"),
    ],
)
def test_refused(arguments: list[str], said: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inertia", *arguments]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("rbdgen: error: ")
    assert said in line
    assert list(here.iterdir()) == []
