"""Shapes of a robot built in Python serve pages, contacts and distances as those of a URDF do."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.shapes import INERTIAL, TETRAHEDRON, stl

import rbdgen
from rbdgen import Box, Capsule, Cylinder, Ellipsoid, Mesh, RobotBuilder, Sphere
from rbdgen.description.shapes.read import shapes_of
from rbdgen.errors import DescriptionError
from rbdgen.show.shapes import drawn

POSE: dict[str, Any] = {"xyz": (0.1, -0.2, 0.3), "rpy": (0.4, 0.5, -0.6)}

ORIGIN = '<origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 -0.6"/>'

HINGE: dict[str, Any] = {"type": "continuous", "axis": (0, 1, 0), "mass": 1, "inertia": (1, 1, 1)}

RED = '<material name="m"><color rgba="1 0 0 1"/></material>'


def of_file(folder: Path, upper: str, fore: str) -> rbdgen.RobotBuilder | str:
    """A robot of two moving links with these elements, as a URDF."""

    def joint(name: str, parent: str, child: str) -> str:
        ends = f'<parent link="{parent}"/><child link="{child}"/>'
        at = '<origin xyz="0 0 1"/><axis xyz="0 1 0"/>'
        return f'<joint name="{name}" type="continuous">{ends}{at}</joint>'

    links = f'<link name="upper">{INERTIAL}{upper}</link><link name="fore">{INERTIAL}{fore}</link>'
    joints = joint("upper_joint", "base", "upper") + joint("fore_joint", "upper", "fore")
    path = folder / "arm.urdf"
    path.write_text(f'<robot name="arm"><link name="base"/>{links}{joints}</robot>')
    return str(path)


def built(upper: dict[str, Any], fore: dict[str, Any]) -> RobotBuilder:
    arm = RobotBuilder("arm").add_body("base")
    arm.add_body("upper", parent="base", xyz=(0, 0, 1), **HINGE, **upper)
    return arm.add_body("fore", parent="upper", xyz=(0, 0, 1), **HINGE, **fore)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Any, RobotBuilder]:
    """The same robot as a URDF and built in Python, with shapes of most kinds."""
    (tmp_path / "t.stl").write_bytes(stl(*TETRAHEDRON))
    visual = f'<visual>{ORIGIN}<geometry><box size="0.1 0.2 0.3"/></geometry>{RED}</visual>'
    mesh = '<visual><geometry><mesh filename="t.stl" scale="1 -1 0.1"/></geometry></visual>'
    rod = f'<collision>{ORIGIN}<geometry><cylinder radius="0.05" length="0.6"/></geometry></collision>'
    hand = f'<collision>{ORIGIN}<geometry><sphere radius="0.1"/></geometry></collision>'
    pill = '<collision><geometry><capsule radius="0.1" length="0.2"/></geometry></collision>'
    path = of_file(tmp_path, visual + mesh + rod, hand + pill)
    looks = [Box((0.1, 0.2, 0.3), color=(1, 0, 0), **POSE), Mesh(tmp_path / "t.stl", (1, -1, 0.1))]
    upper = {"visual": looks, "collision": Cylinder(0.05, 0.6, **POSE)}
    return path, built(upper, {"collision": [Sphere(0.1, **POSE), Capsule(radius=0.1, length=0.2)]})


def test_they_are_those_of_a_file(pair: tuple[Any, RobotBuilder]) -> None:
    theirs, ours = (shapes_of(rbdgen.load_robot(robot).description) for robot in pair)
    assert ours.missing == theirs.missing == ()
    assert [shape.line for shape in ours.shapes] == [2, 2, 2, 3, 3]
    assert [replace(x, line=1, mesh=x.mesh and Path(x.mesh).name) for x in ours.shapes] == [
        replace(x, line=1) for x in theirs.shapes
    ]


def test_pages_draw_the_same(pair: tuple[Any, RobotBuilder]) -> None:
    theirs, ours = (drawn(rbdgen.load_robot(robot)) for robot in pair)
    assert ours == theirs
    assert [len(link["shapes"]) for link in ours.links] == [0, 2, 2]
    assert ours.missing == []


def test_contacts_and_distances_are_the_same(pair: tuple[Any, RobotBuilder]) -> None:
    """Numbers of capsules and contacts, and with them all functions."""
    theirs, ours = (rbdgen.load_robot(robot, contacts_from_collision=["fore"], pairs="all") for robot in pair)
    assert ours.model.contacts == theirs.model.contacts
    assert [contact.radius for contact in ours.model.contacts] == [0.1, 0.1, 0.1]
    assert ours.model.distances == theirs.model.distances
    assert ours.description.distances.pairs == (("upper/0", "fore/0"), ("upper/0", "fore/1"))


def test_ellipsoids_and_arrays() -> None:
    """Numbers may be of any type, also arrays; an ellipsoid exists in MJCF but not in a URDF."""
    egg = Ellipsoid(np.array([0.1, 0.2, 0.3]), xyz=np.arange(3), color=np.array([0, 0.5, 1, 0.25]))
    description = built({"visual": egg}, {}).description()
    (shape,) = shapes_of(description).shapes
    assert (shape.kind, shape.size, shape.color) == ("ellipsoid", (0.1, 0.2, 0.3), (0, 0.5, 1, 0.25))
    assert [float(x) for x in shape.placement.translation] == [0, 1, 2]


def test_a_relative_path_is_that_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays the same file if the program changes its directory before the mesh is read."""
    (tmp_path / "t.stl").write_bytes(stl(*TETRAHEDRON))
    monkeypatch.chdir(tmp_path)
    robot = rbdgen.load_robot(built({"visual": Mesh("t.stl")}, {"visual": Mesh("none.stl")}))
    monkeypatch.chdir(os.sep)
    found = drawn(robot)
    assert found.triangles == (4, 4)
    (line,) = found.missing
    assert line.startswith("robot 'arm', body:3: link 'fore': mesh '")
    assert "': there is no such file" in line  # a long path is shortened


