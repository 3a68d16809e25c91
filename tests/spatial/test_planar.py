"""Planar rotations and their products are exact in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest
from support.rationals import RIGHT_ANGLES, Rationals, matrix_of

from rbdgen.graph.builder import Builder
from rbdgen.model.joints import Angle, rotation_about
from rbdgen.spatial.ops import IDENTITY, Matrix, Vector
from rbdgen.spatial.planar import FactoredRotation, PlanarRotation

X, Y, Z = IDENTITY


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("angle", [*RIGHT_ANGLES, Angle(Fraction(3, 5), Fraction(-4, 5))])
def test_planar_rotations_are_the_matrices_they_stand_for(axis: int, angle: Angle) -> None:
    r = Rationals(axis)
    planar = PlanarRotation(axis, *angle)
    R = rotation_about(IDENTITY[axis], angle)
    v, general = r.vector(), r.rotation() + Matrix.skew(r.vector())
    symmetric = general + general.T
    assert planar.apply(v) == R.apply(v)
    assert planar.inverse.apply(v) == R.T.apply(v)
    assert planar.general(general) == R @ general @ R.T
    assert planar.symmetric(symmetric) == R @ symmetric @ R.T


def test_a_product_of_factors_turns_there_and_back() -> None:
    r = Rationals(4)
    angles = [r.angle() for _ in range(3)]
    rotation = FactoredRotation.of(
        *(PlanarRotation(k, *angle) for k, angle in zip((2, 0, 2), angles, strict=True))
    )
    v, A = r.vector(), r.rotation()
    R = matrix_of(rotation)
    turn, tilt, other = (rotation_about(e, angle) for e, angle in zip((Z, X, Z), angles, strict=True))
    assert turn @ tilt @ other == R
    assert rotation.to_child(rotation.to_parent(v)) == v
    assert rotation.general_to_parent(A) == R @ A @ R.T
    assert rotation.symmetric_to_parent(A + A.T) == R @ (A + A.T) @ R.T


def test_right_angles_cost_no_operation() -> None:
    builder = Builder()
    entries = builder.input("A", 9)
    A = Matrix(Vector(*entries[:3]), Vector(*entries[3:6]), Vector(*entries[6:]))
    for angle in RIGHT_ANGLES:
        turned = PlanarRotation(2, *angle).general(A)
        cost = builder.cost([x for row in turned for x in row])
        assert cost.total == cost.neg
