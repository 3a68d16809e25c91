"""Estimates of operations from the tree are near the counts; too large functions are refused untraced."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import synthetic
from support.few import few
from support.functions import SECOND
from support.robots import BASES, BUNDLED, robot

from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import OptionError
from rbdgen.functions.table import TABLE, lookup
from rbdgen.graph.engine import GraphEngine
from rbdgen.model.build import Base, Robot, build_robot
from rbdgen.model.model import Model
from rbdgen.model.tree_size import tree_size
from rbdgen.options import Options
from rbdgen.pipeline import design as pipeline
from rbdgen.pipeline.design import count, design_functions
from rbdgen.pipeline.page import design
from rbdgen.pipeline.request import Request
from rbdgen.selection.budget import check_budget
from rbdgen.selection.trace import trace_on

DEFAULT = Options().functions


def synthetic_robot(parents: list[int], base: Base = "fixed") -> Robot:
    return build_robot(parse_urdf(synthetic.urdf(parents)), base=base)


def counted(model: Model, name: str) -> int:
    tracer = GraphEngine()
    return tracer.cost(trace_on(tracer, model, lookup(name), lookup(name).forms[0])).total


@pytest.mark.parametrize(
    ("parents", "base"),
    few(
        [(synthetic.binary_tree(8), "floating")],
        [(synthetic.chain(8), "fixed"), (synthetic.binary_tree(8), "floating")],
    ),
    ids=["chain", "tree"],
)
def test_estimates_on_general_robots(parents: list[int], base: Base) -> None:
    """The floating root has no mass here, so a second limb is added that gives it inertia."""
    model = synthetic_robot([*parents, -1] if base == "floating" else parents, base).model
    for name in (*TABLE, *SECOND):
        assert 0.85 < lookup(name).estimate(model) / counted(model, name) < 1.2, name


@pytest.mark.parametrize("parents", [synthetic.chain(25), synthetic.binary_tree(40)], ids=["chain", "tree"])
@pytest.mark.parametrize("name", ["crba", "minv", "rnea_derivatives", "aba_derivatives"])
def test_estimates_of_what_grows_fastest(name: str, parents: list[int]) -> None:
    """Estimates improve with the size of the robot, and are within a twentieth of the counts here."""
    model = synthetic_robot(parents).model
    assert 0.95 < lookup(name).estimate(model) / counted(model, name) < 1.05


@pytest.mark.parametrize("name", BUNDLED)
def test_estimates_are_above_real_robots(name: str) -> None:
    """Estimates are hardly below the counts of real robots, whose zeros only save operations."""
    for base in BASES:
        model = robot(name, base).model
        for function in ("rnea", "aba", "crba", "minv", "rnea_derivatives"):
            assert lookup(function).estimate(model) > 0.9 * counted(model, function)


def test_tree_size_by_hand() -> None:
    """The sizes of a root with two children: the depths are 1, 2, 2, and the subtrees have 3, 1, 1 bodies."""
    size = tree_size(synthetic_robot([-1, 0, 0]).model)
    assert (size.bodies, size.ancestors, size.connected) == (3, 5, 9)
    assert (size.factor, size.inverse) == (1 + 4 + 4, 9 + 1 + 1)
    assert size.products == 3 * (3 + 2 + 2)
    assert (size.triples, size.solves) == (1 + 4 + 4, (2 + 2) * 9)


def worked(*_: object) -> None:
    raise AssertionError("work was begun")


@pytest.mark.parametrize(
    "ask",
    [lambda r, options: design(Request(r, options)), lambda r, options: count(r, options.functions)],
    ids=["design", "count"],
)
def test_too_large_is_refused_before_any_work(ask: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of 300 joints is refused, as the derivatives alone would take 170 million operations."""
    large = synthetic_robot(synthetic.chain(300))
    monkeypatch.setattr(pipeline, "search", worked)
    monkeypatch.setattr(pipeline, "in_parallel", worked)
    with pytest.raises(OptionError, match=r"about [\d,]+ operations, the budget is 2,000,000; leave it out"):
        ask(large, Options())  # type: ignore[operator]


@pytest.mark.parametrize("name", ["crba", "minv", "rnea_derivatives", "aba_derivatives"])
def test_each_function_is_refused_with_its_own_estimate(name: str) -> None:
    large = synthetic_robot(synthetic.chain(300))
    estimate = f"{lookup(name).estimate(large.model):,}"
    with pytest.raises(
        OptionError, match=f"{name} of 'synthetic' .* {estimate} operations.*; leave it out, .*raise budget"
    ):
        design(Request(large, Options(functions=("rnea", name))))


def test_what_is_within_the_budget() -> None:
    """A chain of 100 and a tree of 200 joints have all functions except derivatives of forward dynamics."""
    chain, tree = (synthetic_robot(p).model for p in (synthetic.chain(100), synthetic.binary_tree(200)))
    within = [name for name in TABLE if name not in ("aba_derivatives", "aba_fext_derivatives")]
    check_budget(tree, map(lookup, within), 2_000_000)
    check_budget(chain, map(lookup, within), 2_000_000)
    with pytest.raises(OptionError, match="aba_derivatives of 'synthetic'"):
        check_budget(chain, map(lookup, DEFAULT), 2_000_000)
    check_budget(chain, map(lookup, DEFAULT), 20_000_000)


def test_second_derivatives_are_refused_alike() -> None:
    """Second derivatives of a chain of 40 joints are refused."""
    large = synthetic_robot(synthetic.chain(40))
    with pytest.raises(OptionError, match=r"aba_second of .*; it has no form in loops, so leave it out"):
        design(Request(large, Options(functions=("aba_second",))))


def test_loops_are_not_unrolled() -> None:
    """The looped form of a chain of 60 joints has no more code than that of a shorter chain."""
    options = Options(functions=("aba",), variants={"aba": "looped"}, budget=1000, savings=False)
    (function,) = design_functions(Request(synthetic_robot(synthetic.chain(60)), options))
    with pytest.raises(OptionError, match=r"by variants=\{'aba': 'looped'\}"):
        design_functions(Request(synthetic_robot(synthetic.chain(60)), replace(options, variants={})))
    assert function.program.length < 1000 < function.program.cost.total


def test_a_function_without_a_form_in_loops_is_not_said_to_have_one() -> None:
    chain = synthetic_robot(synthetic.chain(60)).model
    with pytest.raises(OptionError, match="it has no form in loops, so leave it out, fix") as caught:
        check_budget(chain, [lookup("com")], 1000)
    assert "variants" not in str(caught.value)


def test_a_budget_must_allow_something() -> None:
    with pytest.raises(OptionError, match="positive number"):
        Options(budget=0)
