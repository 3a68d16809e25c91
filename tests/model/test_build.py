"""What the model builder makes of a description: merging, order, snapping, warnings, refusals."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from rbdgen.description.schema import Limit
from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import ModelError
from rbdgen.model.build import Base, Robot, build_robot
from rbdgen.model.joints import Floating, Prismatic, Resistance, Revolute
from rbdgen.model.model import WORLD
from rbdgen.spatial.ops import NO_TRANSFORM, Matrix, Transform, Vector

BODY = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
"""Centred on the link's frame."""


def link(name: str, inside: str = BODY) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = '<axis xyz="0 0 1"/>') -> str:
    limit = (
        '<limit lower="-1" upper="1" effort="5" velocity="3"/>' if kind in ("revolute", "prismatic") else ""
    )
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}{limit}</joint>"
    )


def build(*parts: str, base: Base = "fixed", snap: float = 1e-9) -> Robot:
    """One element a line: line 1 is <robot>."""
    text = "\n".join(['<robot name="r">', *parts, "</robot>"])
    return build_robot(parse_urdf(text, "r.urdf"), base=base, snap=snap)


def refusal(*parts: str, base: Base = "fixed") -> str:
    with pytest.raises(ModelError) as error:
        build(*parts, base=base)
    message = str(error.value)
    assert "\n" not in message
    return message


# ---- tree and order


def test_children_are_numbered_depth_first_by_joint_name() -> None:
    robot = build(
        link("root"),
        *(link(name) for name in "abcd"),
        joint("z", "revolute", "root", "a"),
        joint("b", "revolute", "root", "b"),
        joint("y", "prismatic", "b", "c"),
        joint("x", "continuous", "b", "d"),
    )
    assert robot.joint_names == ("b", "x", "y", "z")
    assert [body.name for body in robot.model.bodies] == ["b", "d", "c", "a"]
    assert [body.parent for body in robot.model.bodies] == [WORLD, 0, 0, WORLD]
    assert [body.joint.idx_q for body in robot.model.bodies] == [0, 1, 2, 3]
    assert robot.model.subtree_end == (3, 2, 3, 4)
    assert robot.model.children == ((1, 2), (), (), ())
    assert [body.joint.type for body in robot.model.bodies] == [
        Revolute(),
        Revolute(),
        Prismatic(),
        Revolute(),
    ]


def test_joints_behind_fixed_ones_keep_their_place_in_the_order() -> None:
    """The walk goes down a fixed joint as down any other."""
    robot = build(
        *(link(name) for name in ("root", "mid", "p", "q", "s")),
        joint("b_fixed", "fixed", "root", "mid"),
        joint("z", "revolute", "mid", "p"),
        joint("a", "revolute", "root", "q"),
        joint("c", "revolute", "root", "s"),
    )
    assert robot.joint_names == ("a", "z", "c")


def test_a_joint_of_the_name_of_the_base() -> None:
    """Both are found by name, as the base gets another one."""
    parts = (
        link("root"),
        link("arm"),
        link("hand"),
        joint("root_joint", "revolute", "root", "arm"),
        joint("root_joint_", "revolute", "arm", "hand"),
    )
    robot = build(*parts, base="floating")
    assert [body.joint.name for body in robot.model.bodies] == ["root_joint__", "root_joint", "root_joint_"]
    q = np.arange(9.0)
    positions = robot.model.manifold.positions(q)
    np.testing.assert_array_equal(positions["root_joint__"], q[:7])
    assert (positions["root_joint"], positions["root_joint_"]) == (7, 8)


