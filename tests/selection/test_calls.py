"""Steps are lines around the chosen programs of forward dynamics, and batches have programs of their own."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.few import few
from support.limbs import with_limbs
from support.robots import robot
from support.states import random_inputs

import rbdgen
from rbdgen.emit.package import FunctionSource
from rbdgen.errors import OptionError
from rbdgen.functions.table import lookup
from rbdgen.graph.programs.program import straight_line
from rbdgen.graph.programs.run import run
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request
from rbdgen.selection.trace import trace_graph

SUBJECTS = {
    "quadruped": lambda: robot("quadruped12", "floating"),
    "trunk on four rods": lambda: with_limbs([("revolute",)] * 4),
}

CASES = [
    *(("quadruped", name) for name in ("step", "step_rk4", "step_derivatives")),
    ("trunk on four rods", "step_derivatives"),
]


@cache
def subject(name: str) -> Robot:
    return SUBJECTS[name]()


@cache
def designed(name: str, *, same_bits: bool = False, of: str = "quadruped") -> FunctionSource:
    asked = Options(functions=(name,), same_bits=same_bits, engine="graph")
    return design_functions(Request(subject(of), asked))[0]


@pytest.mark.parametrize(
    ("name", "operations", "batch"),
    few(
        [("aba", 2430, 2340), ("step", 2636, 2542)],
        [("aba", 2430, 2340), ("step", 2636, 2542), ("step_rk4", 10825, 10272)],
    ),
)
def test_operations(name: str, operations: int, batch: int) -> None:
    """The counts are those of a single call, with its limbs one by one, and of a state in a batch."""
    found = designed(name)
    assert found.batch is not None
    assert (found.program.cost.total, found.batch.cost.total) == (operations, batch)
    assert not found.same_bits


@pytest.mark.parametrize(("of", "name"), few([CASES[0], CASES[-1]], CASES))
def test_values(of: str, name: str) -> None:
    """All programs give the values of the textbook's form."""
    model, found = subject(of).model, designed(name, of=of)
    assert (found.form, found.same_bits) == ("calls", False)
    row = lookup(name)
    inputs = random_inputs(model, row.signature, 3)
    wanted = run(straight_line(trace_graph(model, row, row.forms[0], "graph")), inputs)
    assert found.batch is not None
    for program in (found.program, found.printed, found.batch):
        given = run(program, inputs)
        for output, values in wanted.items():
            np.testing.assert_allclose(given[output], values, rtol=0, atol=1e-13 * abs(values).max())


def test_the_bits_are_those_of_the_called_function() -> None:
    """v_next of `step` is v + dt a in every bit, with the a of `aba`."""
    model = robot("quadruped12", "floating").model
    inputs = random_inputs(model, lookup("step").signature, 5)
    a = run(designed("aba").printed, {name: inputs[name] for name in ("q", "v", "tau")})["a"]
    moved = run(designed("step").printed, inputs)["v_next"]
    np.testing.assert_array_equal(moved, inputs["v"] + inputs["dt"].reshape(-1, 1) * a)


def test_several_lines_with_lanes_compile() -> None:
    """The fourth-order step calls a line with limbs as lanes four times."""
    limbed = with_limbs([("revolute", "revolute")] * 4)
    asked = Options(functions=("step_rk4",), variants={"step_rk4": "calls"}, engine="graph")
    (found,) = design_functions(Request(limbed, asked))
    assert found.lanes is not None
    assert sum(loop.kernel.lanes > 1 for loop in found.lanes.loops) > 1
    library = rbdgen.build(limbed, ["step_rk4"], variants={"step_rk4": "calls"}, engine="graph")
    inputs = random_inputs(limbed.model, lookup("step_rk4").signature, 3)
    wanted = run(found.printed, inputs)
    for k in range(3):
        given = library.step_rk4(**{name: values[k] for name, values in inputs.items()})
        for output, values in zip(given._fields, given, strict=True):
            np.testing.assert_allclose(np.ravel(values), wanted[output][k], rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["aba", "step"])
def test_the_bits_of_single_calls_on_request(name: str) -> None:
    found = designed(name, same_bits=True)
    assert found.same_bits
    assert found.batch is not None
    inputs = random_inputs(robot("quadruped12", "floating").model, lookup(name).signature, 5)
    single, batch = (run(program, inputs) for program in (found.printed, found.batch))
    for output, values in single.items():
        np.testing.assert_array_equal(values, batch[output])


def test_straight_lines_are_not_called() -> None:
    """Where forward dynamics is a straight line, the whole step is one, too, and shares operations."""
    asked = Options(functions=("step_rk4",), engine="graph")
    (found,) = design_functions(Request(robot("planar3r"), asked))
    assert found.form != "calls"
    forced = Options(functions=("step_rk4",), engine="graph", variants={"step_rk4": "calls"})
    (called,) = design_functions(Request(robot("planar3r"), forced))
    assert called.form == "calls"
    assert called.cost.total > found.cost.total
    inputs = random_inputs(robot("planar3r").model, lookup("step_rk4").signature, 5)
    for output, values in run(found.program, inputs).items():
        np.testing.assert_allclose(run(called.program, inputs)[output], values, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"variants": {"step": "calls"}, "params": ("mass:*",)}, "gives all functions straight lines"),
        ({"same_bits": True, "target": "portable"}, "target='portable' has no batches"),
        ({"same_bits": "yes"}, "same_bits='yes': give True or False"),
    ],
)
def test_refused(options: dict[str, object], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        Request(robot("planar3r"), Options(functions=("step",), **options))  # type: ignore[arg-type]
