"""The Python programs of docs/recipes.md print what the page says."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.recipes import PAGE, recipe
from support.tools import need_modules


def test_learning(capsys: pytest.CaptureFixture[str]) -> None:
    need_modules("gymnasium", packages="'rbdgen[gymnasium]'")
    (program,) = recipe("Reinforcement learning", "python")
    names: dict[str, Any] = {}
    exec(program, names)
    assert f"prints\n\n```\n{capsys.readouterr().out}```" in PAGE.read_text(encoding="utf-8")


def test_every_section_has_a_program() -> None:
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert sections
    for section in sections:
        assert "```" in section, section.splitlines()[0]
