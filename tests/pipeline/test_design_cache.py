"""The files and settings on which a cached design depends."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import rbdgen
from rbdgen import Point
from rbdgen.options import Options
from rbdgen.pipeline import design_cache
from rbdgen.pipeline.request import Request
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


def test_another_solver_or_radius_of_contacts_is_another_design() -> None:
    def key(plan: tuple[int, int, int], radius: float) -> str:
        contacts = [Point("foot", "lower", (0, 0, -0.5), radius=radius)]
        robot = rbdgen.load_robot("double_pendulum", base="floating", contacts=contacts, contact_solver=plan)
        return design_cache._key(Request(robot, Options(functions=("contact_step",))))

    assert key((3, 2, 0), 0.02) == key((3, 2, 0), 0.02)
    assert len({key((3, 2, 0), 0.02), key((5, 8, 2), 0.02), key((3, 2, 0), 0.03)}) == 3
