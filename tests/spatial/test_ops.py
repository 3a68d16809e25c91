"""Identities of the spatial algebra, in exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from support.rationals import Rationals

from rbdgen.spatial.ops import (
    IDENTITY,
    NO_TRANSFORM,
    ZERO,
    ZERO_MATRIX,
    Force,
    Matrix,
    Motion,
    Transform,
    Vector,
)
from rbdgen.spatial.scalar import is_zero

numbers = st.fractions(min_value=-3, max_value=3, max_denominator=7)
vectors = st.builds(Vector, numbers, numbers, numbers)
matrices = st.builds(Matrix, vectors, vectors, vectors)
motions = st.builds(Motion, vectors, vectors)
forces = st.builds(Force, vectors, vectors)
transforms = st.integers(0, 10**6).map(lambda seed: Rationals(seed).transform())

exact = settings(max_examples=50, deadline=None)


def inverse(X: Transform) -> Transform:
    return Transform(X.rotation.T, -X.rotation.T.apply(X.translation))


@exact
@given(motions, motions, forces)
def test_force_cross_is_dual_to_motion_cross(v: Motion, m: Motion, f: Force) -> None:
    """m . (v x* f) = -(v x m) . f."""
    assert m.dot(v.cross_force(f)) == -v.cross(m).dot(f)


@exact
@given(motions, motions, motions)
def test_motion_cross_is_a_lie_bracket(u: Motion, v: Motion, w: Motion) -> None:
    zero = Motion(ZERO, ZERO)
    assert v.cross(v) == zero
    assert u.cross(v) == -v.cross(u)
    assert u.cross(v.cross(w)) + v.cross(w.cross(u)) + w.cross(u.cross(v)) == zero


@exact
@given(transforms, motions, forces)
def test_power_does_not_depend_on_the_frame(X: Transform, m: Motion, f: Force) -> None:
    assert X.motion_to_child(m).dot(f) == m.dot(X.force_to_parent(f))


@exact
@given(transforms, motions)
def test_motion_there_and_back(X: Transform, m: Motion) -> None:
    assert X.motion_to_parent(X.motion_to_child(m)) == m
    assert X.motion_to_child(X.motion_to_parent(m)) == m


@exact
@given(transforms, motions, motions, forces)
def test_transforms_keep_the_cross_products(X: Transform, v: Motion, m: Motion, f: Force) -> None:
    assert X.motion_to_parent(v.cross(m)) == X.motion_to_parent(v).cross(X.motion_to_parent(m))
    assert X.force_to_parent(v.cross_force(f)) == X.motion_to_parent(v).cross_force(X.force_to_parent(f))


@exact
@given(transforms, transforms, motions, forces)
def test_transforms_compose(X: Transform, Y: Transform, m: Motion, f: Force) -> None:
    assert (X @ Y).motion_to_parent(m) == X.motion_to_parent(Y.motion_to_parent(m))
    assert (X @ Y).motion_to_child(m) == Y.motion_to_child(X.motion_to_child(m))
    assert (X @ Y).force_to_parent(f) == X.force_to_parent(Y.force_to_parent(f))
    assert X @ inverse(X) == NO_TRANSFORM


@exact
@given(transforms)
def test_rotations_are_orthogonal(X: Transform) -> None:
    R = X.rotation
    assert R @ R.T == IDENTITY
    assert R[0].cross(R[1]) == R[2]


@exact
@given(transforms, vectors)
def test_a_point_moves_with_its_frame(X: Transform, w: Vector) -> None:
    """A rotation about the parent's origin gives the child's origin the velocity w x p."""
    turned = X.motion_to_child(Motion(w, ZERO))
    assert X.rotation.apply(turned.linear) == w.cross(X.translation)


@exact
@given(vectors, vectors, vectors)
def test_vector_identities(a: Vector, b: Vector, c: Vector) -> None:
    assert Matrix.skew(a).apply(b) == a.cross(b)
    assert Matrix.outer(a, b).apply(c) == a * b.dot(c)
    assert a.cross(b.cross(c)) == b * a.dot(c) - c * a.dot(b)
    assert a.dot(b.cross(c)) == b.dot(c.cross(a))


@exact
@given(matrices, matrices, vectors)
def test_matrix_identities(A: Matrix, B: Matrix, v: Vector) -> None:
    assert (A @ B).apply(v) == A.apply(B.apply(v))
    assert (A @ B).T == B.T @ A.T
    assert (A + B).apply(v) == A.apply(v) + B.apply(v)
    assert (A - B) + B == A
    assert -A == A * -1
    assert (A @ B).trace() == (B @ A).trace()
    symmetric = B + B.T
    assert A.congruence(symmetric) == A @ symmetric @ A.T


def test_structural_zeros_stay_exact() -> None:
    """A value that is always zero stays the number 0 in all combinations with symbols."""
    unknown = float("nan")
    x = Vector(unknown, 0, 0)
    assert is_zero(x.cross(x)[1])
    assert is_zero(x.cross(x)[2])
    assert is_zero(x.dot(Vector(0, unknown, unknown)))
    assert all(map(is_zero, ZERO_MATRIX.apply(Vector(unknown, unknown, unknown))))
    moved = NO_TRANSFORM.motion_to_child(Motion(x, ZERO))
    assert all(map(is_zero, moved.linear))


def test_equality_is_by_value() -> None:
    assert Vector(1, 2, 3) == Vector(1.0, Fraction(2), 3)
    assert Vector(1, 2, 3) != Vector(1, 2, 4)
    assert Vector(1, 2, 3) != (1, 2, 3)
    assert hash(Vector(1, 2, 3)) == hash(Vector(1, 2, 3))
    assert Matrix.diagonal(1, 1, 1) == IDENTITY
    assert hash(Matrix.diagonal(1, 1, 1)) == hash(IDENTITY)
    assert IDENTITY != 1
    assert repr(IDENTITY[0]) == "Vector(1, 0, 0)"
    assert "Vector(0, 1, 0)" in repr(IDENTITY)
