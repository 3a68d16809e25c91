"""Derivatives along directions with alike limbs as lanes equal those of the textbook's straight line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.limbs import CASES, with_limbs
from support.robots import robot
from support.states import random_inputs

import rbdgen
from rbdgen.errors import OptionError
from rbdgen.functions.differentiated import MODES
from rbdgen.functions.form import LIMBS
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.graph.builder import Builder
from rbdgen.graph.derivatives.forward import jvp, pushforward
from rbdgen.graph.derivatives.reverse import pullback, vjp
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.lanes import known, limb_by_limb
from rbdgen.graph.programs.program import straight_line
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.verify import verify_program
from rbdgen.model.alike_limbs import limbs_in_lanes
from rbdgen.model.build import Base
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.selection.axes import search
from rbdgen.selection.differentiate import Chooser
from rbdgen.selection.limb_derivatives import derivative_in_limbs
from rbdgen.selection.tangents import moving
from rbdgen.selection.trace import trace_graph

DERIVATIVES = [
    *(f"{name}_{mode}" for name in ("rnea_fext", "aba_fext", "nle_free_base") for mode in ("vjp", "jvp")),
    *(f"{name}_{mode}" for name in ("gravity", "joint_momentum") for mode in MODES),
    "rnea_hvp",
]


def textbook(function: Function, model: Model) -> Graph:
    """The derivative of the textbook's form, by the graph of the whole robot."""
    made = function.differentiated
    assert made is not None
    held = made.of.held_by(model)
    graph = trace_graph(held, made.of, made.of.forms[0], "graph")
    names = {x.name for x in made.by}
    sized = made.of.sized(model).inputs
    by = [moving(model, x, coordinates=False) for x in sized if x.name in names]
    found = (vjp if MODES[made.mode].seeded else jvp)(graph, by)
    return jvp(found, by) if made.mode == "hvp" else found


@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.parametrize(("limbs", "base", "lanes"), CASES, ids=["four legs", "pairs", "no trunk"])
def test_values(limbs: Sequence[Sequence[str]], base: Base, lanes: int, name: str) -> None:
    model = with_limbs(limbs, base).model
    if "free_base" in name and base == "fixed":
        pytest.skip("the function needs a floating base")
    function = lookup(name, model)
    assert function.differentiated is not None
    assert function.in_limbs is not None
    found = next(x for x in limbs_in_lanes(model) if x.lanes == lanes)
    traced = known(derivative_in_limbs(reduce(model), found, function, function.differentiated))
    inputs = random_inputs(model, function.sized(model), 5, 3)
    wanted, together, apart = (
        run(x, inputs) for x in (straight_line(textbook(function, model)), traced, limb_by_limb(traced))
    )
    verify_program(traced)
    for output, values in wanted.items():
        np.testing.assert_allclose(together[output], values, rtol=0, atol=1e-11 * abs(values).max())
        np.testing.assert_array_equal(together[output], apart[output])


def test_contacts_that_some_limbs_hold() -> None:
    """The derivative of a function of a set of contacts reads the contacts of this set alone."""
    legs = {"lf": "front_left_shank", "rf": "front_right_shank", "lh": "hind_left_shank"}
    feet = [rbdgen.Point(name, link, (0, 0, -0.2)) for name, link in legs.items()]
    robot = rbdgen.load_robot(
        "quadruped12", base="floating", contacts=feet, contact_sets={"two": ["rf", "lh"]}
    )
    model, function = robot.model, lookup("contact_motion_two_vjp", robot.model)
    assert function.differentiated is not None
    inputs = random_inputs(model, function.sized(model), 5, 3)
    wanted = run(straight_line(textbook(function, model)), inputs)
    for limbs in limbs_in_lanes(model):
        traced = known(derivative_in_limbs(reduce(model), limbs, function, function.differentiated))
        found = run(traced, inputs)
        for output, values in wanted.items():
            np.testing.assert_allclose(found[output], values, rtol=0, atol=1e-12 * abs(values).max())


def test_operations_between_lanes() -> None:
    """Both modes agree with differences for values that are read in other lanes, and for sums over lanes."""
    rng = np.random.default_rng(0)
    builder = Builder()
    x, s = builder.input("x", 2, 4), builder.input("s", 1)
    one = x[1].applied("lane", x[1], 2) * s[0]
    beside = x[0].applied("beside", s[0] * s[0], one, s[0], 2) * x[0]
    total = (x[0] * s[0] + s[0] * s[0]).join()
    values = [x[0].turn() * x[1] * s[0] + s[0], beside, (x[0] - s[0]).turn().turn(), total]
    weights = [*builder.input("w", 3, 4), *builder.input("u", 1)]
    rates = [*builder.input("x_dot", 2, 4), *builder.input("s_dot", 1)]
    forward, back = pushforward(values, [*x, *s], rates), pullback(values, weights, [*x, *s])
    groups = [("y", values), ("y_dot", forward), ("x_bar", back)]
    graph = builder.graph([(name, (len(them),), them) for name, them in groups])
    shapes = {"x": (4, 2), "s": (1, 1), "w": (4, 3), "u": (1, 1), "x_dot": (4, 2), "s_dot": (1, 1)}
    given = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    h = 1e-6
    after, before, now = (evaluate(graph, moved(given, step)) for step in (h, -h, 0.0))
    np.testing.assert_allclose(now["y_dot"], (after["y"] - before["y"]) / (2 * h), rtol=0, atol=1e-8)
    # the last value and the last input are numbers, which are the same in all lanes
    along = np.sum(given["w"] * now["y_dot"][:, :3]) + given["u"][0, 0] * now["y_dot"][0, 3]
    across = np.sum(given["x_dot"] * now["x_bar"][:, :2]) + given["s_dot"][0, 0] * now["x_bar"][0, 2]
    np.testing.assert_allclose(along, across, rtol=1e-13)


def moved(given: dict[str, Any], step: float) -> dict[str, Any]:
    """The inputs after a step along their rates."""
    return {**given, **{name: given[name] + step * given[f"{name}_dot"] for name in ("x", "s")}}


@pytest.fixture(scope="module")
def quadruped() -> tuple[Model, Chooser]:
    model = robot("quadruped12", "floating").model
    return model, Chooser(model, search(model), "graph", lanes=8)


def test_a_quadruped_runs_them_by_limb(quadruped: tuple[Model, Chooser]) -> None:
    model, chooser = quadruped
    choice = chooser.choose(lookup("rnea_vjp", model))
    assert choice.form == LIMBS
    assert choice.lanes is not None
    straight = replace(chooser, limbs=False).choose(lookup("rnea_vjp", model))
    assert straight.form == "own_axes"
    assert choice.program.cost.total < 1.1 * straight.program.cost.total


def test_it_can_be_asked_for_and_refused(quadruped: tuple[Model, Chooser]) -> None:
    model, chooser = quadruped
    assert chooser.choose(lookup("gravity_vjp", model), LIMBS).form == LIMBS
    assert lookup("crba_vjp", model).in_limbs is None
    with pytest.raises(OptionError, match="no form 'limbs'"):
        chooser.choose(lookup("crba_vjp", model), LIMBS)
    chain = robot("arm7", "fixed").model
    with pytest.raises(OptionError, match="no alike limbs"):
        lookup("rnea_vjp", chain).form_for(chain, LIMBS)
