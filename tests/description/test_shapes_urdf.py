"""The shapes of a URDF are read, and what is wrong with one is one line that keeps nothing else away."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.shapes import loaded, only, read, urdf, visual

from rbdgen.description.pruned import pruned
from rbdgen.description.shapes.read import shapes_of
from rbdgen.description.source import read_description
from rbdgen.pipeline.robot import load_robot
from rbdgen.show.extent import arrays

BOX = '<box size="1 2 3"/>'


@pytest.mark.parametrize(
    ("geometry", "kind", "size"),
    [
        (BOX, "box", (1, 2, 3)),
        ('<sphere radius="0.5"/>', "sphere", (0.5,)),
        ('<cylinder radius="0.5" length="2"/>', "cylinder", (0.5, 2)),
        ('<capsule radius="0.5" length="2"/>', "capsule", (0.5, 2)),
        ('<box size="0 1 1"/>', "box", (0, 1, 1)),
    ],
)
@pytest.mark.parametrize("role", ["visual", "collision"])
def test_primitives(tmp_path: Path, geometry: str, kind: str, size: tuple[float, ...], role: str) -> None:
    shape = only(read(tmp_path, f'<{role} name="some"><geometry>{geometry}</geometry></{role}>'))
    assert (shape.link, shape.role, shape.kind, shape.size) == ("arm", role, kind, size)
    assert (shape.name, shape.color, shape.friction, shape.mesh, shape.line) == ("some", None, None, None, 2)


def test_meshes_are_named_but_not_read(tmp_path: Path) -> None:
    shape = only(read(tmp_path, visual('<mesh filename=" package://p/a.stl " scale="1 -2 0.001"/>')))
    assert (shape.kind, shape.size, shape.mesh, shape.scale) == (
        "mesh",
        (),
        "package://p/a.stl",
        (1, -2, 1e-3),
    )
    assert only(read(tmp_path, visual('<mesh filename="a.stl"/>'))).scale == (1, 1, 1)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(-3, 3), min_size=6, max_size=6), st.floats(-3, 3))
def test_a_shape_is_at_its_origin(tmp_path: Path, pose: list[float], angle: float) -> None:
    """r_link = Rz(yaw) Ry(pitch) Rx(roll) r_shape + xyz."""
    roll, pitch, yaw = pose[3:]
    xyz, rpy = (" ".join(map(repr, part)) for part in (pose[:3], pose[3:]))
    R, p = arrays(only(read(tmp_path, visual(BOX, f'<origin xyz="{xyz}" rpy="{rpy}"/>'))).placement)
    np.testing.assert_array_equal(p, pose[:3])
    turns = []
    for k, a in ((2, yaw), (1, pitch), (0, roll)):
        turn = np.eye(3)
        i, j = (k + 1) % 3, (k + 2) % 3
        turn[[i, j, i, j], [i, j, j, i]] = math.cos(a), math.cos(a), -math.sin(a), math.sin(a)
        turns.append(turn)
    np.testing.assert_allclose(R, turns[0] @ turns[1] @ turns[2], atol=1e-15)


@pytest.mark.parametrize(
    ("material", "color"),
    [
        ('<material name="own"><color rgba="0.1 0.2 0.3 0.4"/></material>', (0.1, 0.2, 0.3, 0.4)),
        ('<material name="red"/>', (1, 0, 0, 1)),
        ('<material name="red"><color rgba="0 1 0 1"/></material>', (0, 1, 0, 1)),
        ('<material name="unknown"/>', None),
        ("<material/>", None),
        ("", None),
        ('<material><color rgba="2 -1 0.5 7"/></material>', (1, 0, 0.5, 1)),
        ('<material name="x"><texture filename="a.png"/></material>', None),
    ],
)
def test_colors(tmp_path: Path, material: str, color: tuple[float, ...] | None) -> None:
    named = '<material name="red"><color rgba="1 0 0 1"/></material>'
    assert only(read(tmp_path, visual(BOX, material), named)).color == color


def test_a_color_may_be_given_in_another_link(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    blue = '<material name="blue"><color rgba="0 0 1 1"/></material>'
    text = urdf(visual(BOX, '<material name="blue"/>')).replace(
        '<link name="base"/>', f'<link name="base">{visual(BOX, blue)}</link>'
    )
    path.write_text(text)
    assert [x.color for x in shapes_of(read_description(path)).shapes] == [(0, 0, 1, 1)] * 2


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("<visual/>", "<visual> of link 'arm' has no <geometry>; write <geometry>"),
        (visual(""), "<geometry> of link 'arm' has 0 shapes; write one"),
        (visual(BOX + BOX), "<geometry> of link 'arm' has 2 shapes; write one"),
        (visual("<cone/>"), "<geometry> of link 'arm' has <cone>; use one of box, sphere, cylinder,"),
        (visual("<box/>"), "<box> of link 'arm' has no size; write size=\"...\""),
        (visual('<box size="1 2"/>'), "size of <box> of link 'arm' has 2 numbers, not 3"),
        (visual('<box size="1 2 x"/>'), "size of <box> of link 'arm' is 'x', not a finite number"),
        (visual('<box size="1 -2 3"/>'), "size of <box> of link 'arm' is -2 m, less than zero"),
        (visual('<sphere radius="nan"/>'), "radius of <sphere> of link 'arm' is 'nan', not a finite number"),
        (visual('<sphere radius="1e999"/>'), "radius of <sphere> of link 'arm' is '1e999', not a finite"),
        (visual('<sphere radius="1e9"/>'), "a radius of <sphere> of link 'arm' is more than 1e+06"),
        (visual('<sphere radius="-1"/>'), "radius of <sphere> of link 'arm' is -1 m, less than zero"),
        (visual('<cylinder radius="1"/>'), "<cylinder> of link 'arm' has no length"),
        (visual('<cylinder radius="1" length="-1"/>'), "length of <cylinder> of link 'arm' is -1 m"),
        (visual("<mesh/>"), "<mesh> of link 'arm' has no filename"),
        (visual('<mesh filename=" "/>'), "<mesh> of link 'arm' has an empty filename"),
        (visual('<mesh filename="a" scale="1 0 1"/>'), "scale of <mesh> of link 'arm' has a 0"),
        (visual('<mesh filename="a" scale="1"/>'), "scale of <mesh> of link 'arm' has 1 numbers, not 3"),
        (visual(BOX, '<origin xyz="0 0"/>'), "xyz of <origin> of link 'arm' has 2 numbers, not 3"),
        (
            visual(BOX, '<origin xyz="0 0 1e300"/>'),
            "a coordinate of <visual> of link 'arm' is more than 1e+06",
        ),
        (visual(BOX, "<origin/><origin/>"), "<visual> of link 'arm' has 2 <origin> elements; keep one"),
    ],
)
def test_a_wrong_shape_is_one_line(tmp_path: Path, wrong: str, told: str) -> None:
    """The shapes before and after it, and the robot itself, are read nevertheless."""
    read_ = read(tmp_path, visual('<sphere radius="1"/>') + wrong + visual('<sphere radius="2"/>'))
    assert [x.size for x in read_.shapes] == [(1,), (2,)]
    (line,) = read_.missing
    assert line.startswith(f"{tmp_path}/robot.urdf:2: {told}")
    assert "; " in line
    assert "\n" not in line


@pytest.mark.parametrize("rgba", ['""', '"1 0 0"', '"red"', '"1 0 0 nan"'])
def test_a_wrong_color_leaves_the_shape(tmp_path: Path, rgba: str) -> None:
    color = f'<material name="a"><color rgba={rgba}/></material>'
    read_ = read(tmp_path, visual(BOX, color))
    (shape,), (line,) = read_.shapes, read_.missing
    assert (shape.kind, shape.color) == ("box", None)
    assert "robot.urdf:2: " in line
    assert "rgba" in line


def test_many_wrong_shapes_are_folded(tmp_path: Path) -> None:
    missing = read(tmp_path, "<visual/>" * 1500).missing
    assert len(missing) == 1001
    assert missing[-1].endswith(", and so is more below it")


def test_a_text_of_a_user_stays_on_its_line(tmp_path: Path) -> None:
    (line,) = read(tmp_path, visual('<box size="1&#10;2 \u202e3"/>')).missing
    assert line.isprintable()


def test_the_file_of_a_robot_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a change of folder nor of the file matters, and no function reads shapes."""
    loaded(tmp_path, visual(BOX))
    monkeypatch.chdir(tmp_path)
    robot = load_robot("robot.urdf")
    monkeypatch.chdir("/")
    (tmp_path / "robot.urdf").unlink()
    assert [x.kind for x in shapes_of(robot.description).shapes] == ["box"]
    assert "file" not in repr(robot.description)


def test_shapes_of_dropped_links_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(
        urdf(visual(BOX)).replace('<link name="base"/>', f'<link name="base">{visual(BOX)}</link>')
    )
    description = read_description(tmp_path / "robot.urdf")
    assert [x.link for x in shapes_of(description).shapes] == ["base", "arm"]
    assert [x.link for x in shapes_of(pruned(description, root="arm")).shapes] == ["arm"]


def test_a_xacro_has_the_shapes_of_its_expansion(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    text = urdf(visual('<sphere radius="${2 * 0.25}"/>')).replace(
        '<robot name="r">', '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    )
    (tmp_path / "robot.xacro").write_text(text)
    shapes = shapes_of(read_description(tmp_path / "robot.xacro"))
    assert only(shapes).size == (0.5,)


def test_a_robot_without_a_file_has_none() -> None:
    import pinocchio as pin  # noqa: PLC0415

    model = pin.buildSampleModelManipulator()
    assert shapes_of(read_description(model)).shapes == ()
