"""The capsules of primitives hold them, and their excess is the largest distance from capsule to shape."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.covers import directions, ends_of, origin, outside_of_all, shape, surface_of

from rbdgen.description.document import parse
from rbdgen.description.shapes.covers.rounded import rounded
from rbdgen.description.shapes.covers.solids import solid_cover
from rbdgen.description.shapes.covers.swept import Array, Swept
from rbdgen.description.shapes.covers.wanted import Wanted
from rbdgen.description.shapes.shape import Kind, Shape
from rbdgen.description.shapes.urdf import urdf_shapes
from rbdgen.spatial.ops import NO_TRANSFORM

SIZE = st.floats(1e-3, 2)


def solid(kind: Kind, *size: float) -> Shape:
    return Shape("link", "collision", kind, NO_TRANSFORM, size)


def shapes(inside: str) -> tuple[Shape, ...]:
    return urdf_shapes(parse(f'<robot name="r"><link name="a">{inside}</link></robot>'.encode(), "r")).shapes


def box_points(size: tuple[float, ...], count: int = 3000) -> Array:
    """The corners of a box, and random points of its surface."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2 * size
    random = np.random.default_rng(3)
    points = random.uniform(-0.5, 0.5, (count, 3))
    points[np.arange(count), random.integers(0, 3, count)] = random.choice([-0.5, 0.5], count)
    return np.concatenate([corners, points * size])


def cylinder_points(radius: float, length: float, count: int = 3000) -> Array:
    """Points of the rims of a cylinder, which hold all of it in a convex shape."""
    angle = np.linspace(0, 2 * math.pi, count)
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(count, length / 2)], axis=1)
    return np.concatenate([rim, rim * [1, 1, -1]])


def to_box(points: Array, size: tuple[float, ...]) -> Array:
    """The distances of points to a box, 0 inside."""
    return np.asarray(np.linalg.norm(np.maximum(np.abs(points) - np.array(size) / 2, 0), axis=1))


def to_cylinder(points: Array, radius: float, length: float) -> Array:
    across = np.maximum(np.linalg.norm(points[:, :2], axis=1) - radius, 0)
    return np.hypot(across, np.maximum(np.abs(points[:, 2]) - length / 2, 0))


def check(capsules: list[Swept], points: Array, largest: float) -> None:
    """All points are held, and the largest distance from a capsule's surface to the shape is as told."""
    size = float(np.abs(points).max())
    assert outside_of_all(points, capsules).max() <= 1e-12 * size
    told = max(x.excess or 0.0 for x in capsules)
    assert largest <= told + 1e-9 * size


@settings(max_examples=60, deadline=None)
@given(SIZE, SIZE, SIZE, st.integers(1, 4))
def test_boxes(x: float, y: float, z: float, count: int) -> None:
    size = (x, y, z)
    capsules = solid_cover(solid("box", *size), Wanted(box=count))
    assert len(capsules) == count
    surface = np.concatenate([surface_of(c) for c in capsules])
    check(capsules, box_points(size), float(to_box(surface, size).max()))


def test_the_excess_of_a_box_is_attained() -> None:
    for size in ((0.3, 0.2, 0.1), (1.0, 1.0, 1.0), (2.0, 0.1, 0.1)):
        (capsule,) = solid_cover(solid("box", *size), Wanted())
        assert capsule.excess == pytest.approx(to_box(surface_of(capsule), size).max(), rel=1e-2)


@settings(max_examples=60, deadline=None)
@given(SIZE, SIZE, st.booleans())
def test_cylinders(radius: float, length: float, short: bool) -> None:
    (capsule,) = solid_cover(solid("cylinder", radius, length), Wanted(short=short))
    most = float(to_cylinder(surface_of(capsule), radius, length).max())
    check([capsule], cylinder_points(radius, length), most)
    assert capsule.excess == pytest.approx(most, rel=0.05, abs=1e-9)


def test_the_covers_of_a_cylinder() -> None:
    """As long as the cylinder: exact at the side, and the radius at the poles; short: 0.41 of the radius."""
    (long,) = solid_cover(solid("cylinder", 0.05, 0.4), Wanted(short=False))
    assert (long.half_length, long.radius, long.excess) == (0.2, 0.05, 0.05)
    (short,) = solid_cover(solid("cylinder", 0.05, 0.4), Wanted())
    assert short.radius == pytest.approx(math.sqrt(2) * 0.05)
    assert short.excess == pytest.approx((math.sqrt(2) - 1) * 0.05)
    (flat,) = solid_cover(solid("cylinder", 0.1, 0.01), Wanted())
    assert flat.half_length == 0
    assert flat.radius == pytest.approx(math.hypot(0.1, 0.005))


