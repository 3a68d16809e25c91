"""A small line with lanes becomes loops over limbs: their operations, stored values, and results."""

from __future__ import annotations

import numpy as np

from rbdgen.access import Access, whole
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.programs.limb_loops import loops_over_limbs
from rbdgen.graph.programs.program import Loop, Program, Result
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.verify import verify_program

LIMBS = 3

LINE = Graph(
    (Input("x", 1, LIMBS), Input("y", 1)),
    (
        Node("input", value=0.0),  # x, one number per limb
        Node("input", value=1.0),  # y
        Node("sq", (0,)),
        Node("join", (2,)),
        Node("add", (1, 3)),  # in the trunk, for all limbs
        Node("sqrt", (2,)),  # |x|, which only the second loop reads
        Node("mul", (4, 5)),
        Node("turn", (6,)),
        Node("turn", (7,)),  # of the limb after the next one
        Node("sub", (8, 6)),
        Node("turn", (0,)),  # an input of another limb needs no loop
        Node("mul", (9, 10)),
    ),
    (
        Output("z", (1,), (11,)),
        Output("all", (1,), (4,)),
        Output("each", (1,), (4,)),
        Output("one", (1,), (3,)),
    ),
)


def lanes(name: str) -> Access:
    return Access(name, (0,), tuple(range(LIMBS)))


PROGRAM = Program(
    (Input("x", LIMBS), Input("y", 1)),
    (Result("z", (LIMBS,)), Result("all", (1,)), Result("each", (LIMBS,)), Result("one", (1,))),
    (
        Loop(
            "line",
            LINE,
            {"x": lanes("x"), "y": whole("y", 1)},
            {"z": lanes("z"), "all": whole("all", 1), "each": lanes("each"), "one": whole("one", 1)},
        ),
    ),
)


def test_values() -> None:
    loops = loops_over_limbs(PROGRAM)
    verify_program(loops)
    random = np.random.default_rng(1)
    inputs = {"x": random.normal(size=(5, LIMBS)), "y": random.normal(size=(5, 1))}
    given, wanted = run(loops, inputs), run(PROGRAM, inputs)
    for name, values in wanted.items():
        np.testing.assert_allclose(given[name], values, rtol=1e-14)


def test_lines() -> None:
    """A sum and a value of another limb end a loop; values are computed in the loop that needs them."""
    loops = loops_over_limbs(PROGRAM)
    assert [(loop.name, loop.count) for loop in loops.loops] == [
        ("trunk1", 1),
        ("limbs1", LIMBS),
        ("trunk2", 1),
        ("limbs2", LIMBS),
        ("limbs3", LIMBS),
    ]
    ops = [{node.op for node in loop.kernel.nodes if node.args} for loop in loops.loops]
    assert ops == [set(), {"sq", "add"}, {"add"}, {"sqrt", "mul"}, {"sub", "mul"}]
    assert loops.scratch == {
        "sums1": 1,
        "waiting_of_limbs1": LIMBS,  # x x
        "waiting_of_trunk2": 1,
        "waiting_of_limbs2": LIMBS,
    }
    last = loops.loops[-1].reads
    assert last["waiting_of_limbs2_next2"].offsets == (2, 0, 1)
    assert last["x_next1"].offsets == (1, 2, 0)
