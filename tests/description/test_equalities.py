"""Equality constraints of MJCF files that become closed loops have the rows of MuJoCo's constraints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import rbdgen
from rbdgen.functions.closed_loops.independent import closed_positions
from rbdgen.functions.closed_loops.relative_motion import loop_jacobian
from rbdgen.sweeps.inputs import coordinates

SOLID = '<geom size=".1"/>'
HINGES = "".join(f'<joint name="h{k}" axis="{axis}"/>' for k, axis in enumerate(("1 2 0", "0 1 0", "0 0 1")))
SLIDES = "".join(
    f'<joint name="s{k}" type="slide" axis="{a}"/>' for k, a in enumerate(("1 0 0", "0 1 1", "0 0 1"))
)
TREE = f"""<body name="a" pos=".1 0 .2" euler=".3 -.2 .5"><joint name="a1" axis="1 2 0"/>{SOLID}
  <body name="a_end" pos=".3 .1 0" euler=".5 .1 0"><joint name="a2" axis="0 1 0" pos="0 .1 .1"/>{SOLID}
    <site name="a_site" pos=".1 .2 .3" euler=".2 .4 .1"/></body></body>
<body name="b" pos=".1 .4 .2" euler=".1 .7 .2">{SLIDES}{SOLID}
  <body name="b_end" pos=".3 .1 0" euler=".5 .1 0">{HINGES}{SOLID}
    <site name="b_site" pos=".3 .1 .2" euler=".9 .3 .1"/></body></body>"""
FIXED = '<body name="post" pos="1 2 3"><geom size=".1"/></body>'

CONSTRAINTS = {
    "connect": '<connect body1="a_end" body2="b_end" anchor=".1 .2 .3"/>',
    "weld": '<weld body1="a_end" body2="b_end" anchor=".1 0 .2"/>',
    "weld with a pose": '<weld body1="a_end" body2="b_end" relpose=".1 .2 .3 1 .1 .2 0" anchor=".3 .1 0"/>',
    "weld to the world": '<weld body1="b_end"/>',
    "sites connected": '<connect site1="a_site" site2="b_site"/>',
    "sites welded": '<weld site1="a_site" site2="b_site"/>',
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(tree: str, equalities: str) -> str:
    text = (
        f'<mujoco><compiler angle="radian"/><worldbody>{tree}</worldbody>'
        f"<equality>{equalities}</equality></mujoco>"
    )
    Path("robot.xml").write_text(text)
    return "robot.xml"


def of_mujoco(path: str, q: Any) -> tuple[Any, Any]:
    """MuJoCo's position and Jacobian of the constraint, without the scale of the rows of rotation."""
    model = mujoco.MjModel.from_xml_path(path)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    rows = data.nefc
    return data.efc_pos[:rows].copy(), data.efc_J.reshape(-1, model.nv)[:rows].copy()


@pytest.mark.parametrize("constraint", CONSTRAINTS.values(), ids=CONSTRAINTS)
def test_rows_are_those_of_mujoco_where_the_loop_is_closed(constraint: str) -> None:
    """The rows are equal except for their axes and for signs."""
    path = written(TREE, constraint)
    robot = rbdgen.load_robot(path, snap=0)
    model = robot.model
    assert len(model.loops) == 1
    assert robot.warnings == ()
    closed = closed_positions(model)
    assert len(closed) > 3
    for q in closed[:3]:
        position, J = of_mujoco(path, q)
        assert np.abs(position).max() < 1e-9
        ours = np.array(loop_jacobian(model, coordinates(model, list(q), np.cos, np.sin)), float)
        assert ours.shape == J.shape
        ours[3:] /= 2  # MuJoCo's rows are those of the vector part of a quaternion
        for rows in (slice(0, 3), slice(3, len(ours))):
            np.testing.assert_allclose(ours[rows].T @ ours[rows], J[rows].T @ J[rows], rtol=0, atol=1e-8)


def test_what_is_idle_is_told() -> None:
    """There are warnings of inactive constraints, and of constraints between bodies that no joint moves."""
    path = written(
        TREE + FIXED,
        '<weld name="off" body1="a" body2="b" active="false"/><weld body1="post"/>'
        '<connect name="c" body1="a_end" body2="b_end" anchor="0 0 0"/>',
    )
    robot = rbdgen.load_robot(path)
    assert [loop.kind for loop in robot.model.loops] == ["point"]
    said = "it has constraints that are switched off, or that no joint moves: 'off', 'equality1'; ignored"
    assert robot.warnings == (f"robot.xml: {said}",)