@settings(max_examples=60, deadline=None)
@given(SIZE, SIZE, SIZE)
def test_ellipsoids(x: float, y: float, z: float) -> None:
    """The excess is the largest difference of the support functions of both convex bodies."""
    (capsule,) = solid_cover(solid("ellipsoid", x, y, z), Wanted())
    radii, normals = np.array([x, y, z]), directions(20_000)
    check([capsule], normals * radii, 0.0)
    support = capsule.half_length * np.abs(normals @ capsule.axis) + capsule.radius
    difference = support - np.linalg.norm(normals * radii, axis=1)
    size = max(x, y, z)
    assert difference.min() >= -1e-12 * size
    assert difference.max() <= (capsule.excess or 0.0) + 1e-9 * size
    assert capsule.excess == pytest.approx(difference.max(), abs=0.02 * size)


def test_spheres_and_capsules_are_exact() -> None:
    (sphere,) = solid_cover(solid("sphere", 0.1), Wanted())
    assert (sphere.half_length, sphere.radius, sphere.excess) == (0, 0.1, 0)
    (capsule,) = solid_cover(solid("capsule", 0.1, 0.6), Wanted())
    assert (capsule.half_length, capsule.radius, capsule.excess) == (0.3, 0.1, 0)
    assert capsule.axis.tolist() == [0, 0, 1]


CYLINDER = '<cylinder radius="0.1" length="0.4"/>'
SPHERE = '<sphere radius="0.1"/>'


def test_a_cylinder_with_spheres_at_its_ends_is_one_capsule() -> None:
    """Also turned and moved, and in any order."""
    turned = origin((0.5, 0, 0), (0, math.pi / 2, 0))
    inside = [shape(CYLINDER, turned), shape(SPHERE, origin((0.7, 0, 0))), shape(SPHERE, origin((0.3, 0, 0)))]
    for order in (inside, inside[::-1]):
        (capsule,), rest = rounded(shapes("".join(order)))
        assert rest == []
        np.testing.assert_allclose(capsule.center, [0.5, 0, 0], atol=1e-15)
        np.testing.assert_allclose(np.abs(capsule.axis), [1, 0, 0], atol=1e-15)
        assert (capsule.half_length, capsule.radius, capsule.excess) == (0.2, 0.1, 0)


def test_spheres_that_are_almost_at_the_ends_are_held() -> None:
    """An angle with three digits, as in real files: both the cylinder and the spheres are held."""
    turned = origin((0, 0, 0), (0, 1.57, 0))
    ends = [(0.2, 0.0, 0.0), (-0.2, 0.0, 0.0)]
    (capsule,), rest = rounded(
        shapes(shape(CYLINDER, turned) + "".join(shape(SPHERE, origin(x)) for x in ends))
    )
    assert rest == []
    assert 1e-5 < (capsule.excess or 0.0) < 2e-4
    spheres = np.concatenate([np.array(end) + 0.1 * directions(500) for end in ends])
    c, s = math.cos(1.57), math.sin(1.57)
    cylinder = cylinder_points(0.1, 0.4) @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T
    assert outside_of_all(np.concatenate([spheres, cylinder]), [capsule]).max() <= 1e-12


@pytest.mark.parametrize(
    "others",
    [
        [SPHERE],
        [SPHERE, '<sphere radius="0.11"/>'],
        [],
    ],
)
def test_other_cylinders_stay_cylinders(others: list[str]) -> None:
    ends = [origin((0, 0, 0.2)), origin((0, 0, -0.2))]
    inside = shape(CYLINDER) + "".join(shape(x, end) for x, end in zip(others, ends, strict=False))
    capsules, rest = rounded(shapes(inside))
    assert capsules == []
    assert len(rest) == 1 + len(others)


def test_a_sphere_may_be_at_the_ends_of_two_cylinders() -> None:
    middles, ends = [(0, 0, 0.2), (0, 0, 0.6)], [(0, 0, 0.0), (0, 0, 0.4), (0, 0, 0.8)]
    inside = [shape(CYLINDER, origin(x)) for x in middles] + [shape(SPHERE, origin(x)) for x in ends]
    capsules, rest = rounded(shapes("".join(inside)))
    assert (len(capsules), rest) == (2, [])
    assert sorted(round(float(end[2]), 9) for x in capsules for end in ends_of(x)) == [0, 0.4, 0.4, 0.8]
