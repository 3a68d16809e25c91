"""Loops over columns are joined: one line of all loops computes each column once, without its zeros."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rbdgen.access import Access, column, whole
from rbdgen.graph.builder import Builder
from rbdgen.graph.node import Graph, Input
from rbdgen.graph.programs.passes import FOR_BATCHES, apply
from rbdgen.graph.programs.program import Loop, Program, Result
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.verify import verify_program


def product(rows: int) -> Graph:
    """The graph of the product of a row `A` and a column."""
    builder = Builder()
    A, b = builder.input("A", rows), builder.input("b", rows)
    total = A[0] * b[0]
    for left, right in zip(A[1:], b[1:], strict=True):
        total = total + left * right
    return builder.graph([("x", (1,), [total])])


def scaled() -> Graph:
    builder = Builder()
    (s,), (x,) = builder.input("s", 1), builder.input("x", 1)
    return builder.graph([("y", (2,), [s * x, s + x])])


def doubled() -> Graph:
    builder = Builder()
    (s,) = builder.input("s", 1)
    return builder.graph([("A", (3,), [s + s, s * s, s * 3.0])])


COLUMNS = (0, 1, 2, 2, 3, 4)
"""The columns of two vectors of three lanes, which share a column."""


def program() -> Program:
    """A program over five columns of three numbers, one of which has a zero, after a loop for vectors."""
    B = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 7.0, 8.0, 9.0, 1.5, 2.5, 3.5, 4.5, 5.5)
    once = (0, 1, 2, 4, 5)
    slots = tuple(range(6))
    return Program(
        (Input("s", 1),),
        (Result("Y", (2, 5)),),
        (
            Loop("before", doubled(), {"s": whole("s", 1)}, {"A": whole("A", 3)}),
            Loop(
                "solve",
                product(3),
                {"A": whole("A", 3), "b": column("B", 3, 5, COLUMNS)},
                {"x": Access("solved", (0,), slots)},
                6,
                distinct_runs=once,
            ),
            Loop(
                "scale",
                scaled(),
                {"s": whole("s", 1), "x": Access("solved", (0,), slots)},
                {"y": Access("Y", (0, 5), COLUMNS)},
                6,
                distinct_runs=once,
            ),
        ),
        {"A": 3, "solved": 6},
        {"B": B},
        lanes_of_one_state=True,
    )


def test_columns_are_lines_of_all_loops() -> None:
    """A column takes seven operations, or five if it has a zero; equal lines are shared."""
    batch = apply(program(), FOR_BATCHES)
    verify_program(batch)
    assert [(loop.name, loop.count) for loop in batch.loops] == [
        ("begin", 1),
        ("column", 1),
        ("column", 1),
        ("column", 3),
    ]
    assert batch.cost.total == 3 + 5 * 7 - 2
    assert batch.loops[1].kernel is batch.loops[3].kernel
    s = {"s": np.array([0.7])}
    assert np.array_equal(run(batch, s)["Y"], run(program(), s)["Y"])


def followed(*loops: Loop) -> Program:
    """The program with another result `z`, from loops after those over columns."""
    first = program()
    return replace(first, loops=(*first.loops, *loops), outputs=(*first.outputs, Result("z", (1,))))


def total(array: str) -> Loop:
    reads = {"A": Access(array, (0, 1)), "b": whole("Y", 2)}
    return Loop("total", product(2), reads, {"x": whole("z", 1)})


REWRITTEN = Loop(
    "rewritten",
    product(3),
    {"A": Access("B", (0, 1, 2)), "b": column("B", 3, 5, (0, 1, 2))},
    {"x": Access("A", (0,), (0, 1, 2))},
    3,
    distinct_runs=(0, 1, 2),
)
"""A loop over columns that overwrites an array which all earlier columns read."""


@pytest.mark.parametrize("loops", [(total("solved"),), (REWRITTEN, total("A"))], ids=["read", "rewritten"])
def test_what_is_read_later_is_written_and_no_earlier(loops: Sequence[Loop]) -> None:
    longer = followed(*loops)
    batch = apply(longer, FOR_BATCHES)
    verify_program(batch)
    s = {"s": np.array([0.7])}
    results = run(batch, s)
    for output, values in run(longer, s).items():
        assert np.array_equal(values, results[output])


def test_an_array_of_zeros_is_neither_made_nor_read() -> None:
    """A result that is copied from zeros is 0 in the batch, where nothing is left of the array of zeros."""
    builder = Builder()
    (x,) = builder.input("x", 1)
    zeros = Loop(
        "zeros",
        product(3),
        {"A": Access("C", (0, 1, 2)), "b": column("B", 3, 5, (0, 1))},
        {"x": Access("nothing", (0,), (0, 1))},
        2,
        distinct_runs=(0, 1),
    )
    copy = Loop(
        "copy",
        builder.graph([("y", (1,), [x])]),
        {"x": Access("nothing", (0,), (0, 1))},
        {"y": Access("z", (0,), (0, 1))},
        2,
    )
    longer = followed(zeros, copy)
    longer = replace(
        longer,
        outputs=(longer.outputs[0], Result("z", (2,))),
        scratch={**longer.scratch, "nothing": 2},
        tables={**longer.tables, "C": (0.0,) * 3},
    )
    verify_program(longer)
    batch = apply(longer, FOR_BATCHES)
    verify_program(batch)
    assert "nothing" not in batch.scratch
    assert not any(access.array == "nothing" for loop in batch.loops for access in loop.reads.values())
    s = {"s": np.array([0.7])}
    assert run(batch, s)["z"].tolist() == [0.0, 0.0]
    assert np.array_equal(run(batch, s)["Y"], run(longer, s)["Y"])
