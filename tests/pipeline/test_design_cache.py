"""The files and settings on which a cached design depends."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rbdgen.pipeline import design_cache
from rbdgen.resources import template_root


@pytest.mark.parametrize("file", ["c/ROBOT.h.jinja", "python/threads.c"])
def test_another_template_is_another_generator(
    file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Templates that are copied unchanged count like those that are filled in."""
    digest = design_cache.generator_digest.__wrapped__
    shutil.copytree(template_root(), tmp_path / "templates")
    monkeypatch.setattr(design_cache, "template_root", lambda: tmp_path / "templates")
    before = digest()
    assert before == digest()
    with (tmp_path / "templates" / file).open("a", encoding="utf-8") as text:
        text.write("\n")
    assert digest() != before