def test_the_robot_and_its_code_do_not_depend_on_shapes() -> None:
    bare, shaped = (built(x, {}).description() for x in ({}, {"visual": Sphere(1.0), "collision": Sphere(1)}))
    assert bare == shaped


@pytest.mark.parametrize(
    ("visual", "told"),
    [
        (3, "visual has 3; give shapes: rbdgen.Box, rbdgen.Sphere"),
        ("ball", "visual has 'ball'; give shapes"),
        ([Sphere(1), None], "visual has None; give shapes"),
        (Sphere(-1), "radius of Sphere in visual is -1 m, less than zero; give a size of zero or more"),
        (Sphere(math.nan), "radius of Sphere in visual is [nan]; give 1 finite number"),
        (Box((1, 2)), "size of Box in visual is (1, 2); give 3 finite numbers"),
        (Box((1, 2, 3e7)), "size of Box in visual is more than 1e+06; give lengths in m"),
        (Box((1, 2, 3), xyz=(0, -1e9, 0)), "xyz of Box in visual is more than 1e+06"),
        (Box((1, 2, 3), rpy=(0, math.inf, 0)), "rpy of Box in visual is (0, inf, 0)"),
        (Capsule(1, [2]), "length of Capsule in visual is [[2]]"),
        (Ellipsoid((1, 2, -3)), "radii of Ellipsoid in visual is -3 m, less than zero"),
        (Sphere(1, color=(1, 2)), "color of Sphere in visual is (1, 2); give 3 or 4 finite numbers"),
        (Mesh(""), "file of Mesh in visual is ''; give the path of a file"),
        (Mesh(b"a.stl"), "file of Mesh in visual is b'a.stl'; give the path of a file"),  # type: ignore[arg-type]
        (
            Mesh("a.stl", scale=(1, 0, 1)),
            "scale of Mesh in visual has a 0; give three numbers that are not 0",
        ),
    ],
)
def test_wrong_shapes_are_refused_in_one_line(visual: Any, told: str) -> None:
    arm = RobotBuilder("arm")
    with pytest.raises(DescriptionError) as error:
        arm.add_body("base", visual=visual)
    assert str(error.value).startswith("robot 'arm', body:1: " + told)
    assert "\n" not in str(error.value)
    arm.add_body("base")  # the body that was refused has left nothing


def test_the_root_may_have_shapes() -> None:
    description = RobotBuilder("table").add_body("top", collision=Box((1, 1, 0.1))).description()
    assert [shape.link for shape in shapes_of(description).shapes] == ["top"]
