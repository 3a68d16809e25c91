"""The closest points of segments, in special positions on purpose."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from support.distances import KINDS, exact_distance, segments_of

from rbdgen.description.capsules import Segments
from rbdgen.functions.distances.segments import Segment, parameters, segments
from rbdgen.spatial.ops import Vector

FORMS: tuple[Segments, ...] = ("plain", "exact")

FEW = 100
"""The number of pairs of each kind that are compared with the reference."""

WORST = {
    ("plain", "nearly parallel"): 2e-12,
    ("plain", "nearly parallel, crossing"): 4e-8,
    ("exact", "nearly parallel, crossing"): 4e-12,
    ("plain", "crossing"): 5e-14,
    ("plain", "touching"): 5e-14,
    ("plain", "short"): 5e-14,
}
"""The errors in m of forms and positions whose axes meet or nearly do; others are below 1e-15."""


@pytest.mark.parametrize(("form", "kind"), list(product(FORMS, KINDS)))
def test_distances_are_those_of_60_digits(form: Segments, kind: str) -> None:
    one, other = segments_of(kind, FEW)
    found = segments(one, other, form, 0.0, np.sqrt).distance
    exact = np.array([float(exact_distance(one, other, k)) for k in range(FEW)])
    assert np.abs(found - exact).max() <= WORST.get((form, kind), 1e-15)


@pytest.mark.parametrize("form", FORMS)
def test_axes_that_are_far_apart_keep_all_digits(form: Segments) -> None:
    """Near contact, axes are as far apart as both radii are together, and the error is that of rounding."""
    one, other = segments_of("nearly parallel", 300, seed=2)
    exact = np.array([float(exact_distance(one, other, k)) for k in range(300)])
    found = segments(one, other, form, 0.0, np.sqrt).distance
    assert np.abs(found - exact)[exact >= 0.29].max() <= 1e-14
    assert (exact >= 0.29).sum() > 100


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_nearer(form: Segments) -> None:
    one, other = segments_of("random", 2000, seed=3)
    least = segments(one, other, form, 0.0, np.sqrt).distance
    rng = np.random.default_rng(4)
    for _ in range(50):
        s, t = rng.uniform(-1, 1, (2, 2000)) * [one.half_length, other.half_length]
        apart = np.array(list(one.at(s) - other.at(t)))
        assert (np.linalg.norm(apart, axis=0) >= least - 1e-15).all()


def test_nan_is_not_swallowed() -> None:
    """A clamp by comparisons that do not hold lets NaN pass."""
    one, other = segments_of("random", 3)
    lost = Segment(Vector(one.center.x * np.nan, one.center.y, one.center.z), one.axis, one.half_length, 0.0)
    for first, second in ((lost, other), (other, lost)):
        assert np.isnan(segments(first, second, "plain", 0.0, np.sqrt).distance).all()


def test_overlap_is_the_depth_of_penetration() -> None:
    """The shift that takes two capsules apart, which is found by a search over directions, is minus the
    distance.
    """
    axes = Vector(1.0, 0.0, 0.0), Vector(0.0, 0.6, 0.8)
    one = Segment(Vector(0.0, 0.0, 0.0), axes[0], 0.3, 0.1)
    other = Segment(Vector(0.05, 0.02, 0.06), axes[1], 0.2, 0.07)
    rng = np.random.default_rng(5)
    n = rng.normal(size=(200_000, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    u1, u2 = (np.array(list(u)) for u in axes)
    r = np.array(list(one.center - other.center))
    needed = 0.17 + 0.3 * np.abs(n @ u1) + 0.2 * np.abs(n @ u2) - n @ r
    depth = -segments(one, other, "plain", 0.0, np.sqrt).distance
    assert depth > 0.1
    assert depth <= needed.min() <= depth * 1.01


def test_a_sphere_is_a_segment_without_length() -> None:
    center, axis = Vector(0.2, -0.1, 0.4), Vector(0.0, 0.0, 1.0)
    rod, sphere = Segment(Vector(0.0, 0.0, 0.0), axis, 0.3, 0.05), Segment(center, Vector(), 0, 0.1)
    expected = np.hypot(np.hypot(0.2, 0.1), 0.1) - 0.15
    for pair in ((rod, sphere), (sphere, rod)):
        assert segments(*pair, "plain", 0.0, np.sqrt).distance == pytest.approx(expected, abs=1e-16)
    assert parameters(sphere, sphere, "plain") == (0, 0)


def test_a_floor_rounds_off_the_cone() -> None:
    one, other = segments_of("crossing", 100)
    plain = segments(one, other, "exact", 0.0, np.sqrt).distance
    rounded = segments(one, other, "exact", 1e-3, np.sqrt).distance
    assert (rounded >= plain).all()
    assert (rounded <= plain + 1e-3).all()
