"""The quick criteria for inertias, in NumPy and in C, agree with eigenvalues, also near the limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import rbdgen
from rbdgen.runtime import Library
from rbdgen.runtime.bodies import ROUNDING, Bodies, certain, distance_of
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import SizedArgument

Array = NDArray[np.float64]

ENTRIES = ([0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2])


def link(about_center: bool) -> dict[str, Any]:
    """A link whose ten inertial parameters are all inputs."""
    return {"link": "x", "about_center": about_center, "values": [0.0] * 10, "places": list(range(10))}


def tens(
    moments: Array, masses: Array, centers: Array, rng: np.random.Generator, about_center: bool
) -> Array:
    """Ten numbers (rows, 10) of second moments (rows, 3), in axes turned at random."""
    axes = np.linalg.qr(rng.normal(size=(len(moments), 3, 3)))[0]
    second = axes @ (moments[:, :, None] * np.swapaxes(axes, 1, 2))
    vector = centers
    if not about_center:
        second = second + masses[:, None, None] * centers[:, :, None] * centers[:, None, :]
        vector = masses[:, None] * centers
    J = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    return np.hstack([masses[:, None], vector, J[:, *ENTRIES]])


def rows(about_center: bool, rng: np.random.Generator, count: int = 3000) -> Array:
    """Draws thick and flat bodies, rods and points, with least second moments on both sides of the limit."""
    sizes = 10.0 ** rng.uniform(-14, 0, (count, 3))
    moments = np.sort(sizes, axis=1)
    moments[:, 0] = moments.sum(1) * ROUNDING * rng.uniform(-3, 3, count)
    moments[: count // 3, 0] = -moments.sum(1)[: count // 3] * 10.0 ** rng.uniform(-16, 0, count // 3)
    masses = 10.0 ** rng.uniform(-3, 3, count)
    centers = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-4, 1, (count, 1))
    return tens(moments * 10.0 ** rng.uniform(-6, 6, (count, 1)), masses, centers, rng, about_center)


@pytest.fixture(scope="module")
def library() -> Library:
    return rbdgen.build("double_pendulum", ["rnea"], params=["ten:*"])


@pytest.fixture(scope="module")
def calls(library: Library) -> Any:
    """The module of quick calls."""
    return library.rnea._calls


def quickly(calls: Any, about_center: bool, p: Array) -> NDArray[np.bool_]:
    """The result of C for every row."""
    places, kind = np.arange(10), np.array([int(about_center)], np.uint8)
    return np.array([calls.are_bodies(row, np.zeros((1, 10)), places, kind) for row in p])


@pytest.mark.parametrize("about_center", [True, False])
def test_what_is_certain_has_no_distance(calls: Any, about_center: bool) -> None:
    """Every inertia that passes without eigenvalues also passes with them."""
    rng = np.random.default_rng(0)
    p = np.concatenate([rows(about_center, rng), rng.normal(size=(1000, 10))])
    distances = distance_of(link(about_center), p)
    assert 1000 < np.count_nonzero(distances) < len(p) - 300
    for sound in (certain(link(about_center), p), quickly(calls, about_center, p)):
        assert np.count_nonzero(sound) > 300
        assert not distances[sound].any()


def test_flat_bodies_are_not_certain_for_rounding(calls: Any) -> None:
    """The determinant of a rod, which is nearly a line, is smaller than its rounding error, so it decides
    nothing."""
    rng, count = np.random.default_rng(1), 2000
    moments = np.tile([-1e-11, 1e-10, 1.0], (count, 1))
    p = tens(moments, np.ones(count), np.zeros((count, 3)), rng, about_center=True)
    assert np.count_nonzero(distance_of(link(True), p)) == count
    assert not certain(link(True), p).any()
    assert not quickly(calls, True, p).any()


@pytest.mark.parametrize("about_center", [True, False])
def test_solids_are_certain(calls: Any, about_center: bool) -> None:
    rng = np.random.default_rng(2)
    argument = SizedArgument("I", (10,), "", "", "inertia")
    solid = Manifold(()).random_inputs([argument], rng, (500,))["I"]
    thin = np.tile([1e-6, 1e-6, 1.0], (500, 1))
    p = np.concatenate([tens(thin, np.full(500, 2.0), rng.normal(size=(500, 3)), rng, about_center)])
    p = p if about_center else np.concatenate([p, solid])
    assert certain(link(about_center), p).all()
    assert quickly(calls, about_center, p).all()


ODD = {
    "not a number": (np.full(10, np.nan), 0.0),
    "infinite": (np.array([1, 0, 0, 0, np.inf, 0, 1, 0, 0, 1]), np.inf),
    "huge": (np.array([1, 1e200, 0, 0, 1, 0, 1, 0, 0, 1]), np.inf),
    "nothing": (np.zeros(10), 0.0),
    "a point": (np.eye(1, 10)[0], 0.0),
    "no mass": (np.array([0, 0, 0, 0, 3, 0, 0, 0, 4.0, 0]), 5.0),
    "negative mass": (np.array([-2, 0, 0, 0, 1, 0, 1, 0, 0, 1.0]), 2.0),
    "a triangle that does not close": (np.array([1, 0, 0, 0, 1, 0, 1, 0, 0, 3.0]), 1.0),
}


@pytest.mark.parametrize(("p", "distance"), ODD.values(), ids=ODD)
def test_odd_numbers(calls: Any, p: Array, distance: float) -> None:
    for module in (None, calls):
        found = Bodies([link(False)], module).unphysical(np.tile(p, (2, 3, 1)))
        assert found == ({"x": pytest.approx(distance)} if distance else {})


@pytest.mark.parametrize("quick", [True, False])
def test_a_single_row_among_many_is_found(library: Library, calls: Any, quick: bool) -> None:
    p = np.tile(library.parameters.defaults, (1000, 1))
    bodies = Bodies(library.parameters.links, calls if quick else None)
    assert bodies.unphysical(p) == {}
    assert bodies.unphysical(p[:0]) == {}
    bad = library.parameters.names.index("ten:lower.Ixx")
    p[700, bad] *= 10
    assert set(bodies.unphysical(p)) == {"lower"}
    with pytest.warns(UserWarning, match="no body has the inertia of link 'lower'"):
        library.update(p)
    with pytest.warns(UserWarning, match="no body has the inertia of link 'lower'"):
        library.update(p[700].tolist())


def test_a_constant_inertia_is_looked_at_once(calls: Any) -> None:
    """This is so for a link whose mass is its only parameter."""
    sound = {
        "link": "x",
        "about_center": True,
        "values": [1, 0, 0, 0, 1, 0, 1, 0, 0, 1.0],
        "places": [0, *[None] * 9],
    }
    wrong = {**sound, "link": "y", "values": [1, 0, 0, 0, 1, 0, 1, 0, 0, 3.0]}
    assert Bodies([sound], calls).unphysical([[2.0], [0.1]]) == {}
    assert Bodies([sound], calls).unphysical([[2.0], [-0.1]]) == {"x": pytest.approx(0.1)}
    assert Bodies([sound, wrong], calls).unphysical([[2.0]]) == {"y": pytest.approx(1)}


def test_what_does_not_fit_is_refused_before_it_is_read(calls: Any) -> None:
    p, values, kinds = np.zeros((3, 10)), np.zeros((1, 10)), np.zeros(1, np.uint8)
    places = np.arange(10)
    for wrong in (
        (p[:, :9], values, places, kinds),
        (p.astype(np.float32), values, places, kinds),
        (p, values[:, :9], places, kinds),
        (p, values, places + 1, kinds),
        (p, values, places.astype(np.int32), kinds),
        (np.array(1.0), values, places, kinds),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            calls.are_bodies(*wrong)
