"""Joint transforms and motion subspaces are exact, and agree with Pinocchio."""

from __future__ import annotations

from fractions import Fraction
from math import cos, sin

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pinocchio_oracle import pinocchio_joint
from support.rationals import Rationals

from rbdgen.checks.pinocchio import configuration_of
from rbdgen.model.joints import (
    Angle,
    Floating,
    Helical,
    Joint,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    rotation_about,
)
from rbdgen.spatial.ops import IDENTITY, ZERO, Motion, Transform, Vector
from rbdgen.spatial.quaternion import rotation_of
from rbdgen.spatial.scalar import is_zero

streams = st.integers(0, 10**6).map(Rationals)
exact = settings(max_examples=40, deadline=None)


@exact
@given(streams)
def test_rotation_about_an_axis(r: Rationals) -> None:
    axis, angle, other = r.axis(), r.angle(), r.angle()
    R = rotation_about(axis, angle)
    assert R @ R.T == IDENTITY
    assert R.apply(axis) == axis
    assert R.trace() == 1 + 2 * angle.cos
    assert R @ rotation_about(axis, other) == rotation_about(axis, angle + other)
    # The rotation is anticlockwise: a vector normal to the axis moves towards axis x vector.
    across = axis.cross(r.vector())
    assert R.apply(across) == across * angle.cos + axis.cross(across) * angle.sin


@exact
@given(streams)
def test_rotation_of_a_quaternion(r: Rationals) -> None:
    x, y, z, w = r.quaternion()
    R = rotation_of((x, y, z, w))
    v = r.vector()
    u = Vector(x, y, z)
    assert R @ R.T == IDENTITY
    assert R.apply(v) == v + u.cross(u.cross(v) + v * w) * 2
    assert rotation_of((-x, -y, -z, -w)) == R


def test_angles_add_only_to_angles() -> None:
    with pytest.raises(TypeError):
        Angle(1, 0) + (1, 0)


def test_zeros_of_a_coordinate_axis_are_exact() -> None:
    """For a coordinate axis, zeros are exact, so that a trace over symbols sees a planar rotation."""
    R = rotation_about(Vector(0, 0, 1), Angle(Fraction(3, 5), Fraction(4, 5)))
    c, s = Fraction(3, 5), Fraction(4, 5)
    assert list(R) == [Vector(c, -s, 0), Vector(s, c, 0), Vector(0, 0, 1)]
    zeros = [R[0].z, R[1].z, R[2].x, R[2].y]
    assert all(map(is_zero, zeros))


TYPES = [Revolute(), Prismatic(), Helical(0.3), Planar(), Spherical(), Floating()]


def test_sizes() -> None:
    assert [(kind.nq, kind.nv) for kind in TYPES] == [(1, 1), (1, 1), (1, 1), (3, 3), (4, 3), (7, 6)]
    joint = Joint("j", Floating(), ZERO, 0, 0)
    assert (joint.nq, joint.nv) == (7, 6)
    assert joint.slice(range(10)) == range(6)


def test_the_base_moves_linear_first_in_its_own_axes() -> None:
    S = Joint("root_joint", Floating(), ZERO, 0, 0).motion_subspace
    assert S[0] == Motion(ZERO, Vector(1, 0, 0))
    assert S[5] == Motion(Vector(0, 0, 1), ZERO)


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
@exact
@given(streams)
def test_transforms_and_subspaces_are_those_of_pinocchio(kind: JointType, r: Rationals) -> None:
    axis = Vector(*map(float, r.axis()))
    joint = Joint("j", kind, axis, 0, 0)
    q = [float(r.number()) for _ in range(kind.nq)]
    if kind.nq in (4, 7):
        q[-4:] = map(float, r.quaternion())
    model = pin.Model()
    model.addJoint(0, pinocchio_joint(joint), pin.SE3.Identity(), "j")
    data = model.createData()
    pin.computeJointJacobians(model, data, configuration_of(model, [joint.coordinates], q))
    moved: Transform = joint.transform(kind.coordinate(q, lambda x: Angle(cos(x), sin(x))))
    np.testing.assert_allclose([list(row) for row in moved.rotation], data.oMi[1].rotation, atol=1e-14)
    np.testing.assert_allclose(list(moved.translation), data.oMi[1].translation, atol=1e-14)
    jacobian = pin.getJointJacobian(model, data, 1, pin.ReferenceFrame.LOCAL)
    ours = np.array([[*S.linear, *S.angular] for S in joint.motion_subspace], dtype=float).T
    np.testing.assert_allclose(ours, jacobian.reshape(6, -1), atol=1e-14)