def test_floating_base() -> None:
    robot = build(link("root"), link("arm"), joint("j", "revolute", "root", "arm"), base="floating")
    model = robot.model
    assert (model.nq, model.nv, model.nbodies) == (8, 7, 2)
    assert model.is_floating
    base, arm = model.bodies
    assert (base.name, base.joint.name, base.joint.type) == ("root", "root_joint", Floating())
    assert (arm.joint.idx_q, arm.joint.idx_v, arm.parent) == (7, 6, 0)
    assert robot.joint_names == ("j",)
    assert robot.joints == (arm.joint,)
    assert model.parent_dof == (WORLD, 0, 1, 2, 3, 4, 5)
    assert model.ancestor_dofs(6) == [5, 4, 3, 2, 1, 0]
    assert model.subtree_dof_end == (7, 7)
    assert model.sizes == {
        **dict.fromkeys(("nc", "ncontacts", "nanchor", "nshare"), 0),
        "njoints": 1,
        "nq": 8,
        "nv": 7,
        "nx": 14,
        "nbodies": 2,
        "ninertial": 20,
        "nloop": 0,
        "nindependent": 0,
        "nf": 0,
    }


def test_a_lone_link_floats() -> None:
    model = build(link("root"), base="floating").model
    assert (model.nq, model.nv) == (7, 6)


def test_deep_chains() -> None:
    """No recursion: far more links than Python's stack has frames."""
    count = 3000
    robot = build(
        *(link(f"l{k}") for k in range(count + 1)),
        *(joint(f"j{k}", "revolute", f"l{k}", f"l{k + 1}") for k in range(count)),
    )
    assert robot.model.nv == count


def test_limits_are_carried_and_dynamics_told() -> None:
    robot = build(
        link("root"),
        link("a"),
        link("b"),
        joint("j", "revolute", "root", "a", '<axis xyz="0 1 0"/><dynamics damping="0.5" friction="0.25"/>'),
        joint("k", "continuous", "a", "b"),
    )
    first, second = robot.joints
    assert first.limit == Limit(lower=-1.0, upper=1.0, effort=5.0, velocity=3.0)
    assert first.resistance == second.resistance == Resistance()
    assert second.limit is None
    (told,) = robot.warnings
    assert told.endswith(
        "joint 'j' has damping 0.5, friction 0.25; left out: pass damping=True (--damping) and "
        "friction='exact' (--friction exact), or add these torques yourself"
    )


# ---- fixed links


def test_fixed_links_are_merged_into_the_body_that_carries_them() -> None:
    robot = build(
        link("root"),
        link("arm"),
        link("tool"),
        link("tip", ""),
        joint("j", "revolute", "root", "arm"),
        joint("flange", "fixed", "arm", "tool", '<origin xyz="0 0 3" rpy="0 0 1"/>'),
        joint("mark", "fixed", "tool", "tip", '<origin xyz="1 0 0"/>'),
    )
    (arm,) = robot.model.bodies
    assert arm.inertia.mass == 4
    assert arm.inertia.first_moment == Vector(0, 0, 6)
    # both about their centres, and the tool's 2 kg at 3 m
    assert arm.inertia.rotational == Matrix.diagonal(2 + 18, 2 + 18, 2)
    assert [(link.link, link.body) for link in robot.merged] == [("root", WORLD), ("tool", 0), ("tip", 0)]


def test_every_link_keeps_its_placement_on_its_body() -> None:
    """A turn of 90 degrees about z, then 1 m along the tool's x, is 1 m along the arm's y."""
    robot = build(
        link("root"),
        link("arm"),
        link("tool"),
        link("tip", ""),
        joint("j", "revolute", "root", "arm", '<origin xyz="0 0 7"/>'),
        joint("flange", "fixed", "arm", "tool", f'<origin xyz="0 0 3" rpy="0 0 {pi / 2!r}"/>'),
        joint("mark", "fixed", "tool", "tip", '<origin xyz="1 0 0"/>'),
    )
    placed = {link.link: link for link in robot.attachments}
    assert list(placed) == ["root", "arm", "tool", "tip"]
    assert placed["root"].body == WORLD
    assert placed["arm"].placement == placed["root"].placement == NO_TRANSFORM
    assert not placed["arm"].merged
    quarter = Matrix(Vector(0, -1, 0), Vector(1, 0, 0), Vector(0, 0, 1))
    assert placed["tool"].placement == Transform(quarter, Vector(0, 0, 3))
    assert placed["tip"].placement == Transform(quarter, Vector(0, 1, 3))


