"""MJCF files, read by MuJoCo's compiler, give robots with MuJoCo's coordinates and dynamics."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from support.mjcf import FREE, INERTIAL, written

import rbdgen
from rbdgen.cli import main
from rbdgen.errors import DescriptionError

TREE = f"""
<body name="upper" pos=".1 .2 .3" euler=".1 .2 .3">
  <joint name="a_hinge" type="hinge" axis="1 2 3" pos=".05 -.1 .2" ref=".3"/>
  <joint name="b_slide" type="slide" axis="0 1 1" pos=".2 .1 0" ref="-.1"/>
  {INERTIAL.format(2)}
  <body name="mount" pos=".3 0 .1" euler="0 .5 0">{INERTIAL.format(1.5)}
    <body name="hand" pos="0 .2 0"><joint name="c_hinge" axis="0 1 0" range="-1 2"/>{INERTIAL.format(1)}
      <body name="tip" pos="0 0 .1"/></body></body>
</body>
<body name="other" pos="0 -.3 .2"><joint name="d_hinge" axis="0 0 1"/>
  <geom type="capsule" size=".05 .2"/></body>"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def expected(path: str, q: Any, v: Any) -> tuple[Any, Any]:
    """Computes M and the bias force at a state by MuJoCo."""
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    for unit, column in zip(np.eye(model.nv), M, strict=True):
        mujoco.mj_mulM(model, data, column, unit)
    return M, data.qfrc_bias.copy()


def test_a_fixed_tree_has_the_coordinates_and_dynamics_of_mujoco() -> None:
    path = written(TREE)
    robot = rbdgen.load_robot(path, snap=0)
    assert (robot.model.name, robot.base, robot.warnings) == ("some robot", "fixed", ())
    assert robot.joint_names == ("a_hinge", "b_slide", "c_hinge", "d_hinge")
    assert robot.model.sizes["nbodies"] == 3  # two joints of one body have no body between them
    rng = np.random.default_rng(1)
    for q, v in rng.uniform(-1, 1, (5, 2, 4)):
        M, bias = expected(path, q, v)
        np.testing.assert_allclose(rbdgen.trace(robot, "crba")(q).full(), M, rtol=1e-12, atol=1e-13)
        found = rbdgen.trace(robot, "nle")(q, v).full().ravel()
        np.testing.assert_allclose(found, bias, rtol=1e-12, atol=1e-12)


def test_a_free_joint_is_the_base() -> None:
    """In MuJoCo, quaternions have w first, and a free body's linear velocity is in world axes."""
    floor, free = '<geom type="plane" size="1 1 1"/>', f"<freejoint/>{INERTIAL.format(4)}"
    path = written(f'{floor}<body name="trunk" pos="1 2 3">{free}{TREE}</body>')
    robot = rbdgen.load_robot(path, snap=0)
    assert (robot.base, robot.model.bodies[0].name) == ("floating", "trunk")
    assert rbdgen.load_robot(path, base="fixed").model.nv == 4
    rng = np.random.default_rng(2)
    quaternion = rng.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)  # w first
    position, joints, v = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 4), rng.uniform(-1, 1, 10)
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, quaternion)
    T = np.eye(10)
    T[:3, :3] = R.reshape(3, 3)
    M, bias = expected(path, [*position, *quaternion, *joints], T @ v)
    q = [*position, *quaternion[1:], quaternion[0], *joints]
    np.testing.assert_allclose(rbdgen.trace(robot, "crba")(q).full(), T.T @ M @ T, rtol=1e-12, atol=1e-12)
    slip = np.zeros(10)
    slip[:3] = np.cross(v[3:6], v[:3])  # an acceleration of 0 in MuJoCo is -slip in rbdgen
    found = rbdgen.trace(robot, "rnea")(q, v, -slip).full().ravel()
    np.testing.assert_allclose(found, T.T @ bias, rtol=1e-11, atol=1e-11)


