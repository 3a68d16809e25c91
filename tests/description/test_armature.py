"""Rotors of motors: from files of their own and from the elements that Drake adds to URDF."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from description.test_ignored import transmission, urdf

from rbdgen.description.armature import MOST_BYTES, read_armature, with_armature
from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import DescriptionError

JSON = '{"j": {"rotor_inertia": 1e-5, "gear_ratio": -100}}'


def felt(text: str) -> float:
    (joint,) = parse_urdf(text, "r.urdf").joints
    return joint.armature


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ('<drake:rotor_inertia value="1e-5"/><drake:gear_ratio value="-100"/>', 0.1),
        ('<drake:rotor_inertia value="0.5"/>', 0.5),
        ('<drake:gear_ratio value="100"/>', 0.0),
        ('<rotor_inertia value="0.5"/>', 0.0),
        ("<mechanicalReduction>100</mechanicalReduction>", 0.0),
    ],
)
def test_transmissions(inside: str, expected: float) -> None:
    assert felt(urdf(robot=transmission(inside))) == pytest.approx(expected, rel=1e-15)


def test_two_motors_of_a_joint_add_up() -> None:
    rotor = '<drake:rotor_inertia value="0.5"/>'
    assert felt(urdf(robot=transmission(rotor) + transmission(rotor))) == 1.0


def test_a_transmission_of_a_fixed_joint_moves_no_rotor() -> None:
    text = urdf(kind="fixed", robot=transmission('<drake:rotor_inertia value="0.5"/>'))
    assert felt(text) == 0.0
    (told,) = parse_urdf(text, "r.urdf").warnings
    assert "transmission 't' has rotor_inertia 0.5; ignored" in told


def test_a_rotor_is_a_number() -> None:
    with pytest.raises(DescriptionError, match=r"^r\.urdf:8: .*much"):
        parse_urdf(urdf(robot=transmission('<drake:rotor_inertia value="much"/>')), "r.urdf")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", JSON),
        ("a.json", '{"j": 0.1}'),
        ("a.json", '{"j": {"armature": 0.1}}'),
        ("a.toml", "j = { rotor_inertia = 1e-5, gear_ratio = 100 }"),
        ("a.toml", "[j]\narmature = 0.1"),
    ],
)
def test_files(tmp_path: Path, name: str, text: str) -> None:
    """They take the place of what the description says."""
    path = tmp_path / name
    path.write_text(text)
    if name == "a.toml" and sys.version_info < (3, 11):
        pytest.skip("TOML needs Python 3.11")
    described = parse_urdf(urdf(robot=transmission('<drake:rotor_inertia value="7"/>')), "r.urdf")
    (joint,) = with_armature(described, read_armature(path), str(path)).joints
    assert joint.armature == pytest.approx(0.1, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is no TOML or JSON"),
        ("\xff", "is no TOML or JSON"),
        ("[" * 100_000, "is no TOML or JSON"),
        ('{"j": 1, "j": 2}', "a name occurs twice"),
        ("[1]", "has no entries"),
        ('{"j": NaN}', "armature of joint 'j' is nan; write a number of 0 or more"),
        ('{"j": {"rotor_inertia": -1}}', "rotor_inertia of joint 'j' is -1"),
        ('{"j": {"rotor_inertia": 1, "armature": 1}}', "joint 'j' has rotor_inertia, armature; write"),
        ('{"j": {}}', "joint 'j' has nothing"),
        ('{"k": 1}', "joint 'k' is no moving joint of 'r'"),
        ("0" * (MOST_BYTES + 1), "it is larger than 1 MB"),
    ],
    ids=range(11),
)
def test_bad_files(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(DescriptionError) as error:
        with_armature(parse_urdf(urdf(), "r.urdf"), read_armature(path), str(path))
    assert str(error.value).startswith(f"{path}: ")
    assert told in str(error.value)


def test_a_missing_file() -> None:
    with pytest.raises(DescriptionError, match=r"cannot be read \(No such file or directory\); give a TOML"):
        read_armature("missing.json")
