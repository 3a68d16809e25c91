"""The order of joints is MuJoCo's for an MJCF, and by name for other files; both are options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from agreement.mjcf import row_of

import rbdgen
from rbdgen.cli import main

INERTIAL = '<inertial pos=".02 -.03 .05" mass="{}" fullinertia=".05 .06 .07 .01 .005 -.004"/>'


def limb(name: str, place: str, below: str = "") -> str:
    """An MJCF limb of two hinges in one body and one below; its names are not in the order of the file."""
    return (
        f'<body name="{name}" pos="{place}" euler="9 8 7"><joint name="{name}2" axis="1 0 0" damping=".3"/>'
        f'<joint name="{name}1" axis="0 1 1" pos=".1 0 0" ref="20"/>{INERTIAL.format(1)}'
        f'<body name="{name}_foot" pos=".2 0 -.3"><joint name="{name}0" armature=".02" stiffness="2" '
        f'springref="15"/>{INERTIAL.format(0.5)}{below}</body></body>'
    )


BALL = f'<body name="a_ball" pos=".1 .1 .1"><joint name="ball" type="ball"/>{INERTIAL.format(0.7)}</body>'
FREE = f'<body name="{{}}" pos="1 2 3"><freejoint/>{INERTIAL.format(3)}{{}}</body>'
HIDDEN = '<body name="z" pos="0 0 .4">{}</body>'

TREES = {
    "limbs on the world": limb("z", "0 .1 0") + limb("b", "0 -.1 0") + limb("c", "0 0 .1"),
    "limbs on a free body": FREE.format("trunk", limb("z", "0 .1 0") + limb("b", "0 -.1 0", BALL)),
    "a free body beside a limb": limb("z", "0 .1 0") + FREE.format("a", limb("b", "0 0 0")),
    "a limb on a body without joints": HIDDEN.format(limb("m", "1 0 0")) + limb("b", "0 0 0", BALL),
    "no names": "".join(
        f'<body pos=".1 0 {k}"><joint axis="1 0 0"/><joint axis="0 1 0"/>{INERTIAL.format(1)}</body>'
        for k in range(12)
    ),
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(tree: str) -> Path:
    """Writes an MJCF of this tree with gravity, a motor and a sensor, as models of environments have them."""
    path = Path("robot.xml")
    path.write_text(
        f'<mujoco><option gravity=".1 .2 -9"/><worldbody><geom type="plane" size="1 1 1"/>{tree}</worldbody>'
        "</mujoco>"
    )
    return path


@pytest.mark.parametrize("what", TREES)
def test_vectors_are_those_of_mujoco_by_position_alone(what: str) -> None:
    row = row_of(written(TREES[what]))
    assert set(row.errors) == {"M", "bias", "acceleration"}
    assert max(row.errors.values()) < 1e-12


@pytest.mark.parametrize("what", TREES)
def test_joints_are_in_the_order_of_mujoco(what: str) -> None:
    path = written(TREES[what])
    robot, model = rbdgen.load_robot(path), mujoco.MjModel.from_xml_path(str(path))
    base = robot.base == "floating"
    for k, joint in enumerate(robot.joints, start=int(base)):
        assert model.joint(k).name in ("", joint.name)
        assert (joint.idx_q, joint.idx_v) == (model.jnt_qposadr[k], model.jnt_dofadr[k])
    assert not any("order" in warning for warning in robot.warnings)


def test_a_state_of_mujoco_is_one_of_ours_by_position() -> None:
    """The elements of vectors correspond by position, with the exceptions in docs/descriptions.md.

    In MuJoCo, w is first in quaternions, and a free body's linear velocity and the acceleration of its origin
    are in world axes.
    """
    path = str(written(TREES["limbs on a free body"]))
    lib = rbdgen.build(rbdgen.load_robot(path, damping=True), ["aba"])
    model = mujoco.MjModel.from_xml_path(path)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    data.qpos[:] = lib.random(rng)  # any state in MuJoCo's convention
    data.qpos[3:7] = data.qpos[[6, 3, 4, 5]]
    data.qpos[-4:] = data.qpos[[-1, -4, -3, -2]]
    data.qvel[:], data.qfrc_applied[:] = rng.standard_normal((2, model.nv))
    mujoco.mj_forward(model, data)

    R = data.body("trunk").xmat.reshape(3, 3)
    q, v, tau = data.qpos.copy(), data.qvel.copy(), data.qfrc_applied.copy()
    q[3:7], q[-4:] = q[[4, 5, 6, 3]], q[[-3, -2, -1, -4]]
    v[:3], tau[:3] = R.T @ v[:3], R.T @ tau[:3]
    a = lib.aba(q, v, tau)
    a[:3] = R @ (a[:3] + np.cross(v[3:6], v[:3]))
    np.testing.assert_allclose(a, data.qacc, rtol=1e-10, atol=1e-10)


def test_the_other_order_can_be_asked_for() -> None:
    path = written(limb("z", "0 .1 0") + limb("b", "0 -.1 0"))
    assert rbdgen.load_robot(path).joint_names == ("z2", "z1", "z0", "b2", "b1", "b0")
    named = rbdgen.load_robot(path, order="name")
    assert named.joint_names == ("b2", "b1", "b0", "z2", "z1", "z0")
    assert (
        rbdgen.load_robot("quadruped12").joint_names
        == rbdgen.load_robot("quadruped12", order="name").joint_names
    )


def builder() -> rbdgen.RobotBuilder:
    made = rbdgen.RobotBuilder("r").add_body("base")
    body: Any = {"parent": "base", "type": "revolute", "axis": (0, 0, 1), "mass": 1.0, "inertia": (1, 1, 1)}
    for name in ("c", "a", "b"):
        made.add_body(name, **body)
    return made


def test_the_order_of_a_file_can_be_asked_for_of_all() -> None:
    assert rbdgen.load_robot(builder()).joint_names == ("a_joint", "b_joint", "c_joint")
    robot = rbdgen.load_robot(builder(), order="file")
    assert robot.joint_names == ("c_joint", "a_joint", "b_joint")
    assert rbdgen.load_robot(builder(), order="file", lock={"a_joint": 0}).joint_names == (
        "c_joint",
        "b_joint",
    )


@pytest.mark.parametrize("order", ["depth", 3, ("name",)])
def test_another_order_is_refused(order: Any) -> None:
    with pytest.raises(rbdgen.RbdgenError, match="is not known; choose from: name, file"):
        rbdgen.load_robot(builder(), order=order)


def test_from_the_shell(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(written(limb("z", "0 .1 0") + limb("b", "0 -.1 0")))
    places = []
    for order in ([], ["--order", "name"]):
        assert main(["inspect", path, *order]) == 0
        out = capsys.readouterr().out
        places.append(out.index("z2") < out.index("b2"))
    assert places == [True, False]
