"""Programs of loops over straight lines give the bits of the unrolled operations; faults are named."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rbdgen.access import Access, column, whole
from rbdgen.errors import GraphError
from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import cost
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph, Input
from rbdgen.graph.programs.program import Loop, Program, Result, Square, straight_line
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.unrolled import unrolled
from rbdgen.graph.programs.verify import verify_program
from rbdgen.graph.verify import verify


def scaled_sum() -> Graph:
    """The graph of y = factor * x0 + x1 and z = x0 - factor."""
    builder = Builder()
    x, factor = builder.input("x", 2), builder.input("factor", 1)
    results = [factor[0] * x[0] + x[1], x[0] - factor[0]]
    return builder.graph([("y", (2,), results)])


def doubled() -> Graph:
    builder = Builder()
    (a,) = builder.input("a", 1)
    return builder.graph([("b", (1,), [a + a])])


def zero_of_nothing() -> Graph:
    """A graph like `doubled`, whose input has no elements."""
    builder = Builder()
    builder.input("a", 0)
    return builder.graph([("b", (1,), [builder.constant(0.0)])])


def columns() -> Program:
    """A program that uses twice its input as the factor for columns of a 2 x 3 matrix and of a table."""
    solve = scaled_sum()
    shared = whole("twice", 1)
    return Program(
        (Input("s", 1), Input("M", 6)),
        (Result("Y", (2, 3)), Result("T", (2,))),
        (
            Loop("twice", doubled(), {"a": whole("s", 1)}, {"b": shared}),
            Loop(
                "columns",
                solve,
                {"x": column("M", 2, 3, range(3)), "factor": shared},
                {"y": column("Y", 2, 3, range(3))},
                3,
            ),
            Loop("table", solve, {"x": whole("numbers", 2), "factor": shared}, {"y": whole("T", 2)}),
        ),
        {"twice": 1},
        {"numbers": (0.5, -3.0)},
    )


def recursion() -> Program:
    """A program of x[k + 1] = 2 x[k], in which every run reads the value of the run before."""
    steps = 5
    return Program(
        (Input("x", 1),),
        (Result("powers", (steps + 1,)),),
        (
            Loop("start", doubled(), {"a": whole("x", 1)}, {"b": Access("powers", (0,))}),
            Loop(
                "double",
                doubled(),
                {"a": Access("powers", (0,), tuple(range(steps)))},
                {"b": Access("powers", (1,), tuple(range(steps)))},
                steps,
            ),
        ),
    )


numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(st.lists(numbers, min_size=7, max_size=7))
def test_loops_give_the_bits_of_the_unrolled_operations(values: list[float]) -> None:
    program = columns()
    inputs = {"s": np.array(values[:1]), "M": np.array(values[1:])}
    looped, flat = run(program, inputs), evaluate(unrolled(program), inputs)
    assert all(np.array_equal(looped[name], flat[name]) for name in ("Y", "T"))


def test_runs_in_order() -> None:
    program = recursion()
    verify_program(program)
    assert not program.loops[1].vectorisable
    assert run(program, {"x": [1.5]})["powers"].tolist() == [1.5 * 2**k for k in range(1, 7)]
    assert evaluate(unrolled(program), {"x": [1.5]})["powers"].tolist() == [1.5 * 2**k for k in range(1, 7)]


def test_leading_axes_and_types() -> None:
    program = columns()
    s, M = np.array([[1.0], [2.0]]), np.arange(6.0)
    both = run(program, {"s": s, "M": M})
    assert (both["Y"].shape, both["T"].shape) == ((2, 2, 3), (2, 2))
    for k in range(2):
        assert np.array_equal(both["Y"][k], run(program, {"s": s[k], "M": M})["Y"])
    single = run(program, {"s": np.float32([1]), "M": M.astype(np.float32)})
    assert single["Y"].dtype == np.float32
    exact = run(program, {"s": [Fraction(1, 3)], "M": [Fraction(k, 7) for k in range(6)]})
    assert exact["T"].tolist() == [Fraction(2, 3) * Fraction(1, 2) - 3, Fraction(1, 2) - Fraction(2, 3)]


def mixed() -> Program:
    """A program of z = 3 x^2 s / 10, in which one loop only reads x, and another reads nothing."""
    builder = Builder()
    constant = builder.graph([("c", (1,), [builder.constant(0.1)])])
    x, y = builder.input("x", 1), builder.input("y", 1)
    total = builder.graph([("z", (1,), [x[0] * y[0]])])
    return Program(
        (Input("x", 1), Input("s", 1)),
        (Result("z", (1,)),),
        (
            Loop("twice", scaled(), {"a": whole("x", 1)}, {"b": whole("t", 1)}),
            Loop("constant", constant, {}, {"c": whole("c", 1)}),
            Loop("product", total, {"x": whole("t", 1), "y": whole("s", 1)}, {"z": whole("u", 1)}),
            Loop("all", total, {"x": whole("u", 1), "y": whole("c", 1)}, {"z": whole("z", 1)}),
        ),
        {"t": 1, "c": 1, "u": 1},
    )


def scaled() -> Graph:
    builder = Builder()
    (a,) = builder.input("a", 1)
    return builder.graph([("b", (1,), [a * a * 3])])


def test_every_loop_is_computed_in_the_common_type() -> None:
    """The type is not that of the arrays which the loop reads."""
    program = mixed()
    verify_program(program)
    x, s = np.float32(0.1), 0.7
    assert run(program, {"x": [x], "s": [s]})["z"].item() == float(x) * float(x) * 3 * s * 0.1
    exact = run(program, {"x": [2], "s": [Fraction(1, 3)]})["z"].item()
    assert exact == 4 * Fraction(0.1)
    assert type(exact) is Fraction


def test_counts() -> None:
    program = columns()
    own, moves = cost(scaled_sum()).total, 5
    assert program.cost.total == 1 + 4 * own
    assert program.length == 1 + own, "what loops share is written once"
    assert program.work(1) == 1 + 3 * (own + moves) + own, "runs that repeat read and write memory"
    assert program.work(3) == 1 + (own + moves // 2) + own, "three columns fill one vector"
    assert program.work(8) == program.work(1), "they do not fill one of eight: C runs them one by one"
    assert [program.loops[-2].vectorised(lanes) for lanes in (2, 3, 4)] == [True, True, False]


def test_one_straight_line() -> None:
    graph = scaled_sum()
    program = straight_line(graph)
    verify_program(program)
    assert program.straight is graph
    assert unrolled(program) is graph
    assert columns().straight is None
    moved = replace(program.loops[0], reads={**program.loops[0].reads, "x": Access("x", (1, 0))})
    assert replace(program, loops=(moved,)).straight is None
    verify(unrolled(columns()))


def _changed(number: int, **changes: Any) -> Program:
    program = columns()
    loops = list(program.loops)
    loops[number] = replace(loops[number], **changes)
    return replace(program, loops=tuple(loops))


def _recursion_reading(*offsets: int) -> Program:
    """The recursion whose run k reads power `offsets[k]` and writes power k + 1."""
    start, double = recursion().loops
    return replace(recursion(), loops=(start, replace(double, reads={"a": Access("powers", (0,), offsets)})))


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (
            replace(columns(), loops=columns().loops[1:]),
            "loop 'columns', run 0: reads unwritten elements as 'factor'",
        ),
        (replace(columns(), loops=columns().loops[:2]), "output 'T': 2 elements stay unwritten"),
        (
            _changed(1, writes={"y": column("Y", 2, 3, range(1, 4))}),
            "loop 'columns', run 2: writes outside 'Y'",
        ),
        (_changed(1, writes={"y": column("M", 2, 3, range(3))}), "loop 'columns', run 0: writes outside 'M'"),
        (_changed(1, writes={"y": column("Y", 2, 3, range(2))}), "'y' has 2 offsets for 3 runs"),
        (_changed(0, reads={}), "loop 'twice': its reads do not match the arrays of its kernel"),
        (
            _changed(1, writes={"y": column("Y", 2, 3, range(-1, 2))}),
            "loop 'columns', run 0: writes outside 'Y'",
        ),
        (
            replace(recursion(), loops=recursion().loops[1:]),
            "loop 'double', run 0: reads unwritten elements as 'a'",
        ),
        (_recursion_reading(1, 2, 3, 4, 5), "loop 'double', run 0: reads unwritten elements as 'a'"),
        (_recursion_reading(0, 0, 0, 4, 0), "loop 'double', run 3: reads unwritten elements as 'a'"),
        (_recursion_reading(0, 1, -1, 2, 3), "loop 'double', run 2: reads unwritten elements as 'a'"),
        (
            _changed(1, writes={"y": Access("Y", (0, 0), (0, 1, 2))}),
            r"loop 'columns', run 0: writes two values to 'Y\[0\]'",
        ),
        (
            _changed(1, writes={"y": Access("Y", (0, 1), (0, 1, 2))}),
            r"loop 'columns', run 1: writes two values to 'Y\[1\]'",
        ),
        (
            _changed(0, kernel=zero_of_nothing(), reads={"a": Access("gone", ())}),
            "loop 'twice': the program has no array 'gone'",
        ),
        (replace(columns(), scratch={"twice": 1, "s": 1}), "two arrays of a program have the same name"),
    ],
)
def test_faults(program: Program, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        verify_program(program)


def test_a_missing_input() -> None:
    with pytest.raises(GraphError, match="input 'M' is missing"):
        run(columns(), {"s": [1.0]})


def test_an_output_of_one_number() -> None:
    """An output without axes has those of the states alone."""
    builder = Builder()
    x = builder.input("x", 2)
    graph = builder.graph([("energy", (), [x[0] * x[1]])])
    program = straight_line(graph)
    verify_program(program)
    states = np.arange(24.0).reshape(3, 4, 2)
    np.testing.assert_array_equal(run(program, {"x": states})["energy"], states[..., 0] * states[..., 1])
    assert run(program, {"x": states[0, 0]})["energy"].shape == ()


def copied(count: int) -> Graph:
    builder = Builder()
    return builder.graph([("below", (count,), builder.input("above", count))])


def test_squares_that_mirror() -> None:
    """A loop that copies rows to columns elsewhere mirrors a square.

    It does not if it would read what it has written, if elements keep their order, or if it computes.
    """
    above, below = (0, 1, 5, 6), (0, 5, 1, 6)

    def square(graph: Graph, written: tuple[int, ...], first: int) -> Square | None:
        reads, writes = {"above": Access("M", above, (2,))}, {"below": Access("M", written, (first,))}
        return Loop("mirror", graph, reads, writes).square

    assert square(copied(4), below, 10) == Square(2, 5)
    assert square(copied(4), below, 3) is None
    assert square(copied(4), above, 10) is None
    builder = Builder()
    opposite = builder.graph([("below", (4,), [-x for x in builder.input("above", 4)])])
    assert square(opposite, below, 10) is None
