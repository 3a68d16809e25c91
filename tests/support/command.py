"""Runs the command line as a user does, in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def rbdgen(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `rbdgen ARGUMENTS` in a folder, with these environment variables changed."""
    return subprocess.run(
        [sys.executable, "-m", "rbdgen.cli", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
