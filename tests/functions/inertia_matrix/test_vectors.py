"""The inverse of M with columns as lanes is exact and symmetric, and has the same bits in a batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.limbs import with_limbs
from support.rationals import Rationals
from support.robots import robot
from support.states import random_inputs
from support.trees import some
from support.vectors import loops_listed

from rbdgen.functions.table import lookup
from rbdgen.graph.programs.passes import FOR_BATCHES, apply
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.verify import verify_program
from rbdgen.model.reduce import reduce
from rbdgen.selection.trace import trace_program
from rbdgen.sweeps.inputs import State

FUNCTION = lookup("minv")
FORM = FUNCTION.form("columns")

TREES = some("floating body", "very long chain", "two roots", "floating forks")


@pytest.mark.parametrize("tree", TREES)
def test_exact(tree: str) -> None:
    r = Rationals(len(tree))
    model = r.model(*TREES[tree])
    x = State(q=r.coordinates(model))
    textbook = FUNCTION.trace(FUNCTION.forms[0], model, x)
    assert [list(output) for output in FUNCTION.trace(FORM, model, x)] == list(map(list, textbook))


def test_one_joint_mirrors_nothing() -> None:
    model = reduce(with_limbs([("revolute",)], "fixed").model)
    program = trace_program(model, FUNCTION, FORM, "graph")
    assert all(access.elements for loop in program.loops for access in loop.writes.values())


def test_matrices_that_fit_the_stack() -> None:
    assert [FORM.worth_trying(with_limbs([("revolute",) * n], "fixed").model) for n in (7, 8, 128, 129)] == [
        *(False, True),
        *(True, False),
    ]


def test_lanes_symmetry_and_bits_of_batches(golden: Callable[[str, str], None]) -> None:
    """A batch skips all operations with zeros, and gets the mirrored half of the inverse for free."""
    model = robot("humanoid30", "floating").model
    reduced = reduce(model)
    program = trace_program(reduced, FUNCTION, FORM, "graph")
    verify_program(program)
    golden("loops/minv_humanoid30.txt", loops_listed(program))
    batch = apply(program, FOR_BATCHES)
    verify_program(batch)
    assert batch.straight is not None
    assert batch.cost.total < 0.6 * program.cost.total
    inputs = random_inputs(model, FUNCTION.signature, 2)
    single, together = (run(x, inputs)["Minv"] for x in (program, batch))
    assert np.array_equal(single, together)
    assert np.array_equal(single, single.swapaxes(-1, -2))
