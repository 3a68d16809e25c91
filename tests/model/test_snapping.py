"""Placements that are almost at right angles are snapped, with a report or a warning."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from support.urdf_parts import build, joint, link

from rbdgen.spatial.ops import Matrix, Vector

ALMOST = '<origin xyz="0 0 1" rpy="1.57079632679 0 0"/><axis xyz="0 0 1"/>'
CRUDE = '<origin xyz="0 0 1" rpy="1.5708 0 0"/><axis xyz="0 0 1"/>'


def test_snapped_joints_are_reported() -> None:
    parts = [link("root"), link("a"), link("b")]
    robot = build(*parts, joint("j", "revolute", "root", "a", ALMOST), joint("k", "revolute", "a", "b"))
    (snapped,) = robot.snapped
    assert snapped.joint == "j"
    assert snapped.change == pytest.approx(4.9e-12, rel=1e-2)
    assert robot.model.bodies[0].placement.rotation == Matrix(
        Vector(1, 0, 0), Vector(0, 0, -1), Vector(0, 1, 0)
    )
    assert robot.warnings == ()


def test_without_snapping_the_file_is_used_as_written() -> None:
    robot = build(link("root"), link("a"), joint("j", "revolute", "root", "a", ALMOST), snap=0.0)
    assert robot.snapped == ()
    assert robot.warnings == ()
    assert robot.model.bodies[0].placement.rotation[1].y == pytest.approx(4.9e-12, rel=1e-2)


def test_the_rounding_of_right_angles_is_no_news() -> None:
    exact = f'<origin xyz="0 0 1" rpy="{pi / 2!r} 0 0"/><axis xyz="0 0 1"/>'
    robot = build(link("root"), link("a"), joint("j", "revolute", "root", "a", exact))
    assert robot.snapped == ()
    assert robot.model.bodies[0].placement.rotation[1].y == 0


def test_almost_right_angles_are_warned_of() -> None:
    parts = link("root"), link("a"), joint("j", "revolute", "root", "a", CRUDE)
    (warning,) = build(*parts).warnings
    assert warning.startswith("r.urdf:4: joint 'j' is 3.7e-06 off a right angle")
    assert "pass snap=7e-06 (--snap 7e-06)" in warning
    robot = build(*parts, snap=7.4e-6)
    assert robot.warnings == ()
    assert [snapped.joint for snapped in robot.snapped] == ["j"]


def test_chains_of_fixed_rotations_stay_exact() -> None:
    """The zeros of twelve rotations by 30 degrees stay exact in their product."""
    turn = f'<origin rpy="0 0 {pi / 6!r}"/>'
    robot = build(
        *(link(f"l{k}", "") for k in range(12)),
        link("l12"),
        *(joint(f"f{k}", "fixed", f"l{k}", f"l{k + 1}", turn) for k in range(11)),
        joint("j", "revolute", "l11", "l12", turn + '<axis xyz="0 0 1"/>'),
    )
    rotation = robot.model.bodies[0].placement.rotation
    np.testing.assert_array_equal([list(row) for row in rotation], np.eye(3))
