"""The committed pages are those that the example writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "equations"


def test_pages_are_those_committed(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    subprocess.run([sys.executable, FOLDER / "pages.py", tmp_path], check=True)
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {path.name for path in FOLDER.iterdir() if path.suffix in (".txt", ".html", ".png")}
    for name in written:
        ours, committed = (folder / name for folder in (tmp_path, FOLDER))
        assert committed.stat().st_size < 100_000
        if name.endswith(".png"):  # pixels depend on the version of matplotlib
            assert ours.read_bytes().startswith(b"\x89PNG")
        else:
            assert ours.read_text(encoding="utf-8") == committed.read_text(encoding="utf-8")
