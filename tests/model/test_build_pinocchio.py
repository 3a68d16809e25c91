"""The built model agrees with Pinocchio's reading of the same files: order, indices, placements, inertias."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from support import random_urdf
from support.pinocchio_oracle import model_of_urdf
from support.robots import BASES, PATHS, robot

from rbdgen.description.urdf import parse_urdf
from rbdgen.model.build import Base, build_robot
from rbdgen.model.joints import Floating
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import Motion, Transform, Vector


def assert_same(model: Model, reference: Any, tolerance: float) -> None:
    """Asserts that joints are equal, in the same order; Pinocchio's joint 0 is the world."""
    bodies = model.bodies
    assert [body.joint.name for body in bodies] == list(reference.names)[1:]
    assert [body.parent if body.parent != WORLD else -1 for body in bodies] == [
        parent - 1 for parent in list(reference.parents)[1:]
    ]
    joints = list(reference.joints)[1:]
    assert [(body.joint.idx_q, body.joint.idx_v) for body in bodies] == [(j.idx_q, j.idx_v) for j in joints]
    assert [(body.joint.nq, body.joint.nv) for body in bodies] == [(j.nq, j.nv) for j in joints]
    assert (model.nq, model.nv) == (reference.nq, reference.nv)
    np.testing.assert_array_equal(list(model.gravity), reference.gravity.linear)
    for index, body in enumerate(bodies, start=1):
        assert_same_placement(body.placement, reference.jointPlacements[index], tolerance)
        assert_same_axes(body.joint.motion_subspace, joints[index - 1], tolerance)
        expected = reference.inertias[index].matrix()
        scale = np.abs(expected).max()
        columns = [body.inertia.apply(column) for column in unit_motions()]
        ours = np.array([[*f.force, *f.moment] for f in columns], dtype=float).T
        np.testing.assert_allclose(ours, expected, rtol=0, atol=tolerance * max(scale, 1e-3))


def unit_motions() -> list[Motion]:
    """The unit motions, linear ones first, as in Pinocchio's 6 x 6 matrices."""
    eye = np.eye(6).tolist()
    return [Motion(angular=Vector(*e[3:]), linear=Vector(*e[:3])) for e in eye]


def assert_same_placement(ours: Transform, reference: Any, tolerance: float) -> None:
    np.testing.assert_allclose([list(row) for row in ours.rotation], reference.rotation, atol=tolerance)
    np.testing.assert_allclose(list(ours.translation), reference.translation, atol=tolerance)


def assert_same_axes(columns: tuple[Motion, ...], joint: Any, tolerance: float) -> None:
    """Asserts that the motion subspaces, which are constant for these joints, are equal."""
    data = joint.createData()
    joint.calc(data, np.array([0.0] * 6 + [1.0])[-joint.nq :] if joint.nq == 7 else np.zeros(joint.nq))
    ours = np.array([[*S.linear, *S.angular] for S in columns], dtype=float).T
    np.testing.assert_allclose(ours, np.asarray(data.S).reshape(6, -1), atol=tolerance)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", PATHS)
def test_real_robots(name: str, base: Base) -> None:
    assert_same(robot(name, base, snap=0.0).model, model_of_urdf(PATHS[name].read_text(), base), 1e-14)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", PATHS)
def test_snapping_moves_nothing_by_more_than_it_may(name: str, base: Base) -> None:
    built = robot(name, base)
    assert_same(built.model, model_of_urdf(PATHS[name].read_text(), base), 1e-10)
    assert all(snapped.change <= built.snap for snapped in built.snapped)


@pytest.mark.parametrize("base", BASES)
@settings(max_examples=60, deadline=None)
@given(text=random_urdf.robots())
def test_random_robots(base: Base, text: str) -> None:
    built = build_robot(parse_urdf(text), base=base, snap=0.0)
    assert_same(built.model, model_of_urdf(text, base), 1e-13)
    assert built.joint_names == tuple(
        b.joint.name for b in built.model.bodies if not isinstance(b.joint.type, Floating)
    )


def test_continuous_joints_have_one_coordinate() -> None:
    assert robot("double_pendulum").model.nq == 2


def test_mimic_joints_are_warned_of_and_independent() -> None:
    built = robot("panda")
    (warning,) = (text for text in built.warnings if "mimics" in text)
    assert "'panda_finger_joint2' mimics 'panda_finger_joint1'" in warning
    assert "independent" in warning
    assert built.model.nq == 9
