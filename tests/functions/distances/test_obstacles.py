"""Distances from boxes, halfspaces and capsules that are inputs."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.functions.distances.obstacles import Box, Halfspace, from_box, from_halfspace, obstacles_of
from rbdgen.functions.distances.segments import Segment, segments
from rbdgen.spatial.ops import IDENTITY, NO_TRANSFORM, Matrix, Vector

MANY = 20_000


def boxes(count: int, length: float, seed: int = 0) -> tuple[Segment, Box]:
    """Capsules beside boxes; one in seven is along an edge."""
    rng = np.random.default_rng(seed)
    c, u = rng.uniform(-1, 1, (3, count)), rng.normal(size=(3, count))
    u[:, ::7] = np.array([[1.0], [0.0], [0.0]])
    u /= np.linalg.norm(u, axis=0)
    half = Vector(*rng.uniform(0.02, 0.5, (3, count)))
    zero, one = np.zeros(count), np.ones(count)
    same = Matrix(Vector(one, zero, zero), Vector(zero, one, zero), Vector(zero, zero, one))
    return Segment(Vector(*c), Vector(*u), rng.uniform(0, length, count), 0.0), Box(Vector(), same, half)


def gap(y: Vector, half: Vector) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    deep = np.abs(np.array(list(y))) - np.array(list(half))
    return np.linalg.norm(np.maximum(deep, 0), axis=0)


def test_a_capsule_and_a_box_by_a_search() -> None:
    capsule, box = boxes(MANY, 0.6)
    found = from_box(capsule, box, 0.0, np.sqrt).distance
    low, high = -capsule.half_length, capsule.half_length
    for _ in range(100):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        left = gap(capsule.at(a), box.half) < gap(capsule.at(b), box.half)
        low, high = np.where(left, low, a), np.where(left, b, high)
    np.testing.assert_allclose(found, gap(capsule.at((low + high) / 2), box.half), rtol=0, atol=2e-15)


def test_a_box_is_at_least_as_deep_as_the_radius() -> None:
    capsule, box = boxes(MANY, 0.6, seed=1)
    thick = Segment(capsule.center, capsule.axis, capsule.half_length, 0.1)
    found = from_box(thick, box, 0.0, np.sqrt)
    assert np.isfinite(found.distance).all()
    entered = found.distance < -0.1 + 1e-12
    assert 0.02 < entered.mean() < 0.9
    outside = ~entered
    assert np.allclose(np.linalg.norm(list(found.normal), axis=0)[outside], 1, atol=1e-10)


def test_a_sphere_inside_of_a_box_sees_the_nearest_side() -> None:
    box = Box(Vector(0.0, 0.0, 0.0), IDENTITY, Vector(1.0, 2.0, 3.0))
    for at, side, depth in (
        (Vector(0.9, 0.0, 0.0), (1, 0, 0), 0.1),
        (Vector(0.0, -1.8, 0.0), (0, -1, 0), 0.2),
        (Vector(0.0, 0.0, 2.7), (0, 0, 1), 0.3),
    ):
        found = from_box(Segment(at, Vector(), 0, 0.05), box, 0.0, np.sqrt)
        assert found.distance == pytest.approx(-depth - 0.05, abs=1e-14)
        assert tuple(map(float, found.normal)) == side
        assert np.linalg.norm(list(found.first - found.second)) == pytest.approx(depth, abs=1e-14)


def test_a_capsule_on_the_ground() -> None:
    leaning = Segment(Vector(0.3, 0.0, 1.0), Vector(0.6, 0.0, 0.8), 0.5, 0.1)
    found = from_halfspace(leaning, Halfspace(Vector(0.0, 0.0, 1.0), 0.2))
    assert found.distance == pytest.approx(1.0 - 0.5 * 0.8 - 0.1 - 0.2, abs=1e-15)
    assert tuple(found.first) == pytest.approx((0.0, 0.0, 0.6), abs=1e-15)
    assert tuple(found.second) == pytest.approx((0.0, 0.0, 0.2), abs=1e-15)


def test_a_capsule_between_equal_points_is_a_sphere() -> None:
    rod = Segment(Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0), 0.3, 0.05)
    arrays = {"capsules": [0.4, 0.0, 0.1, 0.4, 0.0, 0.1, 0.2]}
    (obstacle,) = obstacles_of(arrays, NO_TRANSFORM, np.sqrt)["capsule"]
    assert isinstance(obstacle, Segment)
    assert segments(rod, obstacle, "plain", 0.0, np.sqrt).distance == pytest.approx(0.15, abs=1e-12)
