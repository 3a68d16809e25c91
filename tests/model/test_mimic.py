"""Joints that follow others: their leaders, their multipliers, and refused files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rbdgen
from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import ModelError, OptionError
from rbdgen.model.build import Robot, build_robot
from rbdgen.model.coupling import Coupling
from rbdgen.model.mimic import Follower, Mimics

BODY = (
    '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)


def text(*joints: str, massless: str = "") -> str:
    """A URDF with one joint per line, given as `name type parent inner`.

    Link k + 1 is the child of joint k, and link 0 is the root.
    """
    lines = ["<robot name='r'><link name='0'/>"]
    for k, joint in enumerate(joints, 1):
        name, kind, parent, inner = joint.split(" ", 3)
        own = "" if name in massless else BODY
        lines.append(
            f"<link name='{k}'>{own}</link><joint name='{name}' type='{kind}'><parent link='{parent}'/>"
            f"<child link='{k}'/><origin xyz='0.1 0 0.2'/><axis xyz='0 1 0'/>{inner}</joint>"
        )
    return "\n".join([*lines, "</robot>"])


def made(*joints: str, mimic: Mimics = "eliminate", massless: str = "") -> Robot:
    return build_robot(parse_urdf(text(*joints, massless=massless), "r.urdf"), mimic=mimic)


def mimics(name: str, k: float = 1, c: float = 0) -> str:
    return f"<mimic joint='{name}' multiplier='{k}' offset='{c}'/>"


def test_chains_in_any_order() -> None:
    robot = made(
        f"a revolute 0 {mimics('b', 2, 0.5)}", f"b prismatic 1 {mimics('c', -3, 0.1)}", "c revolute 0 -"
    )
    assert robot.followers == (Follower("b", "c", -3, 0.1), Follower("a", "c", -6, 0.7))
    assert robot.joint_names == ("c",)
    sizes = {"nq": 1, "nv": 1, "nbodies": 3, "ninertial": 30}
    assert sizes.items() <= robot.model.sizes.items()
    assert robot.model.coupling == Coupling((((0, 1), (1, -6), (2, -3)),))
    assert robot.warnings == (
        "r.urdf:2: joint 'a' mimics 'b'; it has no place of its own in q",
        "r.urdf:3: joint 'b' mimics 'c'; it has no place of its own in q",
    )


def test_independent() -> None:
    robot = made("a revolute 0 -", f"b revolute 1 {mimics('a')}", mimic="independent")
    assert robot.joint_names == ("a", "b")
    assert robot.warnings == ("r.urdf:3: joint 'b' mimics 'a'; taken as an independent joint",)


def test_a_right_angle_stays_exact() -> None:
    robot = made("a revolute 0 -", f"b revolute 1 {mimics('a', 1, np.pi / 2)}")
    entries = {value for row in robot.model.bodies[1].placement.rotation for value in row}
    assert entries == {0, 1, -1}


def test_zero_times_is_fixed() -> None:
    robot = made("a revolute 0 -", f"b revolute 1 {mimics('a', 0, 0.3)}", f"c revolute 2 {mimics('b', 2, 1)}")
    assert robot.joint_names == ("a",)
    assert len(robot.model.bodies) == 1
    assert robot.followers == (Follower("b", "a", 0, 0.3), Follower("c", "a", 0, 1.6))


@pytest.mark.parametrize(
    ("joints", "line", "what"),
    [
        (("a revolute 0 -", f"b revolute 1 {mimics('x')}"), 3, "mimics 'x', which is no joint of this file"),
        (("a revolute 0 -", f"b revolute 1 {mimics('b')}"), 3, "mimics 'b', which is itself"),
        (
            ("a revolute 0 -", f"b revolute 1 {mimics('c')}", f"c revolute 2 {mimics('b')}"),
            3,
            "mimics 'c', which comes back to 'b'",
        ),
        (("a fixed 0 -", f"b revolute 1 {mimics('a')}"), 3, "mimics 'a', which is fixed"),
        (("a planar 0 <axis/>", f"b revolute 1 {mimics('a')}"), 3, "mimics 'a', which is planar"),
        (("a revolute 0 -", f"b floating 1 {mimics('a')}"), 3, "but is floating"),
        (("a revolute 0 -", f"b revolute 1 {mimics('a', 1e10)}"), 3, "1e+10 times as fast as 'a'"),
    ],
)
def test_refused(joints: tuple[str, ...], line: int, what: str) -> None:
    written = text(*joints).replace("<axis xyz='0 1 0'/><axis/>", "")
    description = parse_urdf(written, "r.urdf")
    with pytest.raises(ModelError) as caught:
        build_robot(description)
    assert str(caught.value).startswith(f"r.urdf:{line}: joint ")
    assert what in str(caught.value)
    assert "mimic='independent'" in str(caught.value)
    build_robot(description, mimic="independent")


def test_a_massless_follower_is_no_fault_and_a_massless_group_is() -> None:
    assert made("a revolute 0 -", f"b revolute 0 {mimics('a')}", massless="b").model.sizes["nv"] == 1
    with pytest.raises(ModelError, match=r"r\.urdf:3: nothing resists joint 'b' in any position"):
        made("a revolute 0 -", "b revolute 1 -", f"c revolute 2 {mimics('b', -1)}", massless="bc")


def test_sines_of_multiples_are_not_handed_in(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(text("a revolute 0 -", f"b revolute 1 {mimics('a', 2)}"))
    with pytest.raises(OptionError, match="trig='input': joint 'b' mimics another 2 times"):
        rbdgen.build(rbdgen.load_robot(path), ["crba"], trig="input")
    path.write_text(text("a revolute 0 -", f"b revolute 1 {mimics('a', -1, 0.2)}"))
    given = rbdgen.build(rbdgen.load_robot(path), ["gravity"], trig="input")
    plain = rbdgen.build(rbdgen.load_robot(path), ["gravity"])
    q = [0.7]
    assert given.gravity(np.sin(q), np.cos(q)) == pytest.approx(plain.gravity(q), abs=1e-13)


def test_an_unknown_word(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(text("a revolute 0 -"))
    with pytest.raises(OptionError, match="mimic 'yes' is not known; choose eliminate or independent"):
        rbdgen.load_robot(tmp_path / "r.urdf", mimic="yes")  # type: ignore[arg-type]


def test_forms_for_trees_say_so(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(text("a revolute 0 -", f"b revolute 1 {mimics('a', 2)}"))
    robot = rbdgen.load_robot(tmp_path / "r.urdf")
    with pytest.raises(
        OptionError, match="form 'bias' of 'aba' does not support mimic joints, which 'r' has"
    ):
        rbdgen.build(robot, ["aba"], variants={"aba": "bias"})
