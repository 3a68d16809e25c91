"""Derivatives of forward dynamics with columns of chains as lanes are exact, with equal bits in a batch."""

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
from rbdgen.machine import lanes
from rbdgen.model.reduce import reduce
from rbdgen.options import Options
from rbdgen.pipeline import design
from rbdgen.pipeline.design import batch_program
from rbdgen.pipeline.request import Request
from rbdgen.selection import vectors
from rbdgen.selection.limits import Limits
from rbdgen.selection.trace import trace_program
from rbdgen.sweeps.inputs import State

FUNCTION = lookup("aba_derivatives")
FORM = FUNCTION.form("freedoms")

TREES = some("floating body", "fork", "long chain", "two roots", "floating forks")


@pytest.mark.parametrize("tree", TREES)
def test_exact(tree: str) -> None:
    r = Rationals(len(tree))
    model = r.model(*TREES[tree])
    x = State(q=r.coordinates(model), v=r.numbers(model.nv), tau=r.numbers(model.nv))
    textbook = FUNCTION.trace(FUNCTION.forms[0], model, x)
    assert [list(output) for output in FUNCTION.trace(FORM, model, x)] == list(map(list, textbook))


@pytest.mark.parametrize("name", ["rnea_derivatives", "aba_derivatives"])
def test_only_a_base_is_a_program(name: str) -> None:
    function = lookup(name)
    model = Rationals(0).model(*TREES["floating body"])
    program = trace_program(reduce(model), function, function.form("freedoms"), "graph")
    verify_program(program)
    assert all(
        np.isfinite(x).all() for x in run(program, random_inputs(model, function.signature, 2)).values()
    )


@pytest.mark.parametrize("packed", [False, True], ids=["dense", "packed"])
@pytest.mark.parametrize("joints", [["revolute"] * 3, ["prismatic"] * 3, ["prismatic"]], ids="-".join)
def test_joints_on_the_world_alone(joints: list[str], packed: bool) -> None:
    """With single joints on the world, neither the program nor its batch reads an unwritten array.

    The derivatives by positions and velocities of prismatic joints are 0.
    """
    limbs = with_limbs([(joint,) for joint in joints], "fixed")
    options = Options(
        functions=("aba_derivatives",),
        variants={"aba_derivatives": "freedoms"},
        packed=packed,
        engine="graph",
    )
    source = design.design_function((Request(limbs, options), None, None, {}))
    assert source.batch is not None
    inputs = random_inputs(limbs.model, FUNCTION.signature, 2)
    results = run(source.batch, inputs)
    for output, values in run(source.program, inputs).items():
        np.testing.assert_array_equal(values, results[output])


@pytest.mark.parametrize("name", ["quadruped12", "humanoid30"])
def test_lanes_and_bits_of_batches(name: str, golden: Callable[[str, str], None]) -> None:
    """A batch executes at most a tenth more operations than that of the form *columns*. Its code is hardly
    longer, as it loops over rows of columns; one straight line would be twice as long."""
    model = robot(name, "floating").model
    reduced = reduce(model)
    program, columns = (
        trace_program(reduced, FUNCTION, FUNCTION.form(form), "graph") for form in ("freedoms", "columns")
    )
    golden(f"loops/aba_derivatives_{name}.txt", loops_listed(program))
    batch = apply(program, FOR_BATCHES)
    verify_program(batch)
    solved = apply(columns, FOR_BATCHES)
    assert batch.cost.total < 1.1 * solved.cost.total
    assert batch.length < 1.15 * solved.length
    inputs = random_inputs(model, FUNCTION.signature, 2)
    results = run(batch, inputs)
    for output, values in run(program, inputs).items():
        assert np.array_equal(values, results[output])


def test_long_ones_are_left_to_other_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch would run a long program as one straight line, which takes compilers long. A forced form has no
    batch then, nor has one whose loops are short and whose straight line is not."""
    inverse = lookup("rnea_derivatives")
    model = reduce(robot("quadruped12", "floating").model)
    program = trace_program(model, inverse, inverse.form("freedoms"), "graph")
    assert vectors.fills_vectors(program, lanes("double"))
    batch = batch_program(program)
    assert batch is not None
    monkeypatch.setattr(design, "LONGEST_BATCH", batch.length - 1)
    assert program.length < batch.length
    assert batch_program(program) is None
    monkeypatch.undo()
    monkeypatch.setattr(vectors, "LIMITS", Limits(longest_for_vectors=program.cost.total - 1))
    assert not vectors.fills_vectors(program, lanes("double"))
    assert batch_program(program) is None
