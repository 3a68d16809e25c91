"""The choice of frames, errors about unknown ones, and their rows in the manifest of a folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.functions import OF_FRAMES
from support.linkages import four_bar
from support.robots import PATHS

import rbdgen
from rbdgen.checks.check import check
from rbdgen.cli import main
from rbdgen.description.pinocchio import read_pinocchio
from rbdgen.description.pruned import pruned
from rbdgen.errors import ModelError, OptionError
from rbdgen.functions.table import lookup, rows_of
from rbdgen.model.model import WORLD
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request
from rbdgen.selection.budget import check_budget


def names(**options: Any) -> list[str]:
    robot = rbdgen.load_robot("quadruped12", **options)
    return [frame.name for frame in robot.model.frames]


def test_order_is_that_asked_for_and_within_a_pattern_that_of_the_description() -> None:
    shanks = [f"{place}_shank" for place in ("front_left", "front_right", "hind_left", "hind_right")]
    assert names(frames=["*_shank"]) == shanks
    assert names(frames=["hind_*_shank", "trunk", "*_shank"]) == [*shanks[2:], "trunk", *shanks[:2]]
    assert names() == []


def test_joints_are_known_by_their_own_names_only() -> None:
    """The frame of a joint is that of the link that it moves, so a pattern would name it twice."""
    robot = rbdgen.load_robot("arm7", frames=["joint3", "link3"])
    joint, link = robot.model.frames
    assert (joint.name, link.name) == ("joint3", "link3")
    assert (joint.body, joint.placement) == (link.body, link.placement)
    assert [frame.name for frame in rbdgen.load_robot("arm7", frames=["*3"]).model.frames] == ["link3"]


def test_merged_links_and_the_world() -> None:
    tip, ground, world = rbdgen.load_robot(four_bar(), frames=["tip", "ground", "world"]).model.frames
    assert (tip.body, list(tip.placement.translation)) == (1, [0.9, 0, 0])
    assert ground.body == world.body == WORLD
    free = rbdgen.load_robot(four_bar(), base="floating", frames=["ground", "world"])
    assert [frame.body for frame in free.model.frames] == [0, WORLD]


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ("lnk7", "frames=['lnk7']: there is no frame 'lnk7'; did you mean 'link7' or "),
        ("foot_*", "there is no frame 'foot_*'; name a link or joint, or the world; rbdgen inspect shows"),
    ],
)
def test_unknown_frames_are_refused(frame: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        rbdgen.load_robot("arm7", frames=["link1", frame])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("given", ["link7", 3, [""], [None]])
def test_what_is_no_list_of_frames_is_refused(given: Any) -> None:
    with pytest.raises(OptionError, match=r"is not a list of names; give \['tool0', 'foot_\*'\]"):
        rbdgen.load_robot("arm7", frames=given)


def test_only_robots_with_chosen_frames_have_the_functions() -> None:
    plain = rbdgen.load_robot("arm7")
    assert not set(OF_FRAMES) & set(rows_of(plain.model))
    said = "'frame_placement' needs chosen frames, which 'arm7' does not have; give frames=\\['NAME'\\] to "
    with pytest.raises(OptionError, match=said):
        rbdgen.build(plain, functions=["frame_placement"])


def test_they_have_no_form_in_loops() -> None:
    """A form in loops is refused by its name, and is not suggested if a function is too large."""
    robot = rbdgen.load_robot("arm7", frames=["link7"])
    with pytest.raises(
        OptionError, match=r"'frame_drift_local' has no form 'looped'; choose from: by_columns,"
    ):
        rbdgen.build(robot, functions=["frame_drift_local"], variants={"frame_drift_local": "looped"})
    with pytest.raises(OptionError, match=r"leave it out, fix joints that do not matter"):
        check_budget(robot.model, [lookup("frame_drift_local")], 10)


def test_sites_of_an_mjcf(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sites of an MJCF are frames, also on the world and behind a joint with another anchor."""
    path = tmp_path / "arm.xml"
    path.write_text(
        "<mujoco><worldbody><site name='target' pos='1 2 3'/><body name='upper' pos='0 0 .5'>"
        "<joint name='swing' axis='0 1 0' pos='.1 0 0'/><geom size='.1' mass='1'/>"
        "<site name='hand' pos='.3 0 0' euler='0 90 0'/><site pos='0 0 1'/></body></worldbody></mujoco>"
    )
    mujoco = pytest.importorskip("mujoco")
    robot = rbdgen.load_robot(path, frames=["hand", "t*", "upper", "swing"])
    assert [frame.name for frame in robot.model.frames] == ["hand", "target", "upper", "swing"]
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.qpos[0] = 0.7
    mujoco.mj_kinematics(model, data)
    lib = rbdgen.build(robot, functions=["frame_placement"])
    R, p = lib.frame_placement(np.array([0.7]))
    np.testing.assert_allclose(R[0], data.site("hand").xmat.reshape(3, 3), atol=1e-12)
    np.testing.assert_allclose(
        p[:3], [data.site("hand").xpos, [1, 2, 3], data.body("upper").xpos], atol=1e-12
    )
    assert main(["inspect", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "world; merged: world; frames: target" in printed
    assert "frames: hand" in printed
    below = rbdgen.load_robot(path, base="floating", root="upper", frames=["*"])
    assert [frame.name for frame in below.model.frames] == ["upper", "hand"]


@pytest.mark.parametrize("free", [False, True])
def test_frames_of_a_pinocchio_model(free: bool) -> None:
    """Operational frames, links and joints of a Pinocchio model can be chosen, also beside a free-flyer."""
    joints = (pin.JointModelFreeFlyer(),) if free else ()
    model = pin.buildModelFromUrdf(str(PATHS["arm7"]), *joints)
    placement = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([0.1, 0.2, 0.3]))
    joint = model.getJointId("joint7")
    model.addFrame(pin.Frame("tool", joint, 0, placement, pin.FrameType.OP_FRAME))
    model.addFrame(pin.Frame("table", 0, 0, placement, pin.FrameType.OP_FRAME))
    robot = rbdgen.from_pinocchio(model, frames=["tool", "table", "link4", "joint2"])
    tool, table, *_ = robot.model.frames
    assert robot.model.bodies[tool.body].name == "link7"
    assert table.body == WORLD
    for frame in (tool, table):
        np.testing.assert_allclose([[*row] for row in frame.placement.rotation], placement.rotation)
        np.testing.assert_allclose([*frame.placement.translation], placement.translation)


def test_places_on_what_was_dropped_are_dropped() -> None:
    model = pin.buildModelFromUrdf(str(PATHS["arm7"]))
    model.addFrame(
        pin.Frame("tool", model.getJointId("joint7"), 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME)
    )
    description = read_pinocchio(model)
    assert [place.name for place in description.places] == ["tool"]
    assert pruned(description, tip="link4").places == ()
    assert [place.name for place in pruned(description, root="link4").places] == ["tool"]


def test_a_loop_may_be_of_any_frame() -> None:
    """A loop may name the frame of a joint, which is that of its link."""
    by_joint, by_link = (rbdgen.load_robot("arm7", loops=[f"{x}=world:point"]) for x in ("joint7", "link7"))
    assert by_joint.model.loops[0].first.body == by_link.model.loops[0].first.body == 6


# ---- generated folders


def test_what_is_generated_by_default(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Robots with frames also have a placement and a Jacobian."""
    given = ["double_pendulum", "--frames", "lower, world", "--no-compile", "-q", "-o", str(tmp_path)]
    assert main(given) == 0, capsys.readouterr().err
    folder = tmp_path / "double_pendulum"
    manifest = (folder / "manifest.json").read_text()
    assert all(f'"{name}"' in manifest for name in Options().functions)
    assert '"frame_placement"' in manifest
    assert '"frame_jacobian_aligned"' in manifest
    header = (folder / "double_pendulum.h").read_text()
    assert "#define DOUBLE_PENDULUM_NFRAMES 2\n" in header
    assert "#define DOUBLE_PENDULUM_FRAME_LOWER 0 /* lower, on lower */\n" in header
    assert "#define DOUBLE_PENDULUM_FRAME_WORLD 1 /* world, on the world */\n" in header
    assert "| world | 1 | the world |" in (folder / "README.md").read_text()


def test_names_of_frames_that_c_does_not_bear(tmp_path: Path) -> None:
    """Each name gets a unique macro, and no name can end a comment."""
    built = rbdgen.RobotBuilder("odd").add_body("ground")
    built.add_body("tip*/", parent="ground", type="revolute", axis=(0, 0, 1), mass=1, com=(1, 0, 0))
    for name in ("a-b", "a_b", "A B", "tip*", "|"):
        built.add_body(name, parent="tip*/", type="fixed")
    robot = rbdgen.load_robot(built, frames=["*"])
    folder = rbdgen.generate(robot, tmp_path, functions=["frame_placement"], compiled=False)
    macros = re.findall(r"#define ODD_FRAME_(\w+) \d /\* (.*) \*/\n", (folder / "odd.h").read_text())
    assert len({macro for macro, _ in macros}) == len(macros) == len(robot.model.frames) == 7
    assert not any("*/" in comment for _, comment in macros)
    assert [frame.name for frame in rbdgen.load_robot(built, frames=["tip*"]).model.frames] == ["tip*"]


def test_list_and_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "arm7", "--frames", "link7,base"]) == 0
    printed = capsys.readouterr().out
    assert "frame 0: link7, on link7" in printed
    assert "frame 1: base, on the world" in printed
    assert main(["list"]) == 0
    assert "38 functions of named frames" in capsys.readouterr().out
    assert main(["list", "--forms"]) == 0
    printed = capsys.readouterr().out
    assert "A (nf, 6)" in printed
    assert "J (nf, 6, nv)" in printed


GRIPPER = """<robot name="gripper"><link name="hand">INERTIAL</link><link name="left">INERTIAL</link>
<link name="right">INERTIAL</link><link name="left_tip"/>
<joint name="wrist" type="continuous"><parent link="hand"/><child link="left"/><axis xyz="1 2 0"/></joint>
<joint name="slide" type="prismatic"><parent link="left"/><child link="right"/><axis xyz="0 1 2"/>
<origin xyz=".1 .2 .3" rpy=".1 .5 .3"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
<mimic joint="wrist" multiplier="-.5" offset=".2"/></joint>
<joint name="tip" type="fixed"><parent link="left"/><child link="left_tip"/>
<origin xyz=".3 0 .1" rpy="1 2 3"/></joint></robot>"""

SOLID = """<inertial><origin xyz=".1 .2 0"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""

CHECKED = (
    "frame_placement",
    "frame_velocity_aligned",
    "frame_jacobian_aligned",
    "frame_jacobian_rate_local",
    "frame_drift_local",
    "frame_acceleration_derivatives_local",
)


def test_a_folder_is_checked(tmp_path: Path) -> None:
    """The checks compare a folder with Pinocchio; one joint follows another, and one frame is the world's."""
    path = tmp_path / "gripper.urdf"
    path.write_text(GRIPPER.replace("INERTIAL", SOLID))
    robot = rbdgen.load_robot(path, base="floating", frames=["right", "*_tip", "world"])
    folder = rbdgen.generate(robot, tmp_path, functions=CHECKED)
    findings = check(folder)
    assert [finding for finding in findings if finding.passed is False] == []
    compared = {finding.what for finding in findings if finding.passed}
    assert {f"{name} = Pinocchio's" for name in CHECKED} <= compared
    assert {"J v = V, aligned", "dJ/dt v = drift, local", "batches of any size, bit for bit"} <= compared
    lib = rbdgen.load(folder)
    assert lib.frames == ("right", "left_tip", "world")
    assert lib.manifest["nf"] == 3
    assert [frame["body"] for frame in lib.manifest["frames"]] == [2, 1, WORLD]
    q, v = lib.random(1), np.ones(7)
    R, p = lib.frame_placement(q)
    assert (R.shape, p.shape) == ((3, 3, 3), (3, 3))
    J = lib.frame_jacobian_aligned(np.stack([q, q]))
    assert J.shape == (2, 3, 6, 7)
    np.testing.assert_allclose(J[0] @ v, lib.frame_velocity_aligned(q, v), rtol=0, atol=1e-13)


@pytest.mark.parametrize("options", [{"real": "float"}, {"trig": "input"}, {"engine": "sympy"}])
def test_in_other_numbers(options: dict[str, str]) -> None:
    robot = rbdgen.load_robot("planar3r", frames=["link2", "link3"])
    functions = ["frame_placement", "frame_velocity_world"]
    lib, plain = (rbdgen.build(robot, functions=functions, **chosen) for chosen in (options, {}))
    q, v = np.array([0.3, -0.7, 1.1]), np.array([0.5, -0.2, 0.1])
    own = (np.sin(q), np.cos(q)) if "trig" in options else (q,)
    tolerance = 1e-6 if "real" in options else 1e-14
    for name in functions:
        extra = (v,) if "velocity" in name else ()
        ours, theirs = getattr(lib, name)(*own, *extra), getattr(plain, name)(q, *extra)
        pairs = zip(ours, theirs, strict=True) if isinstance(ours, tuple) else [(ours, theirs)]
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=0, atol=tolerance)


def test_traced_for_ones_own_work() -> None:
    """CasADi has no arrays of three axes, so several matrices are stacked into one."""
    robot = rbdgen.load_robot("planar3r", frames=["link2", "link3"])
    function = rbdgen.trace(robot, "frame_jacobian_aligned")
    q = [0.3, -0.7, 1.1]
    J = rbdgen.build(robot, functions=["frame_jacobian_aligned"]).frame_jacobian_aligned(q)
    np.testing.assert_allclose(np.array(function(q)), J.reshape(12, 3), rtol=0, atol=1e-14)


def test_limbs_without_a_frame_are_searched_too() -> None:
    """The axes of a body are chosen by counting operations for its chain, which may have no frame at all."""
    robot = rbdgen.load_robot("quadruped12", base="floating", frames=["front_left_shank"])
    (design,) = design_functions(Request(robot, Options(functions=("frame_placement",))))
    alone = rbdgen.load_robot(
        "quadruped12", base="floating", frames=["front_left_shank"], tip="front_left_shank"
    )
    (short,) = design_functions(Request(alone, Options(functions=("frame_placement",))))
    assert design.cost.total == short.cost.total
