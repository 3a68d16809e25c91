"""Programs that tests run, and a word about those that are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

EIGEN: Final = Path(str(files("casadi"))) / "include" / "eigen3"
"""The folder of the headers of Eigen, which CasADi brings."""


def need(*programs: str, packages: str) -> None:
    """Skips the test, or lets it fail in CI, if a program is missing. `packages` are those of Debian."""
    if absent := [program for program in programs if shutil.which(program) is None]:
        _missing(f"missing: {', '.join(absent)}; Debian: apt-get install {packages}")


def need_modules(*modules: str, packages: str) -> None:
    """Skips the test, or lets it fail in CI, if a module of Python is missing. `packages` are for pip."""
    if absent := [module for module in modules if find_spec(module) is None]:
        _missing(f"missing: {', '.join(absent)}; pip install {packages}")


def _missing(word: str) -> None:
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(word)
    pytest.skip(word)


def attempted(
    *command: str | Path, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The end of a program, with what it printed. `env` adds to the environment."""
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def ran(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """What a program prints that ends well."""
    done = attempted(*command, cwd=cwd, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def own_lines(*texts: str) -> int:
    """The lines of a user: those that are neither empty nor comments."""
    lines = (line.strip() for text in texts for line in text.splitlines())
    return sum(1 for line in lines if line and not line.startswith(("#", "//", "/*", "*", "%")))
