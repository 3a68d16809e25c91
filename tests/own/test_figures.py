"""Numbers of operations of functions of a user's own. They are pinned, and are not larger than the sum over
the functions that are called.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.few import few
from support.own import ARM, COUNTED, QUADRUPED, cost, ekf, reach, rk4, running

from rbdgen.functions.composed import composed
from rbdgen.functions.table import lookup
from rbdgen.graph.evaluate import evaluate
from rbdgen.own.text import OwnFunction
from rbdgen.selection.axes import search
from rbdgen.selection.differentiate import Chooser


@pytest.mark.parametrize(
    ("function", "robot", "most"), few(COUNTED[:2], COUNTED), ids=lambda x: getattr(x, "name", "")
)
def test_operations(function: OwnFunction, robot: Any, most: int) -> None:
    assert cost(function, robot) == most


def test_a_composition_takes_no_more_than_its_parts() -> None:
    """The calls of `running` share sines, kinematics and momenta."""
    chooser = Chooser(QUADRUPED.model, search(QUADRUPED.model), "graph")
    names = running.composition(QUADRUPED).callees
    parts = sum(chooser.choose(lookup(name, QUADRUPED.model)).program.cost.total for name in names)
    assert cost(running, QUADRUPED) < parts


def test_runge_and_kutta_have_the_bits_of_the_row() -> None:
    """A user's text that takes the steps of the row `step_rk4` has its values, bit by bit."""
    axes, model = search(ARM.model), ARM.model
    rows = (lookup("step_rk4", model), composed(rk4.composition(ARM), model))
    graphs = [Chooser(model, axes, "graph").choose(row).program.straight for row in rows]
    q, v, tau = np.random.default_rng(0).normal(size=(3, 50, 7))
    inputs = {"q": q, "v": v, "tau": tau, "dt": np.full((50, 1), 0.01)}
    ours, theirs = (evaluate(graph, inputs) for graph in graphs if graph is not None)
    for name, expected in theirs.items():
        assert ours[name].tobytes() == expected.tobytes()


def test_half_of_a_congruence_is_computed() -> None:
    """The filter reads the lower triangle of P and computes half of A P A^T."""
    graph = ekf.composition(ARM).graph
    (P,) = (x for x in graph.inputs if x.name == "P")
    start = sum(x.size for x in graph.inputs[: graph.inputs.index(P)])
    read = {int(node.value) - start for node in graph.nodes if node.op == "input"}
    upper = {14 * i + j for i in range(14) for j in range(i + 1, 14)}
    assert not read & upper


def test_equal_calls_run_once() -> None:
    assert [call.function for call in reach.composition(ARM).calls].count("minv") == 1
