"""Meshes get small: small parts are left out, triangles are removed, and numbers have 16 bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from rbdgen.description.shapes.meshes import Part
from rbdgen.description.shapes.shape import Triangles
from rbdgen.show.triangles import Packed, compact, merged, packed, without_small


def sphere(subdivisions: int, radius: float = 1.0, at: Sequence[float] = (0, 0, 0)) -> Triangles:
    made = trimesh.creation.icosphere(subdivisions, radius)
    return Triangles(np.array(made.vertices) + at, np.array(made.faces))


def together(*surfaces: Triangles) -> Triangles:
    begin = np.cumsum([0, *(len(x.vertices) for x in surfaces)])
    faces = [x.faces + k for x, k in zip(surfaces, begin[:-1], strict=True)]
    return Triangles(np.concatenate([x.vertices for x in surfaces]), np.concatenate(faces))


def unpacked(row: dict[str, Any], blob: bytes) -> Triangles:
    """The triangles of a part, as a page reads them."""
    (at, count), (begin, indices, width) = row["v"], row["f"]
    assert at % 4 == begin % 4 == 0
    steps = np.frombuffer(blob, "<u2", 3 * count, at).reshape(-1, 3)
    faces = np.frombuffer(blob, f"<u{width}", indices, begin).reshape(-1, 3)
    return Triangles(np.array(row["lo"]) + np.array(row["size"]) * (steps / 65535), faces.astype(int))


def pack(*surfaces: Triangles, budget: int = 10**6, smallest: float = 0.0) -> Packed:
    return packed([[Part(None, x)] for x in surfaces], [smallest] * len(surfaces), budget)


def test_equal_vertices_are_merged() -> None:
    """The soup of an STL becomes a closed surface, and triangles without area are left out."""
    ball = sphere(2)
    soup = Triangles(ball.vertices[ball.faces].reshape(-1, 3), np.arange(3 * len(ball.faces)).reshape(-1, 3))
    joined = merged(soup)
    assert (len(joined.vertices), len(joined.faces)) == (len(ball.vertices), len(ball.faces))
    assert trimesh.Trimesh(*joined, process=False).is_watertight
    flat = Triangles(np.zeros((3, 3)), np.array([[0, 1, 2]]))
    assert len(merged(flat).faces) == 0


def test_small_parts_are_left_out() -> None:
    """The size of a part is the diagonal of its box."""
    both = together(sphere(1), sphere(1, 0.01, (5, 0, 0)), sphere(1, 0.02, (0, 5, 0)))
    diagonal = 2 * np.sqrt(3)
    for size, left in ((0.009, 3), (0.015, 2), (0.025, 1), (2.0, 3)):
        assert len(without_small(both, size * diagonal).faces) == left * 80, size


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 30)] * 3), min_size=1, max_size=40))
def test_connected_parts(corners: list[tuple[int, int, int]]) -> None:
    """Against the components that a search finds."""
    faces = np.array(corners)
    vertices = np.random.default_rng(len(corners)).normal(size=(31, 3))
    groups: list[set[int]] = []
    for face in corners:
        own = {*face}.union(*(group for group in groups if group & {*face}))
        groups = [*(group for group in groups if not group & own), own]
    sizes = [float(np.linalg.norm(np.ptp(vertices[[*group]], axis=0))) for group in groups]
    limit = (1 - 1e-9) * float(np.median(sizes))  # a diagonal is rounded in two ways
    kept = {k for group, size in zip(groups, sizes, strict=True) if size >= limit for k in group}
    expected = [list(face) for face in corners if {*face} <= kept]
    assert without_small(Triangles(vertices, faces), limit).faces.tolist() == expected


@pytest.mark.parametrize("budget", [100, 1000, 4000])
def test_the_budget_is_kept_and_shared(budget: int) -> None:
    """Large meshes lose more of their triangles than small ones."""
    result = pack(sphere(5), sphere(3, 0.5), sphere(1, 0.1), budget=budget)
    counts = [part["f"][1] // 3 for (part,) in result.meshes]
    assert result.triangles == (20 * (4**5 + 4**3 + 4), sum(counts))
    assert 0.9 * budget <= sum(counts) <= budget
    fractions = np.array(counts) / [20 * 4**5, 20 * 4**3, 20 * 4]
    assert list(fractions) == sorted(fractions)


def test_what_fits_is_kept_whole() -> None:
    result = pack(sphere(2), sphere(1), budget=400)
    assert result.triangles == (400, 400)


def test_a_simplified_sphere_is_still_round() -> None:
    result = pack(sphere(5), budget=1000)
    vertices, faces = unpacked(result.meshes[0][0], result.blob)
    assert np.abs(np.linalg.norm(vertices, axis=1) - 1).max() < 0.02
    ball = trimesh.Trimesh(vertices, faces, process=False)
    assert ball.volume == pytest.approx(4 / 3 * np.pi, rel=0.02)  # positive: the outside is outside


@settings(max_examples=30, deadline=None)
@given(st.floats(1e-6, 1e6), st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3))
def test_positions_have_16_bits_of_their_box(scale: float, at: list[float]) -> None:
    ball = sphere(2, scale, np.array(at) * scale)
    result = pack(ball)
    vertices, faces = unpacked(result.meshes[0][0], result.blob)
    error = np.abs(
        np.sort(vertices[faces].reshape(-1, 3), axis=0)
        - np.sort(ball.vertices[ball.faces].reshape(-1, 3), axis=0)
    )
    assert error.max() <= 1.01 * 2 * scale / 131_070


def test_a_flat_part_has_a_box_without_height() -> None:
    square = Triangles(np.array([[0, 0, 2], [1, 0, 2], [0, 1, 2.0]]), np.array([[0, 1, 2]]))
    result = pack(square)
    np.testing.assert_array_equal(unpacked(result.meshes[0][0], result.blob).vertices[:, 2], 2)


def test_many_vertices_have_indices_of_32_bits() -> None:
    grid = np.stack(np.meshgrid(np.arange(300.0), np.arange(300.0)), axis=-1).reshape(-1, 2)
    vertices = np.concatenate([grid, np.zeros((len(grid), 1))], axis=1)
    first = (np.arange(299)[:, None] * 300 + np.arange(299)).reshape(-1, 1)
    result = pack(Triangles(vertices, first + [0, 1, 300]))
    ((row,),) = result.meshes
    assert row["f"][2] == 4
    assert row["v"][1] > 65536
    np.testing.assert_allclose(np.ptp(unpacked(row, result.blob).vertices, axis=0), [299, 299, 0], atol=1e-12)


def test_colors_and_places_of_parts() -> None:
    red = (1.0, 0.0, 0.0, 1.0)
    result = packed([[Part(red, sphere(1)), Part(None, sphere(0))], [Part(None, sphere(1))]], [0, 0], 1000)
    assert [[x["color"] for x in mesh] for mesh in result.meshes] == [[[1, 0, 0, 1], None], [None]]
    places = [x for mesh in result.meshes for row in mesh for x in (row["v"][0], row["f"][0])]
    assert places == sorted(places)
    assert len(unpacked(result.meshes[1][0], result.blob).faces) == 80


def test_a_part_without_area_is_left_out() -> None:
    flat = Triangles(np.zeros((3, 3)), np.array([[0, 1, 2]]))
    result = pack(flat, sphere(0))
    assert [len(x) for x in result.meshes] == [0, 1]
    assert pack().blob == b""


def test_the_same_meshes_give_the_same_bytes() -> None:
    first, second = (pack(sphere(5), sphere(4), budget=900) for _ in range(2))
    assert (first.blob, first.meshes) == (second.blob, second.meshes)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 19)] * 3), min_size=1, max_size=60),
    st.integers(0, 2**32 - 1),
    st.integers(1, 30),
)
def test_any_triangles_can_be_packed(corners: list[tuple[int, int, int]], seed: int, budget: int) -> None:
    """Repeated, degenerate and crossing triangles are all kept or left out without an error."""
    vertices = np.round(np.random.default_rng(seed).normal(size=(20, 3)), 1)
    result = pack(Triangles(vertices, np.array(corners)), budget=budget)
    for row in result.meshes[0]:
        found = unpacked(row, result.blob)
        assert np.isfinite(found.vertices).all()
        assert found.faces.max() < len(found.vertices)


def test_vertices_without_triangles_are_left_out() -> None:
    found = compact(Triangles(np.arange(15.0).reshape(5, 3), np.array([[4, 0, 2]])))
    assert found.vertices[:, 0].tolist() == [0, 6, 12]
    assert found.faces.tolist() == [[2, 0, 1]]
