"""Fixed rotations from rpy angles, and the effect of snapping on them."""

from __future__ import annotations

from math import cos, hypot, pi, sin, sqrt

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rbdgen.model.rotations import snap_axis, snap_rotation
from rbdgen.spatial.ops import IDENTITY, Matrix, Vector
from rbdgen.spatial.rpy import rotation_from_rpy, rpy_from_rotation

angles = st.floats(-7, 7)

URDF_QUARTER = 1.57079632679
"""pi/2 with eleven decimals, whose cosine is 5e-12."""


def values(matrix: Matrix) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.array([list(row) for row in matrix], dtype=float)


@given(angles, angles, angles)
def test_rpy_is_that_of_pinocchio(roll: float, pitch: float, yaw: float) -> None:
    np.testing.assert_allclose(
        values(rotation_from_rpy(roll, pitch, yaw)), pin.rpy.rpyToMatrix(roll, pitch, yaw), atol=1e-15
    )


@given(angles, angles | st.sampled_from([pi / 2, -pi / 2, pi / 2 - 1e-9, 1e-9 - pi / 2]), angles)
def test_rpy_comes_back(roll: float, pitch: float, yaw: float) -> None:
    """The rotation is recovered to the last digits also near pitch = pi/2, where roll and yaw coincide."""
    rotation = rotation_from_rpy(roll, pitch, yaw)
    again = rotation_from_rpy(*rpy_from_rotation(rotation))
    np.testing.assert_allclose(values(again), values(rotation), atol=2e-15)


@given(angles, angles, angles)
def test_no_tolerance_no_change(roll: float, pitch: float, yaw: float) -> None:
    rotation = rotation_from_rpy(roll, pitch, yaw)
    assert snap_rotation(rotation, 0.0) == (rotation, 0.0)


@pytest.mark.parametrize("quarter", [pi / 2, URDF_QUARTER])
def test_right_angles_become_signed_permutations(quarter: float) -> None:
    for rpy in [(quarter, 0, 0), (0, -quarter, 0), (quarter, 0, -quarter), (quarter, quarter, quarter)]:
        snapped, change = snap_rotation(rotation_from_rpy(*rpy), 1e-9)
        entries = [x for row in snapped for x in row]
        assert sorted(map(abs, entries)) == [0] * 6 + [1] * 3
        assert 0 < change < 1e-11
        np.testing.assert_allclose(values(snapped), values(rotation_from_rpy(*rpy)), atol=1e-11)


def test_a_planar_rotation_is_normalised() -> None:
    """If one axis is snapped, the remaining block is divided by hypot(c, s), so that it stays orthogonal."""
    written = rotation_from_rpy(URDF_QUARTER, 0.0, 0.3)
    snapped, _ = snap_rotation(written, 1e-9)
    assert snapped[2] == Vector(0.0, 1.0, 0.0)
    c, s = snapped[0].x, snapped[1].x
    assert hypot(c, s) == pytest.approx(1.0, abs=2e-16)
    assert (c, s) == (pytest.approx(cos(0.3), abs=1e-15), pytest.approx(sin(0.3), abs=1e-15))
    np.testing.assert_allclose(values(snapped @ snapped.T), np.eye(3), atol=3e-16)


def test_a_general_rotation_stays_as_written() -> None:
    rotation = rotation_from_rpy(0.4, -0.7, 1.1)
    assert snap_rotation(rotation, 1e-9) == (rotation, 0.0)


def test_the_tolerance_is_the_users() -> None:
    rotation = rotation_from_rpy(1.5708, 0.0, 0.0)
    assert snap_rotation(rotation, 1e-9)[0][1].y == pytest.approx(-3.67e-6, rel=1e-2)
    snapped, change = snap_rotation(rotation, 1e-5)
    assert snapped == Matrix(Vector(1, 0, 0), Vector(0, 0, -1), Vector(0, 1, 0))
    assert change == pytest.approx(3.67e-6, rel=1e-2)


def test_identity_is_left_alone() -> None:
    assert snap_rotation(rotation_from_rpy(0.0, 0.0, 0.0), 1e-9) == (IDENTITY, 0.0)


def test_axis() -> None:
    assert snap_axis(Vector(1e-12, -1.0, 0.0), 1e-9) == Vector(0.0, -1.0, 0.0)
    third = 1 / sqrt(3)
    assert snap_axis(Vector(third, third, third), 1e-9) == Vector(third, third, third)
    unsnapped = snap_axis(Vector(1e-12, 1.0, 0.0), 0.0)
    assert unsnapped.x == 1e-12
