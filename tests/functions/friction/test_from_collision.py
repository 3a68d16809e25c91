"""Contacts at shapes for collision are those that a user would write by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.friction import near_ground, step
from support.shapes import loaded, read, urdf

import rbdgen
from rbdgen import Point
from rbdgen.cli import main
from rbdgen.errors import OptionError, RbdgenError

FEET = [f"{end}_{side}" for end in ("front", "hind") for side in ("left", "right")]


def collision(geometry: str, origin: str = "") -> str:
    return f"<collision>{origin}<geometry>{geometry}</geometry></collision>"


def contacts(folder: Path, link: str, asked: Sequence[str] = ("arm",), more: str = "") -> list[Point]:
    loaded(folder, link, more)
    robot = rbdgen.load_robot(folder / "robot.urdf", contacts_from_collision=asked)
    assert all(isinstance(x, Point) for x in robot.description.contacts)
    return list(robot.description.contacts)  # type: ignore[arg-type]


def places(found: Sequence[Point]) -> list[tuple[float, ...]]:
    return [(*x.point, x.radius) for x in found]


def refusal(call: Any) -> str:
    with pytest.raises(RbdgenError) as error:
        call()
    text = str(error.value)
    assert "\n" not in text
    return text


def test_a_quadruped_with_spheres_for_feet() -> None:
    """The model is that of points with a radius, so every step gives the same numbers."""
    given = rbdgen.load_robot("quadruped12", "floating", contacts_from_collision=["*_shank"])
    by_hand = rbdgen.load_robot(
        "quadruped12",
        "floating",
        contacts=[Point(f"{foot}_shank", point=(0, 0, -0.19), radius=0.0185) for foot in FEET],
    )
    assert given.model == by_hand.model
    state = near_ground(given.model, 20)
    ours, theirs = (step(robot.model, **state) for robot in (given, by_hand))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)
    assert np.abs(ours.impulse).max() > 0


def test_soles_of_a_humanoid() -> None:
    robot = rbdgen.load_robot(
        "humanoid30",
        "floating",
        contacts=[Point("left_hand")],
        contacts_from_collision=["left_foot:-z", "right_foot"],
        contact_sets={"left": [f"left_foot_{k}" for k in (1, 2, 3, 4)]},
    )
    assert [x.name for x in robot.model.contacts] == [
        "left_hand",
        *(f"left_foot_{k}" for k in range(1, 5)),
        *(f"right_foot_{k}" for k in range(1, 9)),
    ]
    left = robot.description.contacts[1:5]
    assert [x.point[2] for x in left] == [pytest.approx(-0.0679)] * 4  # type: ignore[union-attr]
    heel, toe = (sorted({x.point[0] for x in left})[k] for k in (0, -1))  # type: ignore[union-attr]
    assert toe - heel == pytest.approx(0.2581)


def test_a_sphere_and_a_capsule(tmp_path: Path) -> None:
    (one,) = contacts(tmp_path, collision('<sphere radius="0.1"/>', '<origin xyz="1 2 3" rpy="1 1 1"/>'))
    assert (one.name, one.link, tuple(one.point), one.radius) == ("arm", "arm", (1, 2, 3), 0.1)
    turned = '<origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/>'
    ends = contacts(tmp_path, collision('<capsule radius="0.1" length="2"/>', turned))
    assert [x.name for x in ends] == ["arm_1", "arm_2"]
    np.testing.assert_allclose(places(ends), [(-1, 0, 1, 0.1), (1, 0, 1, 0.1)], atol=1e-15)


def test_a_cylinder_with_spheres_at_its_ends_is_a_capsule(tmp_path: Path) -> None:
    ends = [collision('<sphere radius="0.1"/>', f'<origin xyz="0 0 {z}"/>') for z in (-1, 1)]
    cylinder = collision('<cylinder radius="0.1" length="2"/>')
    expected = [(0, 0, -1, 0.1), (0, 0, 1, 0.1)]
    for link in (cylinder + ends[0] + ends[1], ends[0] + cylinder + ends[1] + ends[0]):
        assert places(contacts(tmp_path, link)) == expected
    for link in (cylinder, cylinder + ends[0], cylinder.replace("0.1", "0.11") + ends[0] + ends[1]):
        told = refusal(lambda link=link: contacts(tmp_path, link))
        assert "contacts_from_collision=['arm']: link 'arm' has a cylinder for collision, and only" in told
        assert told.endswith("give contacts=['NAME=LINK:X,Y,Z']")


BALL = collision('<sphere radius="1"/>')

CORNERS = [(x, y, z, 0) for z in (-3, 3) for y in (-2, 2) for x in (-1, 1)]


def test_a_box(tmp_path: Path) -> None:
    box = collision('<box size="2 4 6"/>')
    assert places(contacts(tmp_path, box)) == CORNERS
    for k, axis in enumerate("xyz"):
        for sign in (-1, 1):
            asked = f"arm:{'+' if sign > 0 else '-'}{axis}"
            side = [corner for corner in CORNERS if corner[k] == sign * (k + 1)]
            assert places(contacts(tmp_path, box, [asked])) == side


def test_the_side_of_a_turned_box_is_that_of_the_link(tmp_path: Path) -> None:
    box = collision('<box size="2 4 6"/>', '<origin rpy="1.6 0 0"/>')
    found = contacts(tmp_path, box, ["arm:-z"])
    assert len(found) == 4
    lowest = sorted(x.point[2] for x in contacts(tmp_path, box))[:4]
    assert sorted(x.point[2] for x in found) == lowest


def test_a_flat_box_has_each_corner_once(tmp_path: Path) -> None:
    assert len(contacts(tmp_path, collision('<box size="2 4 0"/>'))) == 4


def test_a_link_may_be_merged_and_be_named_by_a_pattern(tmp_path: Path) -> None:
    """A pattern leaves out links without such shapes."""
    tool = (
        f'<link name="tool">{BALL}</link><joint name="t" type="fixed">'
        '<parent link="arm"/><child link="tool"/><origin xyz="0 0 2"/></joint>'
    )
    (one,) = contacts(tmp_path, "", ["*o*"], tool)
    robot = rbdgen.load_robot(tmp_path / "robot.urdf", contacts_from_collision=["*"])
    (placed,) = robot.model.contacts
    assert (one.name, placed.first.body, tuple(placed.first.placement.translation)) == ("tool", 0, (0, 0, 2))


@pytest.mark.parametrize(
    ("link", "asked", "told"),
    [
        ("", ["arm"], "link 'arm' has no shape for collision; give contacts=["),
        ("", ["a*"], "contacts_from_collision=['a*']: none of these links has a shape for collision"),
        ("", ["amr"], "contacts_from_collision=['amr']: there is no link 'amr'; did you mean 'arm'?"),
        ("", ["arm:-w"], "there is no link 'arm:-w'; did you mean 'arm'?"),
        ("", ["amr:-z"], "there is no link 'amr'; did you mean 'arm'?"),
        ("", [3], "there is no link '3'"),
        ("", "arm", "contacts_from_collision 'arm' is not a list; give names of links, such as"),
        ("", 3, "contacts_from_collision 3 is not a list"),
        (
            collision('<mesh filename="a.stl"/>'),
            ["arm"],
            "link 'arm' has a mesh for collision, and only spheres",
        ),
        (
            collision('<sphere radius="1"/>') + collision("<cone/>"),
            ["arm"],
            "could not be read; give contacts",
        ),
        (
            "".join(collision(f'<sphere radius="{k}"/>') for k in range(1, 1003)),
            ["arm"],
            "its shapes have more than 1000 points; give contacts=",
        ),
        (collision('<sphere radius="1"/>'), ["arm", "arm"], "contact 'arm': there are two of this name"),
        (collision('<sphere radius="1"/>'), ["a*", "a*"], "contact 'arm': there are two of this name"),
    ],
)
def test_mistakes(tmp_path: Path, link: str, asked: Any, told: str) -> None:
    assert told in refusal(lambda: contacts(tmp_path, link, asked))


def test_a_link_that_nothing_moves(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(
        urdf("").replace('<link name="base"/>', f'<link name="base">{BALL}</link>')
    )
    told = refusal(lambda: rbdgen.load_robot(tmp_path / "robot.urdf", contacts_from_collision=["base"]))
    assert told == "contact 'base': no joint moves link 'base'; name a link behind a joint"


def test_a_robot_without_shapes_has_none() -> None:
    arm = rbdgen.RobotBuilder("a").add_body("b").add_body("c", parent="b", type="revolute", axis=(0, 1, 0))
    with pytest.raises(OptionError, match="link 'c' has no shape for collision"):
        rbdgen.load_robot(arm, contacts_from_collision=["c"])


def test_no_shape_is_read_if_none_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rbdgen.description.shapes import contacts as module  # noqa: PLC0415

    assert read(tmp_path, collision('<sphere radius="1"/>')).shapes

    def never(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(module, "shapes_of", never)
    assert rbdgen.load_robot(tmp_path / "robot.urdf").model.contacts == ()


def test_friction_of_an_mjcf_is_told(tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    path.write_text(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="leg"><freejoint/>'
        '<geom type="capsule" size="0.1" fromto="0 0 0 0 0 1" friction="0.8"/>'
        '<geom type="box" size="1 1 1" contype="0" conaffinity="0"/></body></worldbody></mujoco>'
    )
    robot = rbdgen.load_robot(path, contacts_from_collision=["leg"])
    assert [x.name for x in robot.model.contacts] == ["leg_1", "leg_2"]
    heights = sorted((x.first.placement.translation.z, x.radius) for x in robot.model.contacts)
    np.testing.assert_allclose(heights, [(0, 0.1), (1, 0.1)], atol=1e-12)
    told = "the coefficients of friction of its shapes for collision are 'leg_1' 0.8, 'leg_2' 0.8; not used: "
    assert [x for x in robot.warnings if told in x]


def test_in_the_shell(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["inspect", "quadruped12", "--base", "floating"]
    assert main([*command, "--contact-from-collision", "front_left_shank,hind_*_shank", "--json"]) == 0
    assert main([*command, "--contact-from-collision", "front_left_shank", "--contact", "tip=trunk"]) == 0
    printed = capsys.readouterr().out
    assert printed.index("contact 0: tip") < printed.index("contact 1: front_left_shank")
    assert main([*command, "--contact-from-collision", "front_left_thigh"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "rbdgen: error: --contact-from-collision front_left_thigh: link 'front_left_thigh' has no shape for "
        "collision; give --contact NAME=LINK:X,Y,Z"
    )
