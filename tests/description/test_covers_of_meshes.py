"""Fitted capsules hold every triangle of a mesh, and the same mesh gives the same capsules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.covers import directions, outside_of_all, surface_of, uncovered
from support.few import examples

from rbdgen.description.shapes.covers.fit import fitted
from rbdgen.description.shapes.covers.surface import Field, divided, nearest, points_of, surfaces
from rbdgen.description.shapes.covers.swept import Array


def tube(radius: float, length: float, sides: int = 24) -> Array:
    """The triangles of a closed cylinder along z, with long ones at its side."""
    angle = np.linspace(0, 2 * math.pi, sides + 1)
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(sides + 1, length / 2)], axis=1)
    low, top, bottom = rim * [1, 1, -1], np.array([0, 0, length / 2]), np.array([0, 0, -length / 2])
    triangles = []
    for k in range(sides):
        triangles += [[rim[k], low[k], low[k + 1]], [rim[k], low[k + 1], rim[k + 1]]]
        triangles += [[top, rim[k], rim[k + 1]], [bottom, low[k + 1], low[k]]]
    return np.array(triangles)


def bent() -> Array:
    """Two tubes at a right angle, which one capsule cannot hold tightly."""
    one, other = tube(0.04, 0.4), tube(0.04, 0.4)[..., [2, 1, 0]]
    return np.concatenate([one, other + [0.2, 0, 0.2]])


def check(triangles: Array, count: int) -> None:
    capsules = fitted(triangles, count)
    assert 1 <= len(capsules) <= count
    assert not len(uncovered(triangles, capsules))
    assert outside_of_all(triangles.reshape(-1, 3), capsules).max() <= 0


@settings(max_examples=examples(6, 12), deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 40), st.integers(1, 3), st.sampled_from([1e-3, 1.0, 1e3]))
def test_random_triangles_are_held(seed: int, triangles: int, count: int, scale: float) -> None:
    check(scale * np.random.default_rng(seed).standard_normal((triangles, 3, 3)), count)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_tubes_are_held(count: int) -> None:
    check(tube(0.05, 0.5), count)
    check(bent(), count)


def test_flat_and_thin_meshes_are_held() -> None:
    square = np.array([[[0, 0, 0], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [1, 1, 0], [0, 1, 0]]], float)
    needle = np.array([[[0, 0, 0], [0, 0, 1], [0, 0, 0.5]]], float)
    for mesh in (square, needle):
        check(mesh, 1)
        check(mesh, 2)


def test_a_mesh_without_extent_is_a_point() -> None:
    (capsule,) = fitted(np.ones((2, 3, 3)), 3)
    assert (capsule.center.tolist(), capsule.half_length, capsule.radius) == ([1, 1, 1], 0, 0)


def test_the_excess_of_a_tube_is_near_the_least() -> None:
    """No capsule on a flat end has less than 0.41 of the radius."""
    (capsule,) = fitted(tube(0.05, 0.5), 1)
    assert 0.41 * 0.05 <= (capsule.excess or 0.0) < 0.5 * 0.05


def test_more_capsules_stand_out_less() -> None:
    one, two = (max(x.excess or 0.0 for x in fitted(bent(), count)) for count in (1, 2))
    assert two < 0.5 * one


def test_the_excess_is_not_less_than_the_distance_to_the_mesh() -> None:
    """At the surface of the union of the capsules."""
    triangles = bent()
    capsules = fitted(triangles, 2)
    points = points_of(divided(triangles, 0.004))
    told = max(x.excess or 0.0 for x in capsules)
    surface = np.concatenate([surface_of(x) for x in capsules])
    distances = nearest(surface[outside_of_all(surface, capsules) > -1e-9], points)
    assert 0.95 * told < distances.max() < told + 0.003


def test_the_same_mesh_gives_the_same_capsules() -> None:
    first, second = fitted(bent(), 2), fitted(bent(), 2)
    for one, other in zip(first, second, strict=True):
        assert one.center.tobytes() + one.axis.tobytes() == other.center.tobytes() + other.axis.tobytes()
        assert one[2:] == other[2:]


def test_divided_triangles_are_the_same_surface() -> None:
    triangles = np.random.default_rng(0).standard_normal((20, 3, 3))
    parts = divided(triangles, 0.3)
    area = [
        np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1).sum()
        for x in (triangles, parts)
    ]
    assert area[0] == pytest.approx(area[1])
    assert np.linalg.norm(np.roll(parts, 1, axis=1) - parts, axis=2).max() <= 0.3
    np.testing.assert_array_equal(divided(triangles, 100.0), triangles)


def test_the_field_is_within_a_step() -> None:
    points = points_of(bent())
    field = Field(points)
    probes = np.random.default_rng(0).uniform(field.low, field.high, (2000, 3))
    assert np.abs(field(probes) - nearest(probes, points)).max() <= field.step
    far = 5.0 * directions(100)
    assert (field(far) >= nearest(far, points) - field.step).all()


@pytest.mark.parametrize("half", [0.0, 0.3])
def test_points_are_on_the_surface(half: float) -> None:
    """A sphere, whose segment has no length, has points on its surface alone, too."""
    middle, reach = np.array([[0.1, 0.2, 0.3]]), np.array([[0.0, 0.0, half]])
    normals = directions(40)
    (points,) = surfaces(middle - reach, middle + reach, np.array([0.5]), normals, 4)
    away = points - middle
    away[:, 2] -= np.clip(away[:, 2], -half, half)
    assert len(points) == len(normals) + 4 * 8
    np.testing.assert_allclose(np.linalg.norm(away, axis=1), 0.5, atol=1e-12)
