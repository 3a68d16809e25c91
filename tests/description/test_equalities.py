"""Equality constraints of MJCF files: those that become closed loops, against MuJoCo's own rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import rbdgen
from rbdgen.functions.loops.independent import closed_positions
from rbdgen.functions.loops.relative_motion import loop_jacobian
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
    """The constraint's position and its Jacobian, the rotation's rows not scaled."""
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
    """But for the axes that they are in, and for signs."""
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
        ours[3:] /= 2  # MuJoCo's are of the vector part of a quaternion
        for rows in (slice(0, 3), slice(3, len(ours))):
            np.testing.assert_allclose(ours[rows].T @ ours[rows], J[rows].T @ J[rows], rtol=0, atol=1e-8)


def test_what_is_no_loop_is_told() -> None:
    """Couplings of joints, what is switched off, and what no joint moves."""
    path = written(
        TREE + FIXED,
        '<joint joint1="a1" joint2="a2"/><weld body1="a" body2="b" active="false"/><weld body1="post"/>'
        '<connect name="c" body1="a_end" body2="b_end" anchor="0 0 0"/>',
    )
    robot = rbdgen.load_robot(path)
    assert [loop.kind for loop in robot.model.loops] == ["point"]
    said = "robot.xml: it has 3 equality constraints that are no closed loops; ignored"
    assert robot.warnings == (said,)


def test_a_loop_that_locking_makes_rigid_is_told() -> None:
    """It is the file's, so that the robot can be used all the same."""
    path = written(TREE, '<connect name="c" body1="a" body2="a_end" anchor="0 0 0"/>')
    robot = rbdgen.load_robot(path, lock={"a2": 0.1})
    assert robot.model.loops == ()
    said = "robot.xml: constraint 'c': frames 'a' and 'a_end' are on one body, so no joint moves this loop"
    assert f"{said}; ignored" in robot.warnings
