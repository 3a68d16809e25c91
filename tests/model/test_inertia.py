"""The ten-parameter inertia agrees with dense 6 x 6 matrices, exactly if numbers are rational."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.rationals import Rationals

from rbdgen.model.inertia import (
    NO_INERTIA,
    Inertia,
    from_second_moment,
)
from rbdgen.spatial.ops import IDENTITY, ZERO, ZERO_MATRIX, Force, Matrix, Motion, Transform, Vector

streams = st.integers(0, 10**6).map(Rationals)
exact = settings(max_examples=40, deadline=None)


def dense(inertia: Inertia) -> NDArray[np.object_]:
    """The 6 x 6 matrix of exact numbers in [angular, linear] order (Featherstone 2008, eq. 2.63)."""
    hx = np.array([list(row) for row in Matrix.skew(inertia.first_moment)], dtype=object)
    J = np.array([list(row) for row in inertia.rotational], dtype=object)
    return np.block([[J, hx], [hx.T, inertia.mass * np.eye(3, dtype=int).astype(object)]])


def dense_motion_to_child(X: Transform) -> NDArray[np.object_]:
    """The 6 x 6 matrix ^child X_parent of motions, column by column."""
    columns = []
    for k in range(6):
        e = [int(j == k) for j in range(6)]
        m = X.motion_to_child(Motion(Vector(*e[:3]), Vector(*e[3:])))
        columns.append([*m.angular, *m.linear])
    return np.array(columns, dtype=object).T


def column(value: Motion | Force) -> NDArray[np.object_]:
    parts = (value.angular, value.linear) if isinstance(value, Motion) else (value.moment, value.force)
    return np.array([x for part in parts for x in part], dtype=object)


@exact
@given(streams)
def test_transformed_is_the_dense_congruence(r: Rationals) -> None:
    inertia, X = r.inertia(), r.transform()
    dense_X = dense_motion_to_child(X)
    assert (dense(inertia.transformed(X)) == dense_X.T @ dense(inertia) @ dense_X).all()


@exact
@given(streams)
def test_rotated_and_translated_are_their_transforms(r: Rationals) -> None:
    inertia, X = r.inertia(), r.transform()
    assert inertia.rotated(X.rotation) == inertia.transformed(Transform(X.rotation, ZERO))
    assert inertia.translated(X.translation) == inertia.transformed(Transform(IDENTITY, X.translation))
    assert inertia.translated(X.translation).translated(-X.translation) == inertia
    assert inertia.rotated(X.rotation).rotated(X.rotation.T) == inertia


@exact
@given(streams)
def test_merging_is_addition_of_the_dense_matrices(r: Rationals) -> None:
    parent, child, X = r.inertia(), r.inertia(), r.transform()
    merged = parent + child.transformed(X)
    assert (dense(merged) == dense(parent) + dense(child.transformed(X))).all()
    assert merged.mass == parent.mass + child.mass
    assert parent + NO_INERTIA == parent


@exact
@given(streams)
def test_product_with_a_motion(r: Rationals) -> None:
    inertia, m = r.inertia(), Motion(r.vector(), r.vector())
    assert (column(inertia.apply(m)) == dense(inertia) @ column(m)).all()


@exact
@given(streams)
def test_equation_of_motion(r: Rationals) -> None:
    """The equation of motion with classical accelerations is equal to I a + v x* I v."""
    inertia = r.inertia()
    v, a = Motion(r.vector(), r.vector()), Motion(r.vector(), r.vector())
    assert inertia.equation_of_motion(v, a) == inertia.apply(a) + v.cross_force(inertia.apply(v))


@exact
@given(streams)
def test_kinetic_energy_of_point_masses(r: Rationals) -> None:
    """v . I v is the sum of m |v + w x r|^2."""
    v = Motion(r.vector(), r.vector())
    total, energy = NO_INERTIA, Fraction(0)
    for _ in range(4):
        m, p = r.positive(), r.vector()
        total = total + Inertia.from_center_of_mass(m, p, ZERO_MATRIX)
        velocity = v.linear + v.angular.cross(p)
        energy += m * velocity.dot(velocity)
    assert v.dot(total.apply(v)) == energy


@exact
@given(streams)
def test_second_moment_there_and_back(r: Rationals) -> None:
    """Sigma of point masses is the sum of m r r^T, and J = tr(Sigma) 1 - Sigma."""
    total, sigma = NO_INERTIA, ZERO_MATRIX
    for _ in range(3):
        m, p = r.positive(), r.vector()
        total = total + Inertia.from_center_of_mass(m, p, ZERO_MATRIX)
        sigma = sigma + Matrix.outer(p, p) * m
    assert total.second_moment == sigma
    assert all(isinstance(x, (int, Fraction)) for row in total.second_moment for x in row)
    assert from_second_moment(sigma) == total.rotational
    assert Inertia.from_second_moment(total.mass, total.first_moment, sigma) == total


def test_parallel_axes() -> None:
    inertia = Inertia.from_center_of_mass(2, Vector(0, 3, 4), Matrix.diagonal(1, 2, 3))
    assert inertia.first_moment == Vector(0, 6, 8)
    assert inertia.rotational == Matrix(Vector(51, 0, 0), Vector(0, 34, -24), Vector(0, -24, 21))


@exact
@given(streams)
def test_turned_with_less_operations(r: Rationals) -> None:
    inertia, R = r.inertia(), r.rotation()
    assert inertia.turned(R) == inertia.rotated(R)


@exact
@given(streams)
def test_quadratic_is_the_product_with_the_momentum(r: Rationals) -> None:
    inertia, v = r.inertia(), Motion(r.vector(), r.vector())
    assert inertia.quadratic(v) == v.dot(inertia.apply(v))


@exact
@given(streams)
def test_center_there_and_back(r: Rationals) -> None:
    m, c, about_center = r.positive(), r.vector(), r.inertia().rotational
    inertia = Inertia.from_center_of_mass(m, c, about_center)
    assert (inertia.center, inertia.about_center) == (c, about_center)
    assert Inertia.from_first_moment(m, c * m, about_center) == inertia
    assert inertia - inertia == NO_INERTIA


def test_factor() -> None:
    """I = F F^T holds exactly for numbers with exact roots."""
    L = Matrix(Vector(2, 0, 0), Vector(1, 3, 0), Vector(-1, 2, 4))
    inertia = Inertia.from_center_of_mass(4.0, Vector(1, -2, 3), L @ L.T)
    a, b, found = inertia.factor()
    assert (a, b, found) == (2, Vector(2, -4, 6), L)
    assert inertia.without_mass() == (a, b, L @ L.T)
