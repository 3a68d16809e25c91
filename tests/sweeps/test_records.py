"""Records list their numbers in order, and how these are rotated."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from support.rationals import Rationals

from rbdgen.functions.derivatives.one_frame import Accelerated, Composite, Direction
from rbdgen.functions.inverse_dynamics.classical import BodyMotion
from rbdgen.model.articulated import ArticulatedInertia
from rbdgen.model.moments import MassMoments
from rbdgen.spatial.ops import Force, Matrix, Symmetric, Vector
from rbdgen.spatial.planar import FactoredRotation, PlanarRotation, X, Z
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.records import Each, Entry, Total, flat, named, of, turned, width

WIDTHS = {
    Scalar: 1,
    Entry: 1,
    Total: 1,
    15: 15,
    Vector: 3,
    Matrix: 9,
    Symmetric: 6,
    Force: 6,
    BodyMotion: 9,
    MassMoments: 10,
    ArticulatedInertia: 21,
    Accelerated: 24,
    Direction: 24,
    Composite: 28,
}


@pytest.mark.parametrize("kind", [kind for kind in WIDTHS if kind != Entry], ids=str)
def test_numbers_and_back(kind: Any) -> None:
    numbers = list(range(1, width(kind) + 1))
    assert len(numbers) == WIDTHS[kind]
    assert flat(kind, of(kind, numbers)) == numbers


def test_a_symmetric_matrix_is_whole_again() -> None:
    inertia: ArticulatedInertia = of(ArticulatedInertia, range(21))
    assert inertia.A == inertia.A.T
    assert inertia.B != inertia.B.T
    assert (inertia.A[1].x, inertia.C[2].y) == (1, 19)


def test_six_values_of_a_floating_base() -> None:
    directions = [of(Direction, range(k, k + 24)) for k in range(6)]
    assert flat(Each(Direction), directions) == [value for k in range(6) for value in range(k, k + 24)]
    assert flat(Scalar, [1, 2, 3]) == [1, 2, 3]


def test_every_part_turns_in_its_own_way() -> None:
    """Vectors are rotated by R and matrices by R A R^T; the inverse rotation gives the record back."""
    r = Rationals(5)
    rotation = FactoredRotation.of(PlanarRotation(Z, *r.angle()), PlanarRotation(X, *r.angle()))
    value: ArticulatedInertia = of(ArticulatedInertia, r.numbers(21))
    R = Matrix(*(rotation.to_parent(Vector(*(int(i == k) for i in range(3)))) for k in range(3))).T
    seen: ArticulatedInertia = turned(ArticulatedInertia, value, rotation)
    assert [R @ M @ R.T for M in (value.A, value.B, value.C)] == [seen.A, seen.B, seen.C]
    assert turned(ArticulatedInertia, seen, rotation.inverse) == value
    assert turned(15, [Fraction(1, 2)] * 15, rotation) == [Fraction(1, 2)] * 15


def test_every_number_has_a_name() -> None:
    labels: list[str] = []

    def naming(label: str, value: Scalar) -> Scalar:
        labels.append(label)
        return value

    named(MassMoments, of(MassMoments, range(10)), naming, "composite[2]")
    assert len(labels) == len(set(labels)) == 10
    assert labels[0] == "composite[2].mass"
    assert labels[-1] == "composite[2].second.zz"
    assert named(Force, of(Force, range(6)), naming, "force[1]") == of(Force, range(6))
    assert labels[10:12] == ["force[1].n.x", "force[1].n.y"]
