"""The model builder: the order of bodies, merged links, and the description of the robot in words."""

from __future__ import annotations

from math import pi

import numpy as np
from support.urdf_parts import build, joint, link

from rbdgen.description.schema import Limit
from rbdgen.model.joints import Floating, Prismatic, Resistance, Revolute
from rbdgen.model.model import WORLD
from rbdgen.spatial.ops import NO_TRANSFORM, Matrix, Transform, Vector

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
    """Joints below a fixed joint are numbered as below any other joint."""
    robot = build(
        *(link(name) for name in ("root", "mid", "p", "q", "s")),
        joint("b_fixed", "fixed", "root", "mid"),
        joint("z", "revolute", "mid", "p"),
        joint("a", "revolute", "root", "q"),
        joint("c", "revolute", "root", "s"),
    )
    assert robot.joint_names == ("a", "z", "c")


def test_a_joint_of_the_name_of_the_base() -> None:
    """The base gets another name, so that both joints are found by name."""
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
        **dict.fromkeys(("nc", "ncontacts", "nanchor", "nshare", "npoints", "ncorners", "nimpulses"), 0),
        **dict.fromkeys(("nheld", "nrows", "nslants", "nsprings"), 0),
        **dict.fromkeys(("npairs", "ngroups", "nspheres", "ncapsules", "nboxes", "nhalfspaces"), 0),
        "njoints": 1,
        "nservos": 1,
        "nq": 8,
        "nv": 7,
        "nx": 14,
        "nbodies": 2,
        "ninertial": 20,
        "nloop": 0,
        "nindependent": 0,
        "nf": 0,
        "nturns": 6,
    }


def test_a_lone_link_floats() -> None:
    model = build(link("root"), base="floating").model
    assert (model.nq, model.nv) == (7, 6)


def test_deep_chains() -> None:
    """A chain may have far more links than Python's stack has frames."""
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
    # the sum of both inertias about their centres of mass, and of the tool's 2 kg at 3 m
    assert arm.inertia.rotational == Matrix.diagonal(2 + 18, 2 + 18, 2)
    assert [(link.link, link.body) for link in robot.merged] == [("root", WORLD), ("tool", 0), ("tip", 0)]


def test_every_link_keeps_its_placement_on_its_body() -> None:
    """After a rotation by 90 degrees about z, 1 m along the tool's x is 1 m along the arm's y."""
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


# ---- what users see of a robot


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
    """Limits are infinite for the base, for continuous joints, and if the file has none."""
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