def test_placements_add_up_over_fixed_links() -> None:
    robot = build(
        link("root"),
        link("bracket", ""),
        link("arm"),
        joint("mount", "fixed", "root", "bracket", f'<origin xyz="1 0 0" rpy="0 0 {pi / 2!r}"/>'),
        joint("j", "revolute", "bracket", "arm", f'<origin xyz="2 0 0" rpy="{pi / 2!r} 0 0"/>'),
    )
    placement = robot.model.bodies[0].placement
    assert placement.translation == Vector(1, 2, 0)
    assert placement.rotation == Matrix(Vector(0, 0, 1), Vector(1, 0, 0), Vector(0, 1, 0))


def test_links_without_inertial_weigh_nothing() -> None:
    robot = build(
        link("root", ""),
        link("a", ""),
        link("b"),
        joint("j", "revolute", "root", "a"),
        joint("k", "revolute", "a", "b", '<axis xyz="1 0 0"/>'),
    )
    assert [body.inertia.mass for body in robot.model.bodies] == [0, 2]


def test_inertia_turned_by_the_inertials_own_rpy() -> None:
    moments = '<mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="3"/>'
    turned = f'<inertial><origin xyz="0 0 0" rpy="0 0 {pi / 2!r}"/>{moments}</inertial>'
    robot = build(link("root"), link("a", turned), joint("j", "revolute", "root", "a"))
    assert robot.model.bodies[0].inertia.rotational == Matrix.diagonal(2, 1, 3)


# ---- snapping

ALMOST = '<origin xyz="0 0 1" rpy="1.57079632679 0 0"/><axis xyz="0 0 1"/>'
CRUDE = '<origin xyz="0 0 1" rpy="1.5708 0 0"/><axis xyz="0 0 1"/>'


def test_snapped_joints_are_reported() -> None:
    parts = [link("root"), link("a"), link("b")]
    robot = build(*parts, joint("j", "revolute", "root", "a", ALMOST), joint("k", "revolute", "a", "b"))
    (snapped,) = robot.snapped
    assert snapped.joint == "j"
    assert snapped.change == pytest.approx(4.9e-12, rel=1e-2)
    assert robot.model.bodies[0].placement.rotation == Matrix(
        Vector(1, 0, 0), Vector(0, 0, -1), Vector(0, 1, 0)
    )
    assert robot.warnings == ()


def test_without_snapping_the_file_is_used_as_written() -> None:
    robot = build(link("root"), link("a"), joint("j", "revolute", "root", "a", ALMOST), snap=0.0)
    assert robot.snapped == ()
    assert robot.warnings == ()
    assert robot.model.bodies[0].placement.rotation[1].y == pytest.approx(4.9e-12, rel=1e-2)


def test_the_rounding_of_right_angles_is_no_news() -> None:
    exact = f'<origin xyz="0 0 1" rpy="{pi / 2!r} 0 0"/><axis xyz="0 0 1"/>'
    robot = build(link("root"), link("a"), joint("j", "revolute", "root", "a", exact))
    assert robot.snapped == ()
    assert robot.model.bodies[0].placement.rotation[1].y == 0


def test_almost_right_angles_are_warned_of() -> None:
    parts = link("root"), link("a"), joint("j", "revolute", "root", "a", CRUDE)
    (warning,) = build(*parts).warnings
    assert warning.startswith("r.urdf:4: joint 'j' is 3.7e-06 off a right angle")
    assert "pass snap=7e-06 (--snap 7e-06)" in warning
    robot = build(*parts, snap=7.4e-6)
    assert robot.warnings == ()
    assert [snapped.joint for snapped in robot.snapped] == ["j"]


