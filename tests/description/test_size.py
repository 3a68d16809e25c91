"""Bounds on the size of descriptions, which one factor multiplies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rbdgen import RobotBuilder, load_robot
from rbdgen.description import armature, document, size
from rbdgen.errors import DescriptionError

INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'


def text(joints: int, more: str = "", mimic: bool = False, attributes: str = "") -> str:
    """The URDF of a chain; if `mimic`, its last joint follows the first one."""
    links = "".join(
        f'<link name="l{k}"><inertial><mass value="1"/>{INERTIA}</inertial></link>' for k in range(joints + 1)
    )
    follows = {joints - 1: '<mimic joint="j0"/>'} if mimic else {}
    chain = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>'
        f'<origin xyz="1 0 0"/>{follows.get(k, "")}</joint>'
        for k in range(joints)
    )
    return f'<robot name="r" {attributes}>{links}{chain}{more}</robot>'


def refused(path: Path, told: str, **options: object) -> None:
    """Asserts that the file is refused in one line, and is accepted with bounds twice as large."""
    with pytest.raises(DescriptionError) as error:
        load_robot(path, **options)  # type: ignore[arg-type]
    assert told in str(error.value)
    assert "bounds=FACTOR" in str(error.value)
    assert "\n" not in str(error.value)
    load_robot(path, bounds=2, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", ["urdf", "xacro"])
def test_elements(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"r.{suffix}"
    path.write_text(text(2, "<a/>" * 10, attributes=XACRO if suffix == "xacro" else ""), encoding="utf-8")
    monkeypatch.setattr(document, "MOST_ELEMENTS", 25)
    refused(path, "has more than the 25 elements a description may have")


def test_elements_that_a_xacro_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.xacro"
    loop = (
        '<xacro:macro name="m" params="n"><a/><xacro:if value="${n > 0}"><xacro:m n="${n - 1}"/></xacro:if>'
    )
    path.write_text(text(1, f'{loop}</xacro:macro><xacro:m n="25"/>', attributes=XACRO), encoding="utf-8")
    monkeypatch.setattr(document, "MOST_ELEMENTS", 30)
    refused(path, "has more than the 30 elements")


def test_a_count_of_elements_takes_end_tags_for_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(text(1), encoding="utf-8")  # it has 13 elements, some with an end tag
    monkeypatch.setattr(document, "MOST_ELEMENTS", 13)
    assert load_robot(path).nv == 1


def test_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(text(1), encoding="utf-8")
    monkeypatch.setattr(document, "MAX_BYTES", path.stat().st_size - 1)
    refused(path, "MB a description may have")


def test_the_widest_bounds_make_room_for_what_there_is_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(text(1), encoding="utf-8")
    assert load_robot(path, bounds=1e6).nv == 1


def test_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(text(3), encoding="utf-8")
    monkeypatch.setattr(size, "MOST_LINKS", 3)
    refused(path, "has 4 links, more than the 3 a robot may have")


def test_links_of_a_builder(monkeypatch: pytest.MonkeyPatch) -> None:
    built = (
        RobotBuilder("r")
        .add_body("a")
        .add_body("b", parent="a", type="continuous", axis=[0, 0, 1], mass=1.0, inertia=[1.0, 1.0, 1.0])
    )
    monkeypatch.setattr(size, "MOST_LINKS", 1)
    with pytest.raises(DescriptionError, match="has 2 links"):
        load_robot(built)
    assert load_robot(built, bounds=2).nv == 1


def test_joints_that_follow_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(text(5, mimic=True), encoding="utf-8")
    monkeypatch.setattr(size, "MOST_PAIRS", 19)  # there are 5 joints, 4 of which do not follow others
    refused(path, "has 5 joints, too many for mimic joints")
    assert load_robot(path, mimic="independent").nv == 5
    path.write_text(
        text(5, mimic=True).replace('name="j1" type="continuous"', 'name="j1" type="planar"'), "utf-8"
    )
    refused(path, "has 5 joints, too many for mimic joints")
    path.write_text(text(5), encoding="utf-8")
    assert load_robot(path).nv == 5


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        ("json", lambda: '{"j0": 1}'),
        ("toml", lambda: "j0 = 1\n#"),
        (
            "srdf",
            lambda: '<robot><rotor_params><joint name="j0" mass="1" gear_ratio="1"/></rotor_params></robot>',
        ),
    ],
)
def test_rotors(
    tmp_path: Path, suffix: str, write: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rotors = tmp_path / "r.urdf", tmp_path / f"rotors.{suffix}"
    path.write_text(text(1), encoding="utf-8")
    rotors.write_text(write(), encoding="utf-8")
    monkeypatch.setattr(armature, "MOST_BYTES", len(write()) - 1)
    refused(path, "MB that rotors may take", armature=rotors)


def test_a_key_of_many_parts(tmp_path: Path) -> None:
    """A long key is refused, as Python's parser would take minutes for a megabyte."""
    path, rotors = tmp_path / "r.urdf", tmp_path / "rotors.toml"
    path.write_text(text(1), encoding="utf-8")
    rotors.write_text("a." * 400_000 + "a = 1", encoding="utf-8")
    with pytest.raises(DescriptionError, match="a key has 400001 parts"):
        load_robot(path, armature=rotors)
    rotors.write_text("j0 = " + "{ rotor_inertia = 1.5, gear_ratio = 2.0 }", encoding="utf-8")
    assert load_robot(path, armature=rotors).model.bodies[0].joint.armature == (6.0,)
