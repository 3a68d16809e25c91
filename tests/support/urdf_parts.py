"""Builds small URDFs from links and joints, and robots or refusals from them."""

from __future__ import annotations

import pytest

from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import ModelError
from rbdgen.model.build import Base, Robot, build_robot

BODY = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
"""The inertial of a body whose centre of mass is the origin of its link."""


def link(name: str, inside: str = BODY) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = '<axis xyz="0 0 1"/>') -> str:
    limit = (
        '<limit lower="-1" upper="1" effort="5" velocity="3"/>' if kind in ("revolute", "prismatic") else ""
    )
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}{limit}</joint>"
    )


def build(*parts: str, base: Base = "fixed", snap: float = 1e-9) -> Robot:
    """The robot of a URDF with one element per line, the first of which is <robot>."""
    text = "\n".join(['<robot name="r">', *parts, "</robot>"])
    return build_robot(parse_urdf(text, "r.urdf"), base=base, snap=snap)


def refusal(*parts: str, base: Base = "fixed") -> str:
    with pytest.raises(ModelError) as error:
        build(*parts, base=base)
    message = str(error.value)
    assert "\n" not in message
    return message
