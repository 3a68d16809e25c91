"""Writes the pages and pictures that are made from the sources: `python -m website.generate`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from website import algorithms, command_line, pictures
from website.counts import counts

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"


def pages() -> Mapping[str, str]:
    """All pages and pictures that are made, by their path in docs/."""
    made = {**algorithms.pages(list(counts())), "reference/command-line.md": command_line.page()}
    return {**made, **pictures.pictures()}


def main() -> None:
    for name, text in pages().items():
        path = DOCS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
