"""Tiny, huge and long robots: the search chooses no frames in which accuracy is lost."""

from __future__ import annotations

import pytest
from support import synthetic
from support.forms import relative_error
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.states import random_inputs

from rbdgen.algorithms.catalogue import CATALOGUE, Variant
from rbdgen.description.urdf import parse_urdf
from rbdgen.graph.evaluate import evaluate
from rbdgen.model.build import build_robot
from rbdgen.model.reduce import reduce
from rbdgen.selection.frames import search
from rbdgen.tracing import Subject, trace_graph

ROUNDING = 1e-14
"""Below this an error is no loss, whatever the textbook's is."""


@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("length", [1e-6, 1.0, 1e6])
def test_accuracy_within_ten_times_the_textbooks(length: float, mass: float) -> None:
    model = build_robot(parse_urdf(synthetic.urdf(synthetic.binary_tree(4), 1, length, mass))).model
    frames = search(model)
    reduced = reduce(model, frames.turns, frames.slides)
    oracle = PinocchioOracle(model_of_numbers(model), model)
    for name in ("rnea", "crba"):
        function = CATALOGUE[name]
        inputs = random_inputs(model, function.signature, 20)
        (reference,) = oracle(name, inputs)

        def error(subject: Subject, variant: Variant) -> float:
            outputs = evaluate(trace_graph(subject, function, variant, "graph"), inputs)  # noqa: B023
            return relative_error(next(iter(outputs.values())), reference)  # noqa: B023

        textbook, cheap = (next(v for v in function.variants if v.reduced is flag) for flag in (False, True))
        assert error(reduced, cheap) <= 10 * max(error(model, textbook), ROUNDING)


@pytest.mark.parametrize("parents", [synthetic.chain(100), synthetic.binary_tree(200)], ids=["chain", "tree"])
@pytest.mark.parametrize("name", ["rnea", "aba"])
def test_large_robots(name: str, parents: list[int]) -> None:
    """A chain of 100 joints and a tree of 200 bodies, in the form that is chosen for them."""
    model = build_robot(parse_urdf(synthetic.urdf(parents))).model
    function = CATALOGUE[name]
    (variant,) = (variant for variant in function.variants if variant.reduced)
    inputs = random_inputs(model, function.signature, 5)
    (reference,) = PinocchioOracle(model_of_numbers(model), model)(name, inputs)
    outputs = evaluate(trace_graph(reduce(model), function, variant, "graph"), inputs)
    assert relative_error(next(iter(outputs.values())), reference) < 1e-11
