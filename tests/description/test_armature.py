"""Rotors of motors are read from files of their own and from the elements that Drake adds to URDF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.robots import BUNDLED
from support.small_urdf import transmission, urdf

import rbdgen
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
        (
            "a.srdf",
            '\n<robot><rotor_params><joint name="j" mass="1e-5" gear_ratio="100."/></rotor_params></robot>',
        ),
    ],
)
def test_files(tmp_path: Path, name: str, text: str) -> None:
    """The rotors of a file replace those of the description."""
    path = tmp_path / name
    path.write_text(text)
    described = parse_urdf(urdf(robot=transmission('<drake:rotor_inertia value="7"/>')), "r.urdf")
    (joint,) = with_armature(described, read_armature(path)).joints
    assert joint.armature == pytest.approx(0.1, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is neither TOML nor JSON"),
        ("\xff", "is neither TOML nor JSON"),
        ("[" * 100_000, "is neither TOML nor JSON"),
        ('{"j": 1, "j": 2}', "a name occurs twice"),
        ("[1]", "has no entries"),
        ('{"j": NaN}', "armature of joint 'j' is nan; write a number of 0 or more"),
        ('{"j": {"rotor_inertia": -1}}', "rotor_inertia of joint 'j' is -1"),
        ('{"j": {"rotor_inertia": 1, "armature": 1}}', "joint 'j' has rotor_inertia, armature; write"),
        ('{"j": {}}', "joint 'j' has nothing"),
        ('{"k": 1}', "joint 'k' is no moving joint of 'r'"),
        ("0" * (MOST_BYTES + 1), "is larger than the 1 MB that rotors may take"),
    ],
    ids=range(11),
)
def test_bad_files(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(DescriptionError) as error:
        with_armature(parse_urdf(urdf(), "r.urdf"), read_armature(path))
    assert str(error.value).startswith(f"{path}: ")
    assert told in str(error.value)


def test_a_missing_file() -> None:
    with pytest.raises(DescriptionError, match=r"cannot be read \(No such file or directory\); give a TOML"):
        read_armature("missing.json")


# ---- SRDF

SRDF = '<robot name="r"><group name="g"><joint name="j"/></group>\n<rotor_params>{}</rotor_params></robot>'


def test_joints_of_an_srdf_that_the_robot_does_not_have_are_told(tmp_path: Path) -> None:
    """An SRDF may be for all versions of a robot, so unknown joints only give warnings."""
    path = tmp_path / "r.srdf"
    path.write_text(
        SRDF.format('<joint name="k" mass="1" gear_ratio="1"/><joint name="j" mass="2" gear_ratio="3"/>')
    )
    found = with_armature(parse_urdf(urdf(), "r.urdf"), read_armature(path))
    assert [joint.armature for joint in found.joints] == [18.0]
    assert found.warnings[-1] == f"{path}: joint 'k' is no moving joint of 'r'; ignored"


@pytest.mark.parametrize(
    ("joints", "told"),
    [
        ('<joint name="j" mass="1"/>', ":2: joint 'j' has no gear_ratio; write"),
        ('<joint mass="1" gear_ratio="1"/>', ":2: <joint> of robot 'r' has no name; write"),
        ('<joint name="j" mass="much" gear_ratio="1"/>', ":2: mass of joint 'j' is 'much'"),
        (
            '<joint name="j" mass="-1" gear_ratio="1"/>',
            ": rotor_inertia of joint 'j' is -1.0; write a number",
        ),
        ('<joint name="j" mass="1" gear_ratio="1"/>' * 2, ":2: joint 'j' occurs twice; keep one"),
        ("</rotor_params><rotor_params>", None),
        ("<joint>", ":2: not XML"),
    ],
)
def test_bad_rotors_of_an_srdf(tmp_path: Path, joints: str, told: str | None) -> None:
    path = tmp_path / "r.srdf"
    path.write_text(SRDF.format(joints))
    described = parse_urdf(urdf(), "r.urdf")
    if told is None:
        assert with_armature(described, read_armature(path)).joints == described.joints
        return
    with pytest.raises(DescriptionError) as error:
        with_armature(described, read_armature(path))
    assert str(error.value).startswith(f"{path}{told}")


def test_an_srdf_without_rotors(tmp_path: Path) -> None:
    path = tmp_path / "r.srdf"
    path.write_text('<robot name="r"/>')
    with pytest.raises(DescriptionError, match=r"r\.srdf:1: robot 'r' has no <rotor_params>; give an SRDF"):
        read_armature(path)


def test_rotors_of_an_srdf_are_those_of_pinocchio(tmp_path: Path) -> None:
    """M with the rotors of an SRDF is that of Pinocchio."""
    pin = pytest.importorskip("pinocchio")
    path = tmp_path / "r.srdf"
    path.write_text(
        SRDF.format(
            '<joint name="joint3" mass="1e-5" gear_ratio="-80"/><joint name="x" mass="1" gear_ratio="1"/>'
        )
    )
    robot = rbdgen.load_robot("puma560", armature=path, snap=0)
    model = pin.buildModelFromUrdf(str(BUNDLED["puma560"]))
    pin.loadRotorParameters(model, str(path), False)
    q = np.random.default_rng(1).normal(size=6)
    M = np.triu(pin.crba(model, model.createData(), q))
    np.testing.assert_allclose(np.triu(rbdgen.trace(robot, "crba")(q).full()), M, rtol=1e-12, atol=1e-13)
