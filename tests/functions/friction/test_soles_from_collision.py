"""Soles at shapes for collision are those that a user would write by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from support.friction import Array, near_ground, step
from support.shapes import ball, loaded, stl

import rbdgen
from rbdgen import Sole
from rbdgen.cli import main
from rbdgen.errors import OptionError, RbdgenError

BOX = '<box size="0.4 0.2 0.1"/>'

RECTANGLE = [(x, y, -0.05) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]


def collision(geometry: str, origin: str = "") -> str:
    return f"<collision>{origin}<geometry>{geometry}</geometry></collision>"


def sole(folder: Path, link: str, asked: str = "sole:arm") -> Array:
    """The corners (n, 3) of the only contact, in the order of the sole."""
    loaded(folder, link)
    robot = rbdgen.load_robot(folder / "robot.urdf", contacts_from_collision=[asked])
    (one,) = robot.description.contacts
    assert isinstance(one, Sole)
    assert (one.name, one.link) == ("arm", "arm")
    corners = np.array(one.corners)
    np.testing.assert_allclose(one.point, corners.mean(0), atol=1e-15)
    return corners


def area(corners: Array, normal: Sequence[float] = (0, 0, -1)) -> float:
    """The area of a polygon, positive if it is counterclockwise as seen against the normal."""
    doubled = np.cross(corners, np.roll(corners, -1, axis=0)).sum(0)
    return float(doubled @ normal) / 2


def alike(found: Array, expected: Any) -> None:
    """Whether these are the same corners, in any order."""
    np.testing.assert_allclose(sorted(map(tuple, found.round(9))), sorted(expected), atol=1e-8)


def prism(count: int) -> bytes:
    """An STL of a regular prism of radius 1 and height 2."""
    made = trimesh.creation.cylinder(1, 2, sections=count)
    return stl(made.vertices.tolist(), made.faces.tolist())


def test_the_feet_of_a_humanoid() -> None:
    """The model is that of soles whose corners are given, so every step gives the same numbers."""
    given = rbdgen.load_robot("humanoid30", "floating", contacts_from_collision=["sole:*_foot"])
    assert [(x.name, len(x.corners)) for x in given.model.contacts] == [("left_foot", 4), ("right_foot", 4)]
    assert given.model.contact_solver == (4, 2, 0)
    heel, toe, width, below = 0.064525 - 0.2581 / 2, 0.064525 + 0.2581 / 2, 0.095, -0.0509 - 0.034 / 2
    at = [(x, y, below) for x in (heel, toe) for y in (-width / 2, width / 2)]
    for one in given.description.contacts:
        assert isinstance(one, Sole)
        alike(np.array(one.corners), at)
    by_hand = rbdgen.load_robot("humanoid30", "floating", contacts=given.description.contacts)
    assert given.model == by_hand.model
    found = step(given.model, **near_ground(given.model, 3))
    assert np.abs(found.impulse).max() > 0


def test_a_box(tmp_path: Path) -> None:
    found = sole(tmp_path, collision(BOX))
    alike(found, RECTANGLE)
    assert area(found) == pytest.approx(0.08)
    np.testing.assert_array_equal(sole(tmp_path, collision(BOX), "sole:arm:-z"), found)
    side = sole(tmp_path, collision(BOX), "sole:arm:+x")
    alike(side, [(0.2, y, z) for y in (-0.1, 0.1) for z in (-0.05, 0.05)])
    assert area(side, (1, 0, 0)) == pytest.approx(0.02)


def test_the_side_of_a_tilted_box_is_tilted(tmp_path: Path) -> None:
    found = sole(tmp_path, collision(BOX, '<origin xyz="1 0 0" rpy="0 0.3 0"/>'))
    c, s = np.cos(0.3), np.sin(0.3)
    alike(found, [(1 + c * x + s * z, y, c * z - s * x) for x, y, z in RECTANGLE])
    assert area(found, (-s, 0, -c)) == pytest.approx(0.08)


def test_several_boxes_have_one_sole_if_they_are_level(tmp_path: Path) -> None:
    """It is the convex hull of those that are lowest."""
    heel, toe = (collision(BOX, f'<origin xyz="{x} 0 0"/>') for x in (0, 0.6))
    alike(sole(tmp_path, heel + toe), [(x, y, z) for x in (-0.2, 0.8) for _, y, z in RECTANGLE[:2]])
    above = collision(BOX, '<origin xyz="0.6 0 0.01"/>')
    alike(sole(tmp_path, above + heel), RECTANGLE)
    narrow = collision('<box size="0.4 0.1 0.1"/>', '<origin xyz="0.4 0 0"/>')
    corners = sole(tmp_path, heel + narrow)
    assert len(corners) == 6
    assert area(corners) == pytest.approx(0.08 + 0.4 * 0.15)


def test_a_mesh(tmp_path: Path) -> None:
    """The lower side of a prism, whose triangles have a vertex in its middle too, in mm and turned."""
    (tmp_path / "foot.stl").write_bytes(prism(6))
    mesh = collision('<mesh filename="foot.stl" scale="0.1 0.1 0.05"/>', '<origin xyz="0 0 1"/>')
    found = sole(tmp_path, mesh)
    assert found.shape == (6, 3)
    np.testing.assert_allclose(found[:, 2], 0.95, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(found[:, :2], axis=1), 0.1, atol=1e-7)
    assert area(found) == pytest.approx(0.01 * 1.5 * np.sqrt(3), rel=1e-6)
    (tmp_path / "foot.stl").write_bytes(
        stl([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3)])
    )
    mesh = collision('<mesh filename="foot.stl"/>', '<origin rpy="3.141592653589793 0 0"/>')
    alike(sole(tmp_path, mesh, "sole:arm:+z"), [(0, 0, 0), (1, 0, 0), (0, -1, 0)])


def test_an_mjcf(tmp_path: Path) -> None:
    """Its geoms for collision alone are used, and its own meshes; a warning tells the largest friction."""
    path = tmp_path / "r.xml"
    path.write_text(
        '<mujoco><asset><mesh name="plate" vertex="-1 -1 0  1 -1 0  1 1 0  -1 1 0  0 0 1"/></asset>'
        '<worldbody><body name="foot" pos="0 0 1"><freejoint/>'
        '<geom type="box" size="0.2 0.1 0.05" friction="0.8"/>'
        '<geom type="box" size="0.2 0.1 0.05" pos="0.4 0 0" friction="0.5"/>'
        '<geom type="sphere" size="1" contype="0" conaffinity="0"/></body>'
        '<body name="other"><freejoint/><geom type="mesh" mesh="plate" pos="0 0 -1"/></body>'
        "</worldbody></mujoco>"
    )
    robot = rbdgen.load_robot(path, contacts_from_collision=["sole:foot", "sole:other"])
    foot, other = robot.description.contacts
    assert isinstance(foot, Sole)
    assert isinstance(other, Sole)
    alike(np.array(foot.corners), [(x, y, -0.05) for x in (-0.2, 0.6) for y in (-0.1, 0.1)])
    alike(np.array(other.corners), [(x, y, -1) for x in (-1, 1) for y in (-1, 1)])
    told = "the coefficients of friction of its shapes for collision are 'foot' 0.8, 'other' 1; not used: "
    assert [x for x in robot.warnings if told in x]


def test_a_link_whose_name_begins_like_this(tmp_path: Path) -> None:
    """An exact name of a link comes first."""
    text = (
        f'<robot name="r"><link name="base"/><link name="sole:arm">{INERTIA}{collision(BOX)}</link>'
        '<joint name="j" type="floating"><parent link="base"/><child link="sole:arm"/></joint></robot>'
    )
    (tmp_path / "robot.urdf").write_text(text)
    named = rbdgen.load_robot(tmp_path / "robot.urdf", contacts=[rbdgen.Point("a", "sole:arm")])
    assert len(named.model.contacts) == 1
    with pytest.raises(OptionError, match="a name with , = or : in it"):  # eight points of this link
        rbdgen.load_robot(tmp_path / "robot.urdf", contacts_from_collision=["sole:arm"])


INERTIA = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


@pytest.mark.parametrize(
    ("link", "asked", "told"),
    [
        ("", "sole:arm", "link 'arm' has no shape for collision; give contacts=[rbdgen.Sole(...)]"),
        ("", "sole:a*", "none of these links has a shape for collision; give contacts=[rbdgen.Sole("),
        ("", "sole:amr", "contacts_from_collision=['sole:amr']: there is no link 'amr'; did you mean 'arm'?"),
        ("", "sole:arm:-w", "there is no link 'arm:-w'; did you mean 'arm'?"),
        ("", "sole:", "there is no link ''"),
        ("", "Sole:arm", "there is no link 'Sole:arm'"),
        (
            collision(BOX) + collision('<sphere radius="1"/>'),
            "sole:arm",
            "link 'arm' has a sphere for collision, and only boxes and meshes become soles; give contacts=[",
        ),
        (collision('<box size="0.4 0 0.1"/>'), "sole:arm", "link 'arm' has no flat side there; give"),
        (collision(BOX) + collision("<cone/>"), "sole:arm", "a shape for collision could not be read; give"),
        (collision('<mesh filename="ball.stl"/>'), "sole:arm", "link 'arm' has no flat side there"),
        (
            collision('<mesh filename="round.stl"/>'),
            "sole:arm",
            "the side of link 'arm' has 40 corners, more than 16; give contacts=[rbdgen.Sole(...)]",
        ),
        (collision('<mesh filename="none.stl"/>'), "sole:arm", "mesh 'none.stl': there is no such file"),
        (collision('<mesh filename="text.stl"/>'), "sole:arm", "mesh 'text.stl': it is no sound STL file"),
    ],
)
def test_mistakes(tmp_path: Path, link: str, asked: str, told: str) -> None:
    (tmp_path / "ball.stl").write_bytes(ball(2))
    (tmp_path / "round.stl").write_bytes(prism(40))
    (tmp_path / "text.stl").write_text("no mesh")
    loaded(tmp_path, link)
    with pytest.raises(OptionError) as error:
        rbdgen.load_robot(tmp_path / "robot.urdf", contacts_from_collision=[asked])
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_link_has_one_sole(tmp_path: Path) -> None:
    loaded(tmp_path, collision(BOX))
    with pytest.raises(RbdgenError, match="contact 'arm': there are two of this name"):
        rbdgen.load_robot(tmp_path / "robot.urdf", contacts_from_collision=["sole:arm", "sole:arm:+z"])


def test_in_the_shell(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["inspect", "humanoid30", "--base", "floating", "--contact-from-collision"]
    assert main([*command, "sole:left_foot,right_foot:-z"]) == 0
    printed = capsys.readouterr().out
    assert "contact 0: left_foot" in printed
    assert "contact 4: right_foot_4" in printed
    assert main([*command, "sole:left_hand"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("rbdgen: error: --contact-from-collision sole:left_hand: ")
    assert line.endswith("; give --contact-sole NAME=LINK:LENGTH,WIDTH,X,Y,Z")
