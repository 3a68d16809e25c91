"""The resistance of joints of an MJCF agrees with MuJoCo; elements that no function uses give warnings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from support.mjcf import FREE, INERTIAL, written

import rbdgen
from rbdgen.cli import main
from rbdgen.errors import RbdgenError

JOINTS = (
    '<joint name="a" axis="1 2 3" ref=".3" damping=".7" armature=".4" stiffness="5" springref=".5"/>',
    '<joint name="b" type="slide" axis="0 1 1" ref="-.1" damping=".2" stiffness="3" frictionloss=".25"/>',
    '<joint name="c" type="ball" damping=".6" armature=".3"/>',
    '<joint name="d" axis="1 0 0" armature=".1" springdamper=".5 1"/>',
)

CHAIN = "".join(
    f'<body name="{k}" pos=".1 .2 .3">{joint}{INERTIAL.format(1)}' for k, joint in enumerate(JOINTS)
)
CHAIN += "</body>" * len(JOINTS)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def with_flags(path: str, flags: str) -> str:
    text = Path(path).read_text().replace("</mujoco>", f"<option><flag {flags}/></option></mujoco>")
    Path(path).write_text(text)
    return path


def states(count: int) -> Any:
    """Random positions with w last, velocities and torques of the chain."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        quaternion = rng.normal(size=4)
        a, b, d = rng.uniform(-1, 1, 3)
        q = np.array([a, b, *quaternion / np.linalg.norm(quaternion), d])
        yield q, *rng.normal(size=(2, 6))


def data_at(model: Any, q: Any, v: Any, tau: Any) -> Any:
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[[0, 1, 5, 2, 3, 4, 6]], v, tau
    mujoco.mj_forward(model, data)
    return data


