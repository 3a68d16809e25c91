"""Loops of products in a straight line compute the products, whatever the places of zeros."""

from __future__ import annotations

from itertools import product as pairs
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rbdgen.access import Place
from rbdgen.graph.builder import Builder
from rbdgen.graph.programs import products
from rbdgen.graph.programs.product_regions import ROWS, count, regions
from rbdgen.graph.programs.products import Products, Value, regions_if_large
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.verify import verify_program

PATTERNS = ("dense", "diagonal", "lower", "upper", "blocks", "stripes", "sparse", "one row", "one column")


def marks(pattern: str, rows: int, columns: int, rng: np.random.Generator) -> Any:
    i, j = np.indices((rows, columns))
    return {
        "dense": np.ones((rows, columns), bool),
        "diagonal": i == j,
        "lower": i >= j,
        "upper": i <= j,
        "blocks": (2 * i < rows) == (2 * j < columns),
        "stripes": (i + j) % 3 == 0,
        "sparse": rng.random((rows, columns)) < 0.3,
        "one row": i == rows // 2,
        "one column": j == columns // 2,
    }[pattern]


sizes = st.integers(1, 13)
patterns = st.sampled_from(PATTERNS)


@given(sizes, sizes, sizes, st.lists(st.tuples(patterns, patterns), min_size=1, max_size=2), st.booleans())
@settings(max_examples=60, deadline=None)
def test_loops_compute_the_wanted_elements(
    rows: int, inner: int, columns: int, kinds: list[tuple[str, str]], upper: bool
) -> None:
    rng = np.random.default_rng(rows + 20 * inner + 400 * columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "MOST", 0)
        patch.setattr(products, "WASTE", 1000)
        builder, arrays, terms = Builder(), dict[str, Any](), []
        expected: Any = 0
        for k, (of_left, of_right) in enumerate(kinds):
            left, right = marks(of_left, rows, inner, rng), marks(of_right, inner, columns, rng)
            own = []
            for name, places in ((f"a{k}", left), (f"b{k}", right)):
                arrays[name] = rng.normal(size=places.shape)
                symbols = builder.input(name, places.size)
                own.append({at: symbols[n] for n, at in enumerate(np.ndindex(places.shape)) if places[at]})
            terms.append((own[0], own[1]))
            expected = expected + np.where(left, arrays[f"a{k}"], 0) @ np.where(right, arrays[f"b{k}"], 0)
        wanted: list[Place] = [(i, j) for i, j in pairs(range(rows), range(columns)) if not upper or i <= j]
        line = Products(builder, set(arrays))
        found = line.multiply(terms, wanted)
        values: list[Value] = [found.get(at, 0) for at in wanted]
        program = line.program([("values", (len(values),), values)])
    verify_program(program)
    given = {name: np.ravel(x) for name, x in arrays.items() if name in {y.name for y in program.inputs}}
    np.testing.assert_allclose(run(program, given)["values"], [expected[at] for at in wanted], atol=1e-12)


@given(sizes, sizes, sizes, patterns, patterns)
@settings(max_examples=60, deadline=None)
def test_regions_hold_each_element_once(
    rows: int, inner: int, columns: int, of_left: str, of_right: str
) -> None:
    rng = np.random.default_rng(7)
    left, right = marks(of_left, rows, inner, rng), marks(of_right, inner, columns, rng)
    wanted = np.ones((rows, columns), bool)
    held = np.zeros((rows, columns), int)
    for region in regions([left], [right], wanted):
        assert len(region.rows) <= ROWS
        held[np.ix_(region.rows, region.columns)] += 1
    assert (held <= 1).all()
    assert (held[count([left], [right], wanted) > 0] == 1).all()


def of(builder: Builder, name: str, shape: tuple[int, int]) -> dict[Place, Value]:
    return dict(zip(np.ndindex(shape), builder.input(name, shape[0] * shape[1]), strict=True))  # type: ignore[arg-type]


def square(size: int) -> tuple[Builder, Any, Any, list[Place]]:
    builder = Builder()
    places = [(i, j) for i in range(size) for j in range(size)]
    return builder, of(builder, "a", (size, size)), of(builder, "b", (size, size)), places


def elements(found: Any, places: list[Place]) -> list[Value]:
    return [found.get(at, 0) for at in places]


def loops(program: Program) -> list[str]:
    return [loop.name for loop in program.loops]


def test_small_products_are_written_out() -> None:
    builder, a, b, places = square(16)
    line = Products(builder, {"a", "b"})
    program = line.program([("c", (16, 16), elements(line.multiply([(a, b)], places), places))])
    assert program.straight is not None


def test_a_product_of_inputs_that_is_an_output_needs_no_line() -> None:
    builder, a, b, places = square(20)
    line = Products(builder, {"a", "b"})
    program = line.program([("c", (20, 20), elements(line.multiply([(a, b)], places), places))])
    assert loops(program) == ["multiply"] * 5
    assert len({id(loop.kernel) for loop in program.loops}) == 1
    assert not program.scratch


def test_products_without_use_are_left_out() -> None:
    builder, a, b, places = square(20)
    line = Products(builder, {"a", "b"})
    product = line.multiply([(a, b)], places)
    line.multiply([(product, b)], places)
    program = line.program([("c", (20, 20), elements(product, places))])
    assert loops(program) == ["multiply"] * 5
    assert [x.name for x in program.inputs] == ["a", "b"]


def test_a_diagonal_factor_is_written_out() -> None:
    _, a, b, places = square(60)
    diagonal = {at: x for at, x in a.items() if at[0] == at[1]}
    assert not regions_if_large([(diagonal, b)], places)
    assert regions_if_large([(a, b)], places)


def test_no_computation_where_zeros_are_blocks() -> None:
    _, a, b, places = square(40)
    blocks = {at: x for at, x in a.items() if (at[0] < 20) == (at[1] < 20)}
    found = regions_if_large([(blocks, b)], places)
    assert sum(region.work for region in found) == 20 * 40 * 40


def test_names_of_arrays_are_new() -> None:
    builder = Builder()
    a, b = of(builder, "product1", (20, 20)), of(builder, "left1", (20, 20))
    kept = builder.input("kept1", 1)
    places = sorted(a)
    line = Products(builder, {"product1", "left1", "kept1", "y", "z"})
    sums = {at: x + kept[0] for at, x in a.items()}
    product = line.multiply([(sums, b)], places)
    values = elements(product, places)
    program = line.program(
        [("y", (400,), [x + next(iter(sums.values())) for x in values]), ("z", (400,), values)]
    )
    verify_program(program)
    rng = np.random.default_rng(1)
    given = {"product1": rng.normal(size=400), "left1": rng.normal(size=400), "kept1": np.ones(1)}
    expected = (given["product1"] + 1).reshape(20, 20) @ given["left1"].reshape(20, 20)
    np.testing.assert_allclose(run(program, given)["z"].reshape(20, 20), expected, atol=1e-12)
