"""The search for body axes keeps the accuracy of forms for tiny and for huge robots."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
from support import synthetic
from support.few import few
from support.forms import relative_error
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.robots import BASES
from support.states import random_inputs

from rbdgen.description.urdf import parse_urdf
from rbdgen.functions.function import Function
from rbdgen.functions.table import TABLE
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.programs.run import run
from rbdgen.model.build import Base, build_robot
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.selection.axes import BodyAxes, search
from rbdgen.selection.trace import Subject, trace_graph, trace_program

ROUNDING = 1e-14
"""The error that the textbook form is assumed to have at least, so that rounding does not count as a loss."""

CHEAP = [name for name, row in TABLE.items() if any(form.reduced for form in row.forms)]
"""The functions that have a form in chosen axes."""

PARENTS = (-1, -1, -1, 0)
"""Three limbs, one of which has two links. A floating root has no mass; the limbs resist all its motions."""

SCALES = list(product((1e-6, 1.0, 1e6), (1e-6, 1.0, 1e6), BASES))
EXTREME = [(1e-6, 1e6, "fixed"), (1e6, 1e-6, "floating"), (1e-6, 1e-6, "floating"), (1e6, 1e6, "fixed")]


@cache
def scaled(length: float, mass: float, base: Base) -> Model:
    return build_robot(parse_urdf(synthetic.urdf(PARENTS, 1, length, mass)), base).model


@cache
def searched(model: Model) -> BodyAxes:
    return search(model)


def losses(model: Model, axes: BodyAxes, function: Function) -> dict[str, float]:
    """The error of every cheap form in these axes against Pinocchio, divided by the error of the textbook
    form."""
    inputs = random_inputs(model, function.signature, 20)
    references = PinocchioOracle(model_of_numbers(model), model)(function.name, inputs)
    reduced = reduce(model, axes.turns, axes.slides)
    errors: dict[str, float] = {}
    for form in function.forms:
        if form.loops is not None:
            outputs = run(trace_program(reduced, function, form, "graph"), inputs)
        else:
            subject: Subject = reduced if form.reduced else model
            outputs = evaluate(trace_graph(subject, function, form, "graph"), inputs)
        ours = (outputs[argument.name] for argument in function.signature.outputs)
        errors[form.name] = max(map(relative_error, ours, references))
    assert not function.forms[0].reduced
    textbook = max(errors[function.forms[0].name], ROUNDING)
    return {form.name: errors[form.name] / textbook for form in function.forms if form.reduced}


@pytest.mark.parametrize(("length", "mass", "base"), few(EXTREME, SCALES))
@pytest.mark.parametrize("name", CHEAP)
def test_accuracy_within_ten_times_the_textbooks(name: str, length: float, mass: float, base: Base) -> None:
    model = scaled(length, mass, base)
    for form, loss in losses(model, searched(model), TABLE[name]).items():
        assert loss <= 10, form


@pytest.mark.parametrize("name", CHEAP)
def test_ill_conditioned_frames_would_be_seen(name: str) -> None:
    """Every function loses digits if the origins are moved along their axes by a hundred thousand lengths."""
    model = scaled(1.0, 1.0, "fixed")
    slid = BodyAxes((0.0,) * model.nbodies, (1e5,) * model.nbodies)
    assert min(losses(model, slid, TABLE[name]).values()) > 10
