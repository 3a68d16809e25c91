"""MJCF texts for tests of their reader."""

from __future__ import annotations

from pathlib import Path

INERTIAL = '<inertial pos=".02 -.03 .05" mass="{}" fullinertia=".05 .06 .07 .01 .005 -.004"/>'


def written(tree: str, more: str = "") -> str:
    text = (
        f'<mujoco model="some robot"><compiler angle="radian"/><worldbody>{tree}</worldbody>{more}</mujoco>'
    )
    Path("robot.xml").write_text(text)
    return "robot.xml"


FREE = f'<body name="{{}}"><freejoint/>{INERTIAL.format(1)}</body>'
