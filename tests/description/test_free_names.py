"""Generated names never clash with those of a description."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import rbdgen
from rbdgen.errors import OptionError

INERTIAL: Any = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.2, 0.25)}


def test_a_universal_joint_beside_a_joint_of_its_made_name() -> None:
    """Parameters and followers belong to the joint of that name, not to a part of the universal joint."""
    builder = rbdgen.RobotBuilder("r").add_body("base")
    two: Any = {"type": "universal", "axis": (1, 0, 0), "second_axis": (0, 1, 0), "joint": "u"}
    builder.add_body("x", parent="base", **two, **INERTIAL)
    builder.add_body("y", parent="x", type="revolute", axis=(0, 0, 1), joint="u_1", **INERTIAL)
    hinge: Any = {"type": "revolute", "axis": (0, 0, 1), "joint": "u_2"}
    builder.add_body("z", parent="y", mimic=("u_1", 2.0, 0.5), **hinge, **INERTIAL)
    robot = rbdgen.load_robot(builder)
    assert robot.joint_names == ("u_1_", "u_2_", "u_1")
    lib = rbdgen.build(robot, ["crba"], params=["armature:u_1"])
    q = [0.1, 0.2, 0.3]
    found = {name: float(value) for name, value in lib.full_configuration(q).items()}
    assert found == pytest.approx({"u_1_": 0.1, "u_2_": 0.2, "u_1": 0.3, "u_2": 1.1})
    change = lib.crba(q, lib.update([100.0])) - lib.crba(q, lib.update([0.0]))
    np.testing.assert_allclose(change, np.diag([0, 0, 100.0]), atol=1e-12)


def test_the_base_beside_a_joint_of_its_name() -> None:
    builder = rbdgen.RobotBuilder("r").add_body("base", **INERTIAL)
    builder.add_body("x", parent="base", type="revolute", axis=(0, 0, 1), joint="root_joint", **INERTIAL)
    robot = rbdgen.load_robot(builder, base="floating")
    assert [body.joint.name for body in robot.model.bodies] == ["root_joint_", "root_joint"]


GEOM = '<inertial pos=".1 .2 0" mass="1" diaginertia="1 1 1"/>'

SOUND: dict[str, tuple[str, set[str]]] = {
    "a body called as an unnamed one": (
        f'<body name="body1"><joint name="a"/>{GEOM}</body><body><joint name="b"/>{GEOM}</body>',
        {"world", "body1", "body2", "a", "b"},
    ),
    "an unnamed body first": (
        f'<body><joint name="a"/>{GEOM}</body><body name="body1"><joint name="b"/>{GEOM}</body>',
        {"world", "body1", "body1_", "a", "b"},
    ),
    "a joint called as an unnamed one": (
        f'<body name="a"><joint/>{GEOM}<body name="b"><joint name="a_joint0"/>{GEOM}</body></body>',
        {"world", "a", "b", "a_joint0_", "a_joint0"},
    ),
    "a body called as one between two joints": (
        f'<body name="a"><joint name="j"/><joint name="k" axis="0 1 0"/>{GEOM}'
        f'<body name="a_j"><joint name="l"/>{GEOM}</body></body>',
        {"world", "a", "a_j", "a_j_", "j", "k", "l"},
    ),
    "joints called as those of bodies beside their anchors and without joints": (
        f'<body name="a"><joint name="a_origin" pos=".1 .2 .3"/>{GEOM}</body>'
        f'<body name="c"><body name="d"><joint name="c_fixed"/>{GEOM}</body></body>',
        {"world", "a", "a_a_origin", "a_origin", "a_origin_", "c", "c_fixed", "c_fixed_", "d"},
    ),
    "a site called as a body between two joints": (
        f'<body name="a"><joint name="j"/><joint name="k" axis="0 1 0"/>{GEOM}'
        '<site name="a_j" pos="1 2 3"/></body>',
        {"world", "a", "a_j", "a_j_", "j", "k"},
    ),
}


@pytest.mark.parametrize("what", SOUND)
def test_mjcf_is_not_refused_for_names_that_it_does_not_have(what: str, tmp_path: Path) -> None:
    tree, names = SOUND[what]
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco><worldbody>{tree}</worldbody></mujoco>")
    robot = rbdgen.load_robot(path)
    assert set(robot.known_frames) == names


def test_a_pinocchio_joint_and_the_body_frame_of_another_joint_of_its_name() -> None:
    """The link that carries the inertia gets another name, and the frame keeps its placement."""
    model = pin.Model()
    first = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "a")
    second = model.addJoint(first, pin.JointModelRY(), pin.SE3.Identity(), "b")
    for joint in (first, second):
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    place = pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3]))
    model.addFrame(pin.Frame("a", second, 0, place, pin.FrameType.BODY))
    robot = rbdgen.load_robot(model)
    frame = robot.known_frames["a"]
    assert (frame.body, [float(x) for x in frame.placement.translation]) == (1, [0.1, 0.2, 0.3])


def test_a_frame_of_the_world_beside_a_floating_link_called_world() -> None:
    model = pin.Model()
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(base, pin.Inertia.Random(), pin.SE3.Identity())
    model.addBodyFrame("world", base, pin.SE3.Identity(), 0)
    model.addFrame(pin.Frame("mark", 0, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    assert rbdgen.load_robot(model).known_frames["mark"].body == -1


def test_no_joint_hides_the_world() -> None:
    builder = rbdgen.RobotBuilder("r").add_body("base")
    builder.add_body("x", parent="base", type="revolute", axis=(0, 0, 1), joint="world", **INERTIAL)
    assert rbdgen.load_robot(builder).known_frames["world"].body == -1


# ---- sets of contacts, whose names are suffixes of functions


def with_sets(*names: str) -> Any:
    sets = {name: ["tip"] for name in names}
    return rbdgen.load_robot("double_pendulum", contacts=[rbdgen.Point("tip", "lower")], contact_sets=sets)


def test_no_set_is_called_as_what_is_emitted_for_a_function(tmp_path: Path) -> None:
    functions = ["contact_jacobian", "contact_aba", "contact_aba_vjp", "contact_aba_hvp"]
    symbol = "double_pendulum_contact_jacobian_"
    found: set[str] = set()
    for options in ({"emit": ["casadi"], "knots": 4}, {"params": ["mass:*"]}, {"real": "float"}):
        folder = rbdgen.generate(with_sets(), tmp_path, functions, compiled=False, **options)  # type: ignore[arg-type]
        for path in folder.rglob("*.*"):
            found.update(re.findall(rf"\b{symbol}(\w+)", f"{path.name} {path.read_text()}", re.IGNORECASE))
    assert found >= {"batch", "call", "x4", "x4_sparsity_in"}
    for name in found:
        with pytest.raises(OptionError, match=f"contact set '{name}': its functions would have the names of"):
            with_sets(name)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("a_batch",), "'NAME_batch', which is emitted for NAME"),
        (("Batch",), "'NAME_batch', which is emitted for NAME"),
        (("left_rollout",), "'NAME_rollout', which is emitted for NAME"),
        (("x_JVP",), "names of derivatives"),
        (("Held",), "there is a function contact_forces_held"),
        (("x", "held_x"), "there is a function contact_forces_held_x"),
        (("Trot", "trot"), "there is a function contact_pose_Trot"),
    ],
)
def test_sets_whose_functions_would_be_others(names: tuple[str, ...], told: str) -> None:
    with pytest.raises(OptionError, match=told):
        with_sets(*names)


def test_sets_of_odd_names_are_compiled() -> None:
    names = ("selftest", "x", "J_0", "q", "batch1", "part0", "NC", "update")
    robot = with_sets(*names)
    lib = rbdgen.build(robot, ["contact_jacobian", *(f"contact_jacobian_{name}" for name in names)])
    for name in names:
        found = lib.functions[f"contact_jacobian_{name}"]([0.1, 0.2])
        np.testing.assert_array_equal(found, lib.contact_jacobian([0.1, 0.2]))
