"""The formula for closest points that suits a number type, and its errors in float."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.distances import KINDS, reach, segments_of

import rbdgen
from rbdgen.description.capsules import Segments
from rbdgen.functions.distances.segments import Segment, segments
from rbdgen.options import Options
from rbdgen.pipeline.request import Request
from rbdgen.spatial.ops import Vector

COUNT = 20_000

FLOAT = np.float32


def cast(segment: Segment, to: type[np.floating]) -> Segment:
    """The segment in another number type."""
    center, axis = (Vector(*(np.asarray(x, to) for x in v)) for v in (segment.center, segment.axis))
    return Segment(center, axis, segment.half_length.astype(to), to(0))


def worst(kind: str, form: Segments) -> float:
    """The largest error in float, in m, against double with the same numbers."""
    one, other = (cast(x, FLOAT) for x in segments_of(kind, COUNT))
    found = segments(one, other, form, 0.0, np.sqrt).distance
    assert found.dtype == FLOAT
    exact = segments(cast(one, np.float64), cast(other, np.float64), "exact", 0.0, np.sqrt).distance
    return float(np.abs(found - exact).max())


@pytest.mark.parametrize("kind", KINDS)
def test_exact_keeps_the_digits_of_float(kind: str) -> None:
    assert worst(kind, "exact") < 5e-7


def test_plain_loses_them_where_axes_cross_nearly_parallel() -> None:
    assert worst("nearly parallel, crossing", "plain") > 1e-4


def form_of(asked: Segments | None, real: Any) -> str:
    robot = reach()
    wanted = replace(robot.description.distances, segments=asked)
    robot = replace(
        robot,
        description=replace(robot.description, distances=wanted),
        model=replace(robot.model, distances=robot.model.distances.suited(asked, "double")),
    )
    return Request(robot, Options(functions=("distances",), real=real)).model.distances.segments


def test_the_default_is_by_the_number_type() -> None:
    assert [form_of(None, real) for real in ("double", "float")] == ["plain", "exact"]
    for asked in ("plain", "exact"):
        assert [form_of(asked, real) for real in ("double", "float")] == [asked, asked]  # type: ignore[arg-type]


def test_a_library_of_float() -> None:
    robot = reach()
    double, single = (
        rbdgen.build(robot, functions=["distances", "distance_jacobian"], real=real)
        for real in ("double", "float")
    )
    assert [x.manifest["distance_pairs"]["segments"] for x in (double, single)] == ["plain", "exact"]
    rng = np.random.default_rng(0)
    q, ball = rng.uniform(0.3, 0.9, (200, 3)), np.array([[1.2, 0.3, 0.4, 0.1]])
    np.testing.assert_allclose(single.distances(q, ball), double.distances(q, ball), rtol=0, atol=2e-6)
    J = single.distance_jacobian(q, ball)
    assert J.dtype == FLOAT
    np.testing.assert_allclose(J, double.distance_jacobian(q, ball), rtol=0, atol=2e-5)
