"""Damaged xacro and MJCF files give a robot, or one line that says what is wrong; nothing is written."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.urdf_mutation import mutated

import rbdgen

XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="0.5"/>
  <xacro:property name="mass" value="${4 * 0.25}"/>
  <xacro:macro name="segment" params="n z:=0.3">
    <link name="l${n}"><inertial><mass value="${mass}"/>
      <inertia ixx="${pi / 100}" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.02"/></inertial></link>
    <joint name="j${n}" type="continuous"><parent link="l${n - 1}"/><child link="l${n}"/>
      <origin xyz="0 0 ${z}"/><axis xyz="0 1 0"/></joint>
  </xacro:macro>
  <link name="l0"/>
  <xacro:segment n="1" z="$(arg length)"/>
  <xacro:if value="$(eval length == 0.5)"><xacro:segment n="2"/></xacro:if>
</robot>"""

MJCF = """<mujoco model="m"><compiler angle="radian"/><worldbody>
  <body name="trunk"><freejoint/><inertial pos="0 0 .1" mass="3" diaginertia=".1 .2 .25"/>
    <body name="leg" pos=".1 0 0" euler="1 0 0"><joint name="ball" type="ball" pos="0 .1 0"/>
      <inertial pos="0 0 -.2" mass="1" fullinertia=".1 .1 .05 .01 0 0"/>
      <body name="foot" pos="0 0 -.4"><joint name="knee" axis="0 1 0" ref=".3" range="0 2"/>
        <joint name="slide" type="slide" axis="1 0 0"/><geom type="sphere" size=".1"/></body></body></body>
</worldbody></mujoco>"""

SEEDS = range(120)


@pytest.mark.parametrize(("package", "text"), [("xacro", XACRO), ("mujoco", MJCF)], ids=["xacro", "mjcf"])
def test_a_spoilt_file_is_a_robot_or_one_line(
    package: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    Path("robot").write_text(text)
    rbdgen.load_robot("robot")
    told = []
    for seed in SEEDS:
        Path("robot").write_bytes(mutated(text.encode(), Random(seed)))
        try:
            rbdgen.load_robot("robot")
        except rbdgen.RbdgenError as error:
            told.append(str(error))
    assert 0 < len(told) < len(SEEDS)
    assert [message for message in told if not message.isprintable()] == []
    assert [path.name for path in tmp_path.iterdir()] == ["robot"]