@pytest.mark.parametrize("flag", ["equality", "constraint"])
def test_equalities_that_are_all_switched_off(flag: str) -> None:
    path = written(TREE, '<joint joint1="a1" joint2="a2"/><weld body1="b_end"/>')
    text = Path(path).read_text().replace("</mujoco>", f'<option><flag {flag}="disable"/></option></mujoco>')
    Path(path).write_text(text)
    robot = rbdgen.load_robot(path)
    assert (robot.model.loops, robot.followers) == ((), ())


def test_a_loop_that_locking_makes_rigid_is_told() -> None:
    """A loop of the file that locking makes rigid gives a warning, so that the robot can still be used."""
    path = written(TREE, '<connect name="c" body1="a" body2="a_end" anchor="0 0 0"/>')
    robot = rbdgen.load_robot(path, lock={"a2": 0.1})
    assert robot.model.loops == ()
    said = "robot.xml: constraint 'c': frames 'a' and 'a_end' are on one body, so no joint moves this loop"
    assert f"{said}; ignored" in robot.warnings


# ---- joints that follow others


COUPLED = f"""<body name="a"><joint name="a" axis="1 2 0" ref=".3"/>{SOLID}
  <body name="b" pos=".3 .1 0"><joint name="b" type="slide" axis="0 1 1" ref="-.2"/>{SOLID}
    <body name="c" pos=".3 .1 0"><joint name="c" axis="0 1 0" ref=".1"/>{SOLID}
      <body name="d" pos="0 .2 0"><joint name="d" axis="1 0 0"/>{SOLID}</body></body></body></body>"""


def test_a_linear_coupling_of_joints_makes_a_follower() -> None:
    """At rbdgen's positions MuJoCo's constraints hold, M is folded, and chains of followers are resolved."""
    first = '<joint joint1="a" joint2="b" polycoef=".2 -1.5 0 0 0"/>'
    couplings = f'{first}<joint joint1="b" joint2="c" polycoef=".1 2"/>'
    path = written(COUPLED, couplings)
    robot = rbdgen.load_robot(path, snap=0)
    assert robot.joint_names == ("c", "d")
    lib = rbdgen.build(robot, ["crba"])
    G = np.array([[-3, 0], [2, 0], [1, 0], [0, 1]])
    for q in np.random.default_rng(1).uniform(-1, 1, (3, 2)):
        full = lib.full_configuration(q)
        qpos = np.array([full[name] for name in "abcd"])
        position, J = of_mujoco(path, qpos)
        assert (len(position), np.abs(position).max()) == (2, pytest.approx(0, abs=1e-14))
        np.testing.assert_allclose(J @ G, 0, atol=1e-14)
        model = mujoco.MjModel.from_xml_path(path)
        data = mujoco.MjData(model)
        data.qpos[:] = qpos
        mujoco.mj_forward(model, data)
        M = np.zeros((4, 4))
        for unit, column in zip(np.eye(4), M, strict=True):
            mujoco.mj_mulM(model, data, column, unit)
        np.testing.assert_allclose(lib.crba(q), G.T @ M @ G, rtol=1e-12)


def test_a_coupling_with_nothing_of_the_other_joint_keeps_a_joint_still() -> None:
    robot = rbdgen.load_robot(written(COUPLED, '<joint joint1="d" joint2="a" polycoef=".2 0 0 0 0"/>'))
    assert robot.joint_names == ("a", "b", "c")
    assert [(x.joint, x.multiplier, x.offset) for x in robot.followers] == [("d", 0.0, 0.2)]


OTHERS = {
    "of one joint": '<joint name="x" joint1="a"/>',
    "not linear": '<joint name="x" joint1="a" joint2="b" polycoef="0 1 0 .1 0"/>',
    "of a joint that follows already": '<joint joint1="a" joint2="b"/>'
    '<joint name="x" joint1="a" joint2="c"/>',
    "in a circle": '<joint joint1="a" joint2="b"/><joint joint1="b" joint2="c"/>'
    '<joint name="x" joint1="c" joint2="a"/>',
}


@pytest.mark.parametrize("couplings", OTHERS.values(), ids=OTHERS)
def test_another_coupling_is_refused_by_name_or_left_out(couplings: str) -> None:
    path = written(COUPLED, couplings)
    said = "it has constraints that are neither closed loops nor linear couplings: 'x'"
    with pytest.raises(rbdgen.RbdgenError) as error:
        rbdgen.load_robot(path)
    assert str(error.value) == (
        f"robot.xml: {said}, which rbdgen does not support; pass ignore=['equality'] to leave this out"
    )
    robot = rbdgen.load_robot(path, ignore=["equality"])
    assert f"robot.xml: {said}; ignored, as asked" in robot.warnings
    assert len(robot.followers) == couplings.count("joint1") - 1