def test_chains_of_fixed_rotations_stay_exact() -> None:
    """Twelve turns by 30 degrees: rounding must not refill the zeros."""
    turn = f'<origin rpy="0 0 {pi / 6!r}"/>'
    robot = build(
        *(link(f"l{k}", "") for k in range(12)),
        link("l12"),
        *(joint(f"f{k}", "fixed", f"l{k}", f"l{k + 1}", turn) for k in range(11)),
        joint("j", "revolute", "l11", "l12", turn + '<axis xyz="0 0 1"/>'),
    )
    rotation = robot.model.bodies[0].placement.rotation
    np.testing.assert_array_equal([list(row) for row in rotation], np.eye(3))


# ---- refusals


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
    """Mass there is, but none away from the axis."""
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
    """The limb stays where it is while the base turns about their joint."""
    parts = link("root", ""), link("a"), joint("j", "revolute", "root", "a")
    assert "'root_joint'" in refusal(*parts, base="floating")
    assert build(*parts).model.nv == 1


def test_a_massless_base_is_carried_by_its_limbs() -> None:
    parts = link("root", ""), link("a"), link("b"), joint("j", "revolute", "root", "a")
    aside = '<origin xyz="1 0 0"/><axis xyz="0 0 1"/>'
    assert build(*parts, joint("k", "revolute", "root", "b", aside), base="floating").model.nv == 8
    assert "'root_joint'" in refusal(*parts, joint("k", "revolute", "root", "b"), base="floating")


def test_rotational_inertia_without_mass_is_used_as_it_stands() -> None:
    """No body has it, but real files do, for links that are merged."""
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


# ---- what people see of a robot


def test_a_robot_in_one_line_and_as_a_tree() -> None:
    robot = build(
        *(link(name) for name in ("root", "arm", "hand", "&lt;tool&gt;")),
        joint("shoulder", "revolute", "root", "arm"),
        joint("elbow", "continuous", "arm", "hand"),
        '<joint name="f" type="fixed"><parent link="hand"/><child link="&lt;tool&gt;"/></joint>',
    )
    assert repr(robot) == "<Robot r: fixed base, 2 joints, nq 2, nv 2, 6 kg>"
    assert robot.tree().splitlines() == [
        "r: fixed base, nq 2, nv 2, bodies 2",
        "└── world; merged: root",
        "    └── arm: 2 kg; joint shoulder, revolute about (0, 0, 1), q[0], v[0]",
        "        └── hand: 4 kg; joint elbow, revolute about (0, 0, 1), q[1], v[1]; merged: <tool>",
    ]
    html = robot._repr_html_()
    assert html.count("<ul>") == html.count("</ul>") == 4
    assert html.count("<li>") == html.count("</li>") == 4
    assert "merged: &lt;tool&gt;" in html
    assert (robot.name, robot.nq, robot.nv, robot.mass) == ("r", 2, 2, 6.0)
    assert robot.bodies == ("arm", "hand")


def test_limits_are_elements_of_q() -> None:
    """Infinite for the base, for continuous joints, and where the file says nothing."""
    robot = build(
        *(link(name) for name in ("root", "arm", "hand")),
        joint("shoulder", "revolute", "root", "arm"),
        joint("elbow", "continuous", "arm", "hand"),
        base="floating",
    )
    assert robot.lower.tolist() == [-np.inf] * 7 + [-np.inf, -1.0][::-1]
    assert robot.upper.tolist() == [np.inf] * 7 + [1.0, np.inf]
    assert repr(robot) == "<Robot r: floating base, 2 joints, nq 9, nv 8, 6 kg>"


def test_the_tree_of_a_long_chain() -> None:
    count = 1500
    robot = build(
        *(link(f"l{k}") for k in range(count + 1)),
        *(joint(f"j{k}", "revolute", f"l{k}", f"l{k + 1}") for k in range(count)),
    )
    assert len(robot.tree().splitlines()) == count + 2
    assert robot._repr_html_().count("</li>") == count + 2
