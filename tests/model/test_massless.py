"""Robots without motion, or with joints that nothing resists, are refused."""

from __future__ import annotations

from support.urdf_parts import build, joint, link, refusal

from rbdgen.spatial.ops import Matrix


def test_nothing_moves() -> None:
    message = refusal(link("root"), link("a"), joint("j", "fixed", "root", "a"))
    assert message.startswith("r.urdf: the robot has no moving joint")
    assert "base='floating'" in message


def test_massless_leaf() -> None:
    message = refusal(
        link("root"),
        link("a"),
        link("tip", ""),
        joint("j", "revolute", "root", "a"),
        joint("wrist", "revolute", "a", "tip"),
    )
    assert message.startswith("r.urdf:6: nothing resists joint 'wrist' in any position")
    assert "give its links mass and inertia, or make the joint fixed" in message


def test_a_point_mass_on_the_axis_resists_no_turn() -> None:
    """The link has mass, but no inertia about the axis."""
    moments = '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
    point = f'<inertial><origin xyz="0 0 0.7"/><mass value="1"/>{moments}</inertial>'
    parts = link("root"), link("a", point)
    assert "'j'" in refusal(*parts, joint("j", "revolute", "root", "a"))
    assert build(*parts, joint("j", "prismatic", "root", "a")).model.nv == 1
    assert build(*parts, joint("j", "revolute", "root", "a", '<axis xyz="1 0 0"/>')).model.nv == 1


def test_two_joints_about_one_axis_with_nothing_between() -> None:
    joints = joint("j", "revolute", "root", "a"), joint("k", "revolute", "a", "b")
    assert "r.urdf:5: nothing resists joint 'j'" in refusal(link("root"), link("a", ""), link("b"), *joints)
    assert build(link("root"), link("a"), link("b"), *joints).model.nv == 2


def test_a_massless_base_that_floats_alone() -> None:
    message = refusal(link("root", ""), base="floating")
    assert message.startswith("r.urdf:2: nothing resists joint 'root_joint' in any position")
    assert message.endswith("give link 'root' mass and inertia, or pass base='fixed'")


def test_a_massless_base_with_one_limb() -> None:
    """The base alone can turn about the joint while the limb stays at rest, so M is singular."""
    parts = link("root", ""), link("a"), joint("j", "revolute", "root", "a")
    assert "'root_joint'" in refusal(*parts, base="floating")
    assert build(*parts).model.nv == 1


def test_a_massless_base_is_carried_by_its_limbs() -> None:
    parts = link("root", ""), link("a"), link("b"), joint("j", "revolute", "root", "a")
    aside = '<origin xyz="1 0 0"/><axis xyz="0 0 1"/>'
    assert build(*parts, joint("k", "revolute", "root", "b", aside), base="floating").model.nv == 8
    assert "'root_joint'" in refusal(*parts, joint("k", "revolute", "root", "b"), base="floating")


def test_rotational_inertia_without_mass_is_used_as_it_stands() -> None:
    """No body can have such inertia, but real files do, for links that are merged with others."""
    only = '<inertial><mass value="0"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    robot = build(
        link("root"),
        link("a"),
        link("rotor", only),
        joint("j", "revolute", "root", "a"),
        joint("mount", "fixed", "a", "rotor"),
    )
    (warning,) = robot.warnings
    assert warning.startswith("r.urdf:4: link 'rotor' has rotational inertia but no mass")
    assert robot.model.bodies[0].inertia.rotational == Matrix.diagonal(2, 2, 2)
    assert robot.model.bodies[0].inertia.mass == 2


def test_all_zero_inertial_is_no_body() -> None:
    nothing = (
        '<inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
    )
    robot = build(
        link("root"),
        link("a", nothing),
        link("b"),
        joint("j", "revolute", "root", "a"),
        joint("k", "revolute", "a", "b", '<origin xyz="1 0 0"/><axis xyz="0 0 1"/>'),
    )
    assert robot.model.bodies[0].inertia.mass == 0
