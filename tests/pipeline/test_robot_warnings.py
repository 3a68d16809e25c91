"""What a description has and functions leave out is told once in Python, at the line of the user."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import rbdgen
from rbdgen import RobotWarning

LINK = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def pendulum(folder: Path, dynamics: str) -> Path:
    path = folder / "pendulum.urdf"
    path.write_text(
        f'<robot name="pendulum"><link name="a"/><link name="b">{LINK}</link>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>'
        f'<limit lower="-1" upper="1" effort="1" velocity="1"/>{dynamics}</joint></robot>'
    )
    return path


def of_pinocchio(path: Path) -> rbdgen.Robot:
    model = pytest.importorskip("pinocchio").buildModelFromUrdf(str(path))
    return rbdgen.from_pinocchio(model)


CALLS = [
    rbdgen.load_robot,
    of_pinocchio,
    rbdgen.build,
    rbdgen.equations,
    lambda path: rbdgen.generate(path, path.parent / "out", ["gravity"], compiled=False),
    lambda path: rbdgen.trace(path, "gravity"),
]


@pytest.mark.parametrize("call", CALLS, ids=["load", "pinocchio", "build", "equations", "generate", "trace"])
def test_the_first_warning_is_told(call: Any, tmp_path: Path) -> None:
    path = pendulum(tmp_path, '<dynamics damping="0.5" friction="0.1"/>')
    with pytest.warns(RobotWarning, match="damping") as told:
        call(path)
    assert [x.filename for x in told] == [__file__]
    first, *others = rbdgen.load_robot(path).warnings
    more = f" (the first of {1 + len(others)} warnings; print robot.warnings)" if others else ""
    assert str(told[0].message).partition(": ")[2] == (first + more).partition(": ")[2]  # after the file


def test_nothing_is_told_of_a_sound_robot(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RobotWarning)
        robot = rbdgen.load_robot(pendulum(tmp_path, ""))
        rbdgen.build(robot, ["gravity"])
    assert robot.warnings == ()
