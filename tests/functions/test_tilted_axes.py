"""Axes that are slightly tilted from a coordinate axis are kept as they are; references have 40 digits."""

from __future__ import annotations

from itertools import product

import pytest
from support.exact_oracle import largest_error
from support.few import few

from rbdgen.description.urdf import parse_urdf
from rbdgen.model.build import DEFAULT_SNAP, build_robot

TILTS = (1e-16, 1e-12, 9e-10, 1.1e-9, 5e-9, 1e-8, 2e-8, 1e-7)
"""The tilts in rad. The largest component of a unit vector that is tilted by up to 1e-8 is rounded to 1."""

TOLERANCE = 1e-13


def urdf(tilt: float) -> str:
    """A URDF of three joints, the middle one prismatic, whose axes are tilted from the coordinate axes."""
    axes = ((1, tilt, 0), (0, 1, -tilt), (tilt, tilt, -1))
    lines = ['<robot name="tilted"><link name="l0"/>']
    for k, (axis, kind) in enumerate(zip(axes, ("continuous", "prismatic", "continuous"), strict=True)):
        lines.append(
            f'<link name="l{k + 1}"><inertial><origin xyz="0.1 -0.2 0.15"/><mass value="{k + 1}"/>'
            '<inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.02" ixz="-0.03" iyz="0.05"/></inertial></link>'
            f'<joint name="j{k}" type="{kind}"><parent link="l{k}"/><child link="l{k + 1}"/>'
            f'<origin xyz="0.3 0.1 -0.2"/><axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>'
            '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        )
    return "\n".join([*lines, "</robot>"])


CASES = list(product(TILTS, (0.0, DEFAULT_SNAP)))


@pytest.mark.parametrize(("tilt", "snap"), few([*CASES[1::2], CASES[0], CASES[-2]], CASES))
def test_against_forty_digits(tilt: float, snap: float) -> None:
    """Every form of every function agrees with forty digits."""
    assert largest_error(build_robot(parse_urdf(urdf(tilt)), snap=snap).model) < (TOLERANCE,)
