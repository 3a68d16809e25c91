"""Every function of robots with alike limbs is written for hosts, where limbs are lanes and batches have
programs of their own, and compilers accept all of its C.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import pytest
from support.few import few
from support.tools import ran

import rbdgen
from rbdgen import Frame, Point
from rbdgen.functions.table import ALL
from rbdgen.model.build import Robot

FEET: Final = tuple(
    Point(f"{place}_foot", f"{place}_shank", (0, 0, -0.2))
    for place in ("front_left", "front_right", "hind_left", "hind_right")
)
SOLES: Final = tuple(Frame(f"{side}_sole", f"{side}_foot", (0, 0, -0.07)) for side in ("left", "right"))


@cache
def standing(name: str) -> Robot:
    """The quadruped on its feet, or the humanoid on its soles."""
    held = FEET if name == "quadruped12" else SOLES
    return rbdgen.load_robot(name, base="floating", contacts=held, frames=[held[0].link, held[1].link])


DERIVATIVES: Final = (
    "rnea_vjp",
    "aba_jvp",
    "rnea_hvp",
    "step_vjp",
    "centroidal_momentum_jacobian",
    "contact_aba_vjp",
)


def rows(name: str) -> list[str]:
    """The functions of a robot without inputs for its parameters. The second derivatives of the humanoid's
    forward dynamics exceed the budget of operations."""
    model = standing(name).model
    fitting = (row for row, own in ALL.items() if not own.missing(model) and not own.by_parameters)
    return [row for row in (*fitting, *DERIVATIVES) if (name, row) != ("humanoid30", "aba_second")]


EVERY: Final = [(name, row) for name in ("quadruped12", "humanoid30") for row in rows(name)]


@pytest.mark.parametrize(
    ("name", "row"),
    few([("quadruped12", "minv"), ("humanoid30", "contact_jacobian")], EVERY, sampled=True),
)
def test_compilers_accept_the_c(name: str, row: str, tmp_path: Path) -> None:
    folder = rbdgen.generate(standing(name), tmp_path, [row], compiled=False)
    sources = sorted(folder.glob("*.c"))
    assert any(row in source.name for source in sources)
    ran("gcc", "-std=gnu99", "-march=native", "-Wall", "-Werror", "-fsyntax-only", *sources, cwd=folder)
