"""Derivatives of inverse dynamics with degrees of freedom as lanes are exact, with equal bits in a batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.rationals import Rationals
from support.robots import robot
from support.states import random_inputs
from support.trees import some
from support.vectors import loops_listed

from rbdgen.functions.table import lookup
from rbdgen.graph.programs.passes import FOR_BATCHES, apply
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.verify import verify_program
from rbdgen.machine import lanes
from rbdgen.model.reduce import reduce
from rbdgen.selection.trace import trace_program
from rbdgen.sweeps.inputs import State

FUNCTION = lookup("rnea_derivatives")
FORM = FUNCTION.form("freedoms")

TREES = some("floating body", "fork", "two roots", "floating forks")


@pytest.mark.parametrize("tree", TREES)
def test_exact(tree: str) -> None:
    r = Rationals(len(tree))
    model = r.model(*TREES[tree])
    x = State(q=r.coordinates(model), v=r.numbers(model.nv), a=r.numbers(model.nv))
    textbook = FUNCTION.trace(FUNCTION.forms[0], model, x)
    assert [list(output) for output in FUNCTION.trace(FORM, model, x)] == list(map(list, textbook))


@pytest.mark.parametrize(
    ("name", "vectors"),
    [("quadruped12", [2, 2]), ("humanoid30", [29, 34])],
)
def test_lanes_and_bits_of_batches(name: str, vectors: list[int], golden: Callable[[str, str], None]) -> None:
    """The entries of pairs of joints are computed in `vectors` of lanes; batches give the same bits.

    In a quadruped's legs, the joints of such pairs are 1 and 2 apart; long limbs have rows of entries.
    """
    model = robot(name, "floating").model
    program = trace_program(reduce(model), FUNCTION, FORM, "graph")
    wide = lanes("double")
    golden(f"loops/rnea_derivatives_{name}.txt", loops_listed(program))
    entries = [loop for loop in program.loops if loop.name in ("entries", "entries_below")]
    assert [loop.vectors(wide) for loop in entries] == vectors
    batch = apply(program, FOR_BATCHES)
    verify_program(batch)
    assert batch.straight is not None
    assert batch.cost.total < 0.85 * program.cost.total, "nothing is done with zeros"
    inputs = random_inputs(model, FUNCTION.signature, 2)
    results = run(batch, inputs)
    for output, values in run(program, inputs).items():
        assert np.array_equal(values, results[output])
