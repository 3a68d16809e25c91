"""The programs of docs/recipes.md, which tests run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"


def recipe(section: str, *languages: str) -> list[str]:
    """The texts of a section in these languages, in order; the section has exactly one of each."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    texts = [[text for name, text in found if name == language] for language in languages]
    assert [len(each) for each in texts] == [1] * len(languages), section
    return [each[0] for each in texts]
