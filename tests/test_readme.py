"""The README's example, run as it stands: its output is the README's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)


def test_example_prints_what_the_readme_says() -> None:
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    position = next(k for k, (language, _) in enumerate(blocks) if language == "python")
    program, expected = blocks[position][1], blocks[position + 1][1]
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )
    assert done.stdout == expected
