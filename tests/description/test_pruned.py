"""Locked joints, subtrees and chains give a part of the same robot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.few import examples
from support.random_urdf import robots
from support.robots import BUNDLED

import rbdgen
from rbdgen.description.pruned import pruned
from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import DescriptionError, OptionError
from rbdgen.model.build import Robot, build_robot

LINK = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'  # noqa: E501


def joint(name: str, parent: str, child: str, kind: str = "continuous", more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 1"/><axis xyz="0 1 0"/>{more}</joint>'
    )


TREE = "\n".join(
    [
        '<robot name="tree">',
        *(LINK.format(name) for name in ("base", "spine", "left", "hand", "tool", "right", "fist")),
        joint("lift", "base", "spine", "prismatic"),
        joint("left_arm", "spine", "left"),
        joint("left_hand", "left", "hand"),
        joint("tool_mount", "hand", "tool", "fixed"),
        joint("right_arm", "spine", "right", more='<mimic joint="left_arm" multiplier="-1" offset="0.5"/>'),
        joint("right_fist", "right", "fist", more='<mimic joint="right_arm" multiplier="2"/>'),
        "</robot>",
    ]
)


def tree(**part: Any) -> Any:
    return pruned(parse_urdf(TREE, "tree.urdf"), **part)


def told(**part: Any) -> list[str]:
    """The warnings in addition to those of the whole robot."""
    return list(tree(**part).warnings[len(tree().warnings) :])


# ---- locked joints


def tau(robot: Robot, *state: Any) -> Any:
    return rbdgen.trace(robot, "rnea")(*state).full().ravel()


@settings(max_examples=examples(10, 25), deadline=None)
@given(robots(), st.integers(0, 2**32 - 1))
def test_a_locked_robot_is_the_whole_one_held_still(text: str, seed: int) -> None:
    """A locked joint has a constant position, no velocity and no acceleration; its torque is left out."""
    rng, description = np.random.default_rng(seed), parse_urdf(text)
    whole = build_robot(description, snap=0)
    q, v, a = rng.uniform(-3, 3, (3, whole.model.nv))
    held = rng.permutation(whole.model.nv)[: rng.integers(0, whole.model.nv)]
    v[held] = a[held] = 0
    moving = np.setdiff1d(np.arange(whole.model.nv), held)
    lock = {whole.joint_names[k]: float(q[k]) for k in held}
    locked = build_robot(pruned(description, lock), snap=0)
    assert locked.joint_names == tuple(whole.joint_names[k] for k in moving)
    expected = tau(whole, q, v, a)[moving]
    scale = np.abs(tau(whole, q, v, a)).max()
    np.testing.assert_allclose(
        tau(locked, q[moving], v[moving], a[moving]), expected, rtol=1e-11, atol=1e-12 * scale
    )


def test_a_locked_robot_is_that_of_pinocchio() -> None:
    lock = {"front_left_knee": 0.7, "hind_right_abduction": -0.2}
    robot = rbdgen.load_robot("quadruped12", base="floating", lock=lock)
    model = pin.buildModelFromUrdf(str(BUNDLED["quadruped12"]), pin.JointModelFreeFlyer())
    at = pin.neutral(model)
    for name, value in lock.items():
        at[model.joints[model.getJointId(name)].idx_q] = value
    reduced = pin.buildReducedModel(model, [model.getJointId(name) for name in lock], at)
    assert robot.joint_names == tuple(reduced.names)[2:]
    rng = np.random.default_rng(2)
    q = pin.integrate(reduced, pin.neutral(reduced), rng.normal(size=reduced.nv))
    v, a = rng.normal(size=(2, reduced.nv))
    expected = pin.rnea(reduced, reduced.createData(), q, v, a)
    np.testing.assert_allclose(tau(robot, q, v, a), expected, rtol=1e-12, atol=1e-11)


def test_a_locked_screw_has_advanced() -> None:
    body: Any = {"mass": 1.0, "inertia": (1, 1, 1), "parent": "base", "axis": (0, 0, 1), "xyz": (1, 0, 0)}
    screw = rbdgen.RobotBuilder("r").add_body("base").add_body("nut", type="helical", pitch=0.2, **body)
    screw.add_body("rod", type="revolute", **(body | {"parent": "nut"}))
    robot = rbdgen.load_robot(screw, lock={"nut_joint": np.pi / 2})
    (rod,) = robot.model.bodies
    assert [float(x) for x in rod.placement.translation] == pytest.approx([1, 1, 0.1 * np.pi])


@pytest.mark.parametrize("kind", ["planar", "spherical", "floating"])
def test_a_joint_of_several_coordinates_is_not_locked(kind: Any) -> None:
    body: Any = {"mass": 1.0, "inertia": (1, 1, 1), "parent": "base"}
    robot = rbdgen.RobotBuilder("r").add_body("base").add_body("ball", type=kind, **body)
    with pytest.raises(DescriptionError, match="lock joints of one coordinate only"):
        rbdgen.load_robot(robot, lock={"ball_joint": 0})


def test_at_zero_the_placement_stays_as_written() -> None:
    before, after = tree().joints[1], tree(lock={"left_arm": 0}).joints[1]
    assert after == replace(before, type="fixed", axis=(1, 0, 0), limit=None)


def test_followers_of_a_locked_joint_are_locked() -> None:
    """right_arm is locked at 0.5 - 0.2 and right_fist at twice this; chains are resolved in any order."""
    locked = tree(lock={"left_arm": 0.2})
    assert [joint.name for joint in locked.joints if joint.type != "fixed"] == ["lift", "left_hand"]
    right, fist = (joint for joint in locked.joints if joint.name.startswith("right_"))
    assert right.origin.rpy == pytest.approx((0, 0.3, 0))
    assert fist.origin.rpy == pytest.approx((0, 0.6, 0))
    assert told(lock={"left_arm": 0.2}) == [
        "tree.urdf:13: joint 'right_arm' mimics 'left_arm', which is locked; locked too",
        "tree.urdf:14: joint 'right_fist' mimics 'right_arm', which is locked; locked too",
    ]


def test_a_follower_is_locked_where_it_is_asked_to_be() -> None:
    locked = tree(lock={"right_arm": 1, "left_arm": 0.2, "right_fist": 0})
    assert locked.joints[4].origin.rpy == pytest.approx((0, 1, 0))
    assert told(lock={"right_arm": 1, "left_arm": 0.2, "right_fist": 0}) == []


# ---- a subtree, a chain


def test_a_subtree() -> None:
    part = tree(root="left")
    assert [link.name for link in part.links] == ["left", "hand", "tool"]
    assert [joint.name for joint in part.joints] == ["left_hand", "tool_mount"]
    assert part.root == "left"
    what = "link 'left' is the root; dropped what it does not carry: 'base', 'spine', 'right', 'fist'"
    assert told(root="left") == [f"tree.urdf:4: {what}"]


def test_a_joint_whose_primary_is_dropped_stays_by_itself() -> None:
    assert [joint.mimic for joint in tree(root="right").joints] == [None]
    assert told(tip="right")[-1] == (
        "tree.urdf:13: joint 'right_arm' mimics 'left_arm', which was dropped; taken as an independent joint"
    )
    assert tree(root="spine").joints[3:] == tree().joints[4:]


def test_a_chain_drops_what_hangs_off_it() -> None:
    part = tree(tip="left")
    assert [link.name for link in part.links] == ["base", "spine", "left"]
    assert [joint.name for joint in part.joints] == ["lift", "left_arm"]
    assert told(tip="left") == [
        "tree.urdf:11: link 'hand', with 1 behind it, hangs off the chain; dropped, its mass as well",
        "tree.urdf:13: link 'right', with 1 behind it, hangs off the chain; dropped, its mass as well",
    ]


def test_a_chain_between_two_links() -> None:
    part = tree(root="spine", tip="hand")
    assert [joint.name for joint in part.joints] == ["left_arm", "left_hand"]


def test_nothing_asked_for_changes_nothing() -> None:
    assert tree(lock={}, root="base") == tree()
    assert tree(tip="tool").links == tuple(
        link for link in tree().links if link.name not in ("right", "fist")
    )


def test_by_the_same_names_in_python() -> None:
    robot = rbdgen.load_robot("humanoid30", lock={"left_elbow_pitch": 0.5}, root="chest", tip="left_forearm")
    arm = ("left_shoulder_pitch", "left_shoulder_roll", "left_shoulder_yaw", "left_forearm_yaw")
    assert robot.joint_names == arm
    assert len(robot.warnings) == 4  # of links beside the chest, head, right arm, left wrist


# ---- refusals


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            {"lock": {"left_arn": 1}},
            "tree.urdf: there is no joint 'left_arn'; give the name of a joint, such as",
        ),
        ({"lock": {"tool_mount": 1}}, "tree.urdf:12: joint 'tool_mount' is fixed, so it cannot be locked"),
        ({"lock": {"lift": float("nan")}}, "tree.urdf:9: joint 'lift' cannot be locked at nan"),
        ({"root": "pelvis"}, "tree.urdf: there is no link 'pelvis'; give the name of a link, such as 'base'"),
        ({"tip": "pelvis"}, "tree.urdf: there is no link 'pelvis'"),
        ({"root": "right", "tip": "hand"}, "tree.urdf: link 'hand' is not carried by link 'right'"),
    ],
)
def test_what_is_not_there_is_refused(part: Any, message: str) -> None:
    with pytest.raises(DescriptionError) as error:
        tree(**part)
    assert str(error.value).startswith(message)


def test_a_position_is_a_number() -> None:
    with pytest.raises(OptionError, match="lock of joint 'joint1' at 'half': give a number"):
        rbdgen.load_robot("arm7", lock={"joint1": "half"})  # type: ignore[dict-item]


@pytest.mark.parametrize("given", [{"lock": 5}, {"xacro_args": "a=1"}, {"root": 5}, {"tip": b"link1"}])
def test_what_makes_no_sense_is_refused(given: Any) -> None:
    with pytest.raises(OptionError, match=r"is not a dict; give a value by name|is no name; give that of"):
        rbdgen.load_robot("arm7", **given)


def test_a_robot_without_a_moving_joint_is_refused() -> None:
    with pytest.raises(rbdgen.RbdgenError, match="no moving joint"):
        rbdgen.load_robot("arm7", root="link7")