def test_a_ball_below_a_hinge() -> None:
    """The velocity of a ball joint is in body axes in both."""
    ball = f'<joint name="ball" type="ball" pos=".02 .03 -.04"/>{INERTIAL.format(1)}'
    hinge = f'<joint name="a" pos="0 .1 0"/>{INERTIAL.format(2)}'
    path = written(
        f'<body euler=".1 .2 .3">{hinge}<body pos=".1 .2 .3" euler=".3 .2 .1">{ball}</body></body>'
    )
    robot = rbdgen.load_robot(path, snap=0)
    assert robot.joint_names == ("a", "ball")
    rng = np.random.default_rng(3)
    quaternion = rng.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    v = rng.normal(size=4)
    M, bias = expected(path, [0.4, *quaternion], v)
    q = [0.4, *quaternion[1:], quaternion[0]]
    np.testing.assert_allclose(rbdgen.trace(robot, "crba")(q).full(), M, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(rbdgen.trace(robot, "nle")(q, v).full().ravel(), bias, rtol=1e-12, atol=1e-12)


def test_two_free_bodies_both_move() -> None:
    """None of the free bodies is the base of the other; their coordinates are their poses."""
    robot = rbdgen.load_robot(written(FREE.format("a") + FREE.format("b")))
    assert (robot.base, robot.model.nq, robot.model.nv) == ("fixed", 14, 12)


def test_frames_are_those_of_the_bodies() -> None:
    """The frame of a body has the body's name, also if the joint is anchored at another point."""
    robot = rbdgen.load_robot(written(TREE), snap=0)
    (upper,) = (a for a in robot.attachments if a.link == "upper")
    assert [float(x) for x in upper.placement.translation] == pytest.approx([-0.2, -0.1, 0])
    names = {a.link for a in robot.attachments}
    assert {"world", "upper", "mount", "hand", "tip", "other"} <= names


def test_limits_are_carried() -> None:
    robot = rbdgen.load_robot(written(TREE))
    limits = [(joint.limit.lower, joint.limit.upper) if joint.limit else None for joint in robot.joints]
    assert limits == [None, None, (-1, 2), None]


def test_includes_and_defaults_are_read() -> None:
    Path("part.xml").write_text(
        f'<mujocoinclude><body name="b"><joint/>{INERTIAL.format(1)}</body></mujocoinclude>'
    )
    robot = rbdgen.load_robot(
        written('<include file="part.xml"/>', '<default><joint axis="0 1 0"/></default>')
    )
    assert tuple(robot.joints[0].axis) == (0, 1, 0)
    assert robot.joint_names == ("b_joint0",)


def test_what_mujoco_warns_of_is_told_and_nothing_is_written() -> None:
    """MuJoCo itself writes its warnings to a file MUJOCO_LOG.TXT in the current folder."""
    tree = f'<body name="b"><joint name="j"/><joint name="k"/>{INERTIAL.format(1)}</body>'
    with pytest.raises(rbdgen.RbdgenError, match="nothing resists joint"):
        rbdgen.load_robot(written(tree))
    robot = rbdgen.load_robot("robot.xml", lock={"k": 0})
    assert robot.warnings[0].startswith("robot.xml: MuJoCo says: Inertia matrix is too close to singular")
    assert [path.name for path in Path().iterdir()] == ["robot.xml"]


@pytest.mark.parametrize("number", ["nan", "1e400", "1e308"])
def test_a_number_that_is_none_is_refused(number: str) -> None:
    joint = f'<joint name="j" pos="{number} {number} 0"/><joint name="k" axis="1 0 0"/>'
    with pytest.raises(rbdgen.RbdgenError, match=r"not finite|MuJoCo says|keep to 1e30 m"):
        rbdgen.load_robot(written(f'<body name="b" euler="1 1 1">{joint}{INERTIAL.format(1)}</body>'))


BAD = {
    "what MuJoCo refuses": (
        '<body name="b"><joint/></body>',
        "robot.xml: MuJoCo says: Error: mass",
    ),
    "a missing file": ('<include file="no.xml"/>', "robot.xml: MuJoCo says: "),
    "a joint that nothing resists": (
        '\n<body name="b"><joint type="slide"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        '\n<body name="c"><joint name="j" axis="1 0 0"/><joint name="k" axis="1 0 0"/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></body>',
        "robot.xml:3: nothing resists joint ",
    ),
    "nothing that moves": ("<geom size='1'/>", "robot.xml: the robot has no moving joint"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_wrong_is_one_line(what: str) -> None:
    tree, told = BAD[what]
    with pytest.raises(rbdgen.RbdgenError) as error:
        rbdgen.load_robot(written(tree))
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def test_without_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(DescriptionError, match=r"pip install 'rbdgen\[mujoco\]'"):
        rbdgen.load_robot(written(TREE))


def test_from_the_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", written(FREE.format("trunk").replace("</body>", TREE + "</body>"))]) == 0
    assert "some robot: floating base, nq 11, nv 10" in capsys.readouterr().out
    assert main(["inspect", "robot.xml", "--base", "fixed", "--lock", "c_hinge=1", "--root", "upper"]) == 2
    assert main(["inspect", "robot.xml", "--base", "fixed", "--lock", "c_hinge=1", "--tip", "hand"]) == 0
    assert "fixed base, nq 2, nv 2" in capsys.readouterr().out
