"""The C of a generated folder: its files on disk, and the sources of its self-test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def written(files: Mapping[str, str], folder: Path) -> Path:
    """Writes files, whose names are paths in the folder, and returns the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def selftest_sources(folder: Path) -> list[Path]:
    """The sources of the self-test of single calls: all functions, and the program itself last."""
    functions = sorted(path for path in folder.glob("*.c") if not path.match("*_batch.c"))
    (program,) = (path for path in folder.glob("selftest/*.c") if not path.match("*_batch_selftest.c"))
    return [*functions, program]