@pytest.mark.parametrize("flags", ['contact="enable"', 'spring="disable"', 'damper="disable"'])
def test_rotors_springs_and_damping_are_those_of_mujoco(flags: str) -> None:
    """M, passive forces and accelerations agree; MuJoCo's friction is a constraint, disabled here."""
    path = with_flags(written(CHAIN), flags)
    robot = rbdgen.load_robot(path, snap=0, damping=True)
    crba, nle, aba = (rbdgen.trace(robot, name) for name in ("crba", "nle", "aba"))
    model = mujoco.MjModel.from_xml_path(path)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    for q, v, tau in states(4):
        data = data_at(model, q, v, tau)
        assert data.qfrc_passive.any()
        M = np.zeros((6, 6))
        for unit, column in zip(np.eye(6), M, strict=True):
            mujoco.mj_mulM(model, data, column, unit)
        np.testing.assert_allclose(crba(q).full(), M, rtol=1e-12, atol=1e-13)
        bias = data.qfrc_bias - data.qfrc_passive
        np.testing.assert_allclose(nle(q, v).full().ravel(), bias, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(aba(q, v, tau).full().ravel(), data.qacc, rtol=1e-10, atol=1e-10)


def test_friction_is_read_and_with_damping_left_out_by_default() -> None:
    path = written(CHAIN)
    robot = rbdgen.load_robot(path, friction="exact", damping=True)
    assert [joint.resistance.friction for joint in robot.joints] == [0, 0.25, 0, 0]
    assert robot.warnings == ()
    robot = rbdgen.load_robot(path)
    assert not any(joint.resistance.dissipates for joint in robot.joints)
    assert robot.warnings == (  # one line for each kind
        "robot.xml: joints 'a', 'c', 'd' have damping; left out: pass damping=True (--damping), or add these "
        "torques yourself",
        "robot.xml: joint 'b' has damping, friction; left out: pass damping=True (--damping) and "
        "friction='exact' (--friction exact), or add these torques yourself",
    )
    for flag in ("frictionloss", "constraint"):
        robot = rbdgen.load_robot(with_flags(path, f'{flag}="disable"'), friction="exact")
        assert not any(joint.resistance.friction for joint in robot.joints)
        path = written(CHAIN)


def test_a_floating_base_has_none_and_that_is_told() -> None:
    free = '<joint name="root" type="free" damping="1" armature="2"/>'
    robot = rbdgen.load_robot(written(FREE.format("trunk").replace("<freejoint/>", free)))
    assert robot.base == "floating"
    assert robot.warnings == (
        "robot.xml: joint 'root' has armature 2, damping 1; ignored: a floating base has none",
    )


def test_gravity_is_read() -> None:
    path = with_flags(written(FREE.format("a")), 'gravity="disable"')
    robot = rbdgen.load_robot(path)
    assert (tuple(robot.model.gravity), robot.warnings) == ((0, 0, 0), ())
    assert tuple(rbdgen.load_robot(path, gravity=(0, 0, -1.6)).model.gravity) == (0, 0, -1.6)
    path = written(FREE.format("a"), '<option gravity="0.5 -1 -9"/>')
    assert tuple(rbdgen.load_robot(path).model.gravity) == (0.5, -1, -9)


# ---- elements that no function uses


def body(joint: str = "", own: str = "") -> str:
    return f'<body name="b" {own}><joint name="j" {joint}/>{INERTIAL.format(1)}</body>'


def tendon(own: str) -> str:
    return f'<tendon><fixed name="t" {own}><joint joint="j" coef="1"/></fixed></tendon>'


TENDONS = "tendons with springs, damping, friction or armature: 't'"
NONLINEAR = "springs or dampers that are not linear, of joints: 'j'"
SPRINGS = "springs of ball and free joints: 'j'"

FEATURES = (
    ("tendon", body(), tendon('stiffness=".1"'), TENDONS),
    ("tendon", body(), tendon('armature=".1"'), TENDONS),
    ("gravcomp", body(own='gravcomp="1"'), "", "gravity compensation (gravcomp) of bodies: 'b'"),
    ("fluid", body(), '<option viscosity=".1"/>', "a fluid around it (density or viscosity)"),
    ("spring", body('type="ball" stiffness="2"'), "", SPRINGS),
    ("spring", body('type="free" stiffness="2"'), "", SPRINGS),
    ("nonlinear", body('stiffness="2 1"'), "", NONLINEAR),
    ("nonlinear", body('damping="2 0 1"'), "", NONLINEAR),
    (
        "actuator",
        body(),
        '<actuator><motor name="m" joint="j" armature="1"/></actuator>',
        "actuators with armature or damping: 'm'",
    ),
    (
        "equality",
        body(),
        '<equality><joint name="e" joint1="j"/></equality>',
        "constraints that are neither closed loops nor linear couplings: 'e'",
    ),
)


@pytest.mark.parametrize(("feature", "tree", "more", "said"), FEATURES)
def test_what_no_function_knows_is_refused_by_name_or_left_out(
    feature: str, tree: str, more: str, said: str
) -> None:
    path = written(tree, more)
    try:
        mujoco.MjModel.from_xml_path(path)
    except ValueError:
        pytest.skip("this version of MuJoCo does not know it")
    with pytest.raises(RbdgenError) as error:
        rbdgen.load_robot(path, ignore=[x for x in ("tendon", "fluid") if x != feature])
    assert str(error.value) == (
        f"robot.xml: it has {said}, which rbdgen does not support; "
        f"pass ignore=['{feature}'] to leave this out"
    )
    for ignore in ([feature], feature, "all", f"flex,{feature}"):
        robot = rbdgen.load_robot(path, ignore=ignore)
        assert robot.warnings[0] == f"robot.xml: it has {said}; ignored, as asked"


def test_all_that_is_refused_is_named_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    path = written(body(own='gravcomp="1"'), tendon('damping=".1"'))
    assert main(["inspect", path]) == 2
    assert "pass --ignore gravcomp,tendon to leave this out" in capsys.readouterr().err
    assert main(["inspect", path, "--ignore", "gravcomp", "--ignore", "tendon"]) == 0
    assert capsys.readouterr().out.count("ignored, as asked") == 2


def test_what_only_transmits_is_told() -> None:
    more = f'{tendon("")}<actuator><motor name="m" tendon="t"/></actuator>'
    assert rbdgen.load_robot(written(body(), more)).warnings == (
        "robot.xml: it has tendons that only transmit or limit: 't'; ignored",
        "robot.xml: it has actuators: 'm'; left out, tau are the torques at the joints",
    )


def test_what_cannot_be_ignored() -> None:
    with pytest.raises(
        RbdgenError, match=r"^ignore=\['tendons'\] is not known; choose from: all, actuator, "
    ):
        rbdgen.load_robot(written(CHAIN), ignore="tendons")
    with pytest.raises(RbdgenError, match=r"^ignore 3 is not a list; give a list, such as"):
        rbdgen.load_robot(written(CHAIN), ignore=3)  # type: ignore[arg-type]
    for robot in ("arm7", rbdgen.RobotBuilder("r").add_body("b")):
        with pytest.raises(RbdgenError, match="this is no MJCF, so there is nothing to ignore; leave it out"):
            rbdgen.load_robot(robot, ignore="all")
