"""A URDF of two links and a joint, with room for more elements."""

from __future__ import annotations

BODY = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def urdf(*, joint: str = "", link: str = "", robot: str = "", kind: str = "revolute") -> str:
    """The URDF with additional elements of link b on line 4, of joint j on line 6, of the robot on line 8."""
    return (
        '<robot name="r" xmlns:drake="http://drake.mit.edu">\n<link name="a"/>\n<link name="b">\n'
        f'{link or BODY}</link>\n<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>\n{joint}\n'
        f"</joint>\n{robot}\n</robot>\n"
    )


def transmission(inside: str) -> str:
    return f'<transmission name="t"><joint name="j"/><actuator name="m">{inside}</actuator></transmission>'
