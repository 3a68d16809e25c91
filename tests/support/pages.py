"""The pages of docs/ and the examples in them."""

from __future__ import annotations

import json
import re
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def examples(text: str) -> list[tuple[str, str | None]]:
    """The examples of a page, each with what it prints if the page says so."""
    found: list[tuple[str, str | None]] = []
    blocks = list(_BLOCK.finditer(text))
    for block, after in zip_longest(blocks, blocks[1:]):
        if block[1] == "python":
            between = "" if after is None else text[block.end() : after.start()].strip()
            shown = after is not None and after[1] == "" and (not between or between.endswith("prints"))
            told = after[2] if after is not None and shown else None
            found.append((block[2], told))
    return found


def example(name: str, under: str = "") -> str:
    """The first example of a page, or of the section with this heading."""
    text = text_of(name)
    text = text.partition(f"## {under}\n")[2].partition("\n## ")[0] if under else text
    code, *_ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return str(code)


def results_of(name: str) -> dict[str, Any]:
    """The content of a file in benchmarks/results."""
    path = DOCS.parent / "benchmarks" / "results" / f"{name}.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
