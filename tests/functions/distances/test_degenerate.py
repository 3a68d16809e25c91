"""Values, gradients and second derivatives are finite in all degenerate positions: parallel, crossing,
touching, without length, one inside the other.

The gradient of a distance is its wrench: the normal and its moment. Second derivatives are the rates of both
as everything moves. The campaign takes 10^6 pairs in each position, with each form and type, which are more
than 10^7 pairs of segments for each form.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray
from support.distances import KINDS, segments_of

from rbdgen.description.capsules import Segments
from rbdgen.functions.distances.obstacles import Box, Halfspace, from_box, from_halfspace
from rbdgen.functions.distances.segments import Closest, Segment, segments
from rbdgen.graph.builder import Builder
from rbdgen.graph.derivatives.forward import jvp
from rbdgen.graph.derivatives.slopes import Moving
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph
from rbdgen.spatial.ops import Matrix, Vector
from rbdgen.spatial.scalar import Scalar, sqrt

Array = NDArray[np.floating]

FORMS: tuple[Segments, ...] = ("plain", "exact")

FEW: Final = 1000
MANY: Final = 1_000_000
"""The numbers of pairs in each position: of the ordinary test, and of the campaign."""

CHUNK: Final = 20_000
"""The number of pairs that are computed together."""

BOUND: Final = 1e5
"""The largest rate of a normal, in 1/s, and of its moment, in m/s, where parallel axes are 0.05 m apart."""


def told(at: Closest) -> list[tuple[str, tuple[int, ...], list[Scalar]]]:
    """The distance and its wrench, as outputs of a graph."""
    return [
        ("distance", (), [at.distance]),
        ("normal", (3,), list(at.normal)),
        ("moment", (3,), list(at.first.cross(at.normal))),
    ]


@cache
def of_segments(form: Segments) -> tuple[Graph, Graph]:
    """The distance of two segments with its wrench, and the rates of these as centres and axes move."""
    builder = Builder()
    x, h = builder.input("x", 12), builder.input("h", 2)
    one = Segment(Vector(*x[:3]), Vector(*x[3:6]), h[0], 0.05)
    other = Segment(Vector(*x[6:9]), Vector(*x[9:]), h[1], 0.05)
    graph = builder.graph(told(segments(one, other, form, 0.0, sqrt)))
    return graph, jvp(graph, [Moving("x", (12,))])


@cache
def of_obstacle(kind: str) -> tuple[Graph, Graph]:
    """The distance of a capsule or a sphere from a box or a halfspace, likewise, as the capsule moves."""
    builder = Builder()
    x, h, half, turn = (
        builder.input(name, size) for name, size in (("x", 6), ("h", 1), ("half", 3), ("turn", 9))
    )
    rows = Vector(*turn[:3]), Vector(*turn[3:6]), Vector(*turn[6:])
    sphere = kind == "sphere"
    capsule = Segment(Vector(*x[:3]), Vector() if sphere else Vector(*x[3:]), 0 if sphere else h[0], 0.05)
    if kind == "halfspace":
        at = from_halfspace(capsule, Halfspace(rows[0], half[0]))
    else:
        at = from_box(capsule, Box(Vector(), Matrix(*rows), Vector(*half)), 0.0, sqrt)
    graph = builder.graph(told(at))
    return graph, jvp(graph, [Moving("x", (6,))])


def both(kind: str, count: int, seed: int) -> dict[str, Array]:
    """The inputs of `of_segments` in a position of `KINDS`."""
    one, other = segments_of(kind, count, seed)
    x = np.concatenate([np.array(list(v)) for v in (one.center, one.axis, other.center, other.axis)])
    return {"x": x.T, "h": np.array([one.half_length, other.half_length]).T}


PLACES: Final = ("any", "along", "edge", "corner", "inside", "point", "flat", "middle")
"""The positions of a capsule beside a box."""


def beside(place: str, count: int, seed: int) -> dict[str, Array]:
    """The inputs of `of_obstacle` in a position of `PLACES`."""
    rng = np.random.default_rng(seed)
    c, u = rng.uniform(-1, 1, (3, count)), rng.normal(size=(3, count))
    half, h = rng.uniform(0.02, 0.5, (3, count)), rng.uniform(0, 0.5, count)
    sides = rng.choice([-1.0, 1.0], (3, count))
    if place in ("along", "edge"):
        u = np.eye(3)[rng.integers(0, 3, count)].T * sides
    u /= np.linalg.norm(u, axis=0)
    if place == "edge":  # in an edge, or in a side
        c = np.where(u == 0, sides * half, c)
    elif place == "corner":  # an end touches a corner
        c = sides * half + u * h
    elif place == "inside":
        c *= half
    elif place == "point":
        u, h = 0 * u, 0 * h
    elif place == "flat":
        half *= rng.integers(0, 2, (3, count))
    elif place == "middle":
        c = c * rng.integers(0, 2, (3, count)) * half
    turn = np.tile(np.eye(3).ravel(), (count, 1))
    return {"x": np.concatenate([c, u]).T, "h": h[:, None], "half": half.T, "turn": turn}


def check(
    graphs: tuple[Graph, Graph], inputs: dict[str, Array], seed: int, dtype: type[np.floating]
) -> Array:
    """The largest rate of every pair. Fails if a number is not finite or if a normal is too long."""
    given = {name: array.astype(dtype) for name, array in inputs.items()}
    values, rates = graphs
    found = evaluate(values, given)
    rng = np.random.default_rng(seed)
    moved = evaluate(rates, given | {"x_dot": rng.normal(size=given["x"].shape).astype(dtype)})
    for name, array in (found | moved).items():
        assert array.dtype == dtype
        assert np.isfinite(array).all(), name
    assert (np.linalg.norm(found["normal"], axis=-1) <= 1 + 16 * np.finfo(dtype).eps).all()
    largest: Array = np.abs(np.concatenate([moved["normal_dot"], moved["moment_dot"]], axis=-1)).max(axis=-1)
    return largest


TYPES = (np.float64, np.float32)


@pytest.mark.parametrize(("form", "kind", "dtype"), list(product(FORMS, KINDS, TYPES)))
def test_segments(form: Segments, kind: str, dtype: type[np.floating]) -> None:
    check(of_segments(form), both(kind, FEW, 1), 2, dtype)


@pytest.mark.parametrize(
    ("kind", "place", "dtype"), list(product(("box", "sphere", "halfspace"), PLACES, TYPES))
)
def test_obstacles(kind: str, place: str, dtype: type[np.floating]) -> None:
    check(of_obstacle(kind), beside(place, FEW, 1), 2, dtype)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("angle", [0.0, 1e-15, 1e-12, 1e-9, 1e-6])
def test_second_derivatives_stay_small_near_parallel_axes(form: Segments, angle: float) -> None:
    """Where s0 were differentiated, they would grow as the inverse of the squared angle, to 1e14 and more."""
    inputs = both("parallel", FEW, 3)
    rng = np.random.default_rng(4)
    c, u = inputs["x"][:, :3], inputs["x"][:, 3:6]
    across = np.cross(u, rng.normal(size=u.shape))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    along = rng.uniform(-0.5, 0.5, (FEW, 1))
    inputs["x"][:, 6:9] = c + rng.uniform(0.05, 0.3, (FEW, 1)) * across + along * u
    other = inputs["x"][:, 9:] + angle * rng.normal(size=u.shape)
    inputs["x"][:, 9:] = other / np.linalg.norm(other, axis=1, keepdims=True)
    assert check(of_segments(form), inputs, 5, np.float64).max() < BOUND


@pytest.mark.campaign
@pytest.mark.parametrize(("form", "kind", "dtype"), list(product(FORMS, KINDS, TYPES)))
def test_many_segments(form: Segments, kind: str, dtype: type[np.floating]) -> None:
    for seed in range(MANY // CHUNK):
        check(of_segments(form), both(kind, CHUNK, seed), seed, dtype)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("kind", "place", "dtype"), list(product(("box", "sphere", "halfspace"), PLACES, TYPES))
)
def test_many_obstacles(kind: str, place: str, dtype: type[np.floating]) -> None:
    for seed in range(MANY // CHUNK):
        check(of_obstacle(kind), beside(place, CHUNK, seed), seed, dtype)
