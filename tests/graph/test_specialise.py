"""Loops are divided by the zeros of their runs, and only elements of scratch that are read are written."""

from __future__ import annotations

import numpy as np

from rbdgen.access import Access, column, whole
from rbdgen.graph.builder import Builder
from rbdgen.graph.node import Graph, Input
from rbdgen.graph.programs.program import Loop, Program, Result
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.specialised import specialised
from rbdgen.graph.programs.verify import verify_program


def powers() -> Graph:
    """The graph of four numbers, each of which takes an operation."""
    builder = Builder()
    (s,) = builder.input("s", 1)
    return builder.graph([("r", (4,), [s + 1.0, s * s, s * 3.0, s - 0.5])])


def weighted() -> Graph:
    """The weighted sum of a column of two numbers."""
    builder = Builder()
    b, r = builder.input("b", 2), builder.input("r", 2)
    return builder.graph([("x", (1,), [b[0] * r[0] + b[1] * r[1]])])


def next_of() -> Graph:
    builder = Builder()
    (before,) = builder.input("before", 1)
    return builder.graph([("after", (1,), [before * 2.0])])


def program() -> Program:
    """A program whose weights are elements 1 and 2 of a scratch array, and whose columns have zeros."""
    shared = Access("scratch_array", (1, 2))
    return Program(
        (Input("s", 1), Input("M", 6)),
        (Result("X", (3,)), Result("last", (1,))),
        (
            Loop("powers", powers(), {"s": whole("s", 1)}, {"r": whole("scratch_array", 4)}),
            Loop(
                "weighted",
                weighted(),
                {"b": column("M", 2, 3, range(3)), "r": shared},
                {"x": Access("X", (0,), (0, 1, 2))},
                3,
                {"b": ((0, 1), (0, 1), (1,))},
            ),
            Loop("first", next_of(), {"before": whole("s", 1)}, {"after": Access("chain", (0,))}),
            Loop(
                "next",
                next_of(),
                {"before": Access("chain", (0,), (0, 1, 2))},
                {"after": Access("chain", (1,), (0, 1, 2))},
                3,
            ),
            Loop("last", next_of(), {"before": Access("chain", (3,))}, {"after": whole("last", 1)}),
        ),
        {"scratch_array": 4, "chain": 4},
    )


def test_results_are_equal() -> None:
    inputs = {"s": np.array([0.3]), "M": np.array([0.0, 0.0, 1.7, 0.0, 0.0, 0.0])}
    lean = specialised(program())
    verify_program(lean)
    expected, results = run(program(), inputs), run(lean, inputs)
    assert all(np.array_equal(results[name], expected[name]) for name in ("X", "last"))
    assert expected["X"][2] == 0.3 * 0.3 * 1.7


def test_only_what_is_read_is_written() -> None:
    lean = specialised(program())
    assert [(loop.name, loop.count) for loop in lean.loops if loop.name == "weighted"] == [
        ("weighted", 2),
        ("weighted", 1),
    ]
    first = lean.loops[0]
    assert first.writes == {"r": Access("scratch_array", (1,))}, (
        "the last two weights are multiplied by zeros alone"
    )
    assert [node.op for node in first.kernel.nodes] == ["input", "sq"]


def test_what_the_next_run_reads_is_written() -> None:
    chains = [loop for loop in specialised(program()).loops if loop.name in ("first", "next", "last")]
    assert chains == list(program().loops[2:])
