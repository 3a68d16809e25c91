"""All forms of all functions, traced or run directly; new forms need no change here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from support.robots import robot

from rbdgen.functions.form import Form, Outputs
from rbdgen.functions.function import Function
from rbdgen.functions.table import TABLE
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph
from rbdgen.model.build import DEFAULT_SNAP, Base
from rbdgen.model.model import Model
from rbdgen.relative_error import relative_errors
from rbdgen.selection.trace import trace_graph
from rbdgen.sweeps.inputs import State, state_of
from rbdgen.sweeps.loops import Arrays, FormLoop, LoopedForm

Array = NDArray[np.float64]


class FunctionForm(NamedTuple):
    """One way to compute one function."""

    function: Function
    form: Form

    def __str__(self) -> str:
        return f"{self.function.name}-{self.form.name}"

    def trace(self, model: Model, state: State) -> Outputs:
        """Runs the algorithm on any scalars, and returns the elements of every output, row by row."""
        return self.function.trace(self.form, model, state)


FORMS = tuple(FunctionForm(row, form) for row in TABLE.values() for form in row.forms)

every_form = pytest.mark.parametrize("form", FORMS, ids=str)


def forms_of(*functions: str) -> list[FunctionForm]:
    return [form for form in FORMS if form.function.name in functions]


def parametrize(*functions: str) -> pytest.MarkDecorator:
    """Parametrizes a test with every form of these functions."""
    return pytest.mark.parametrize("form", forms_of(*functions), ids=str)


@lru_cache(maxsize=64)
def graph_of(
    form: FunctionForm, name: str, base: Base = "fixed", snap: float = DEFAULT_SNAP, engine: str = "casadi"
) -> Graph:
    """The form's graph for a robot, as traced."""
    return trace_graph(robot(name, base, snap).model, form.function, form.form, engine)


def interpreted(form: FunctionForm, graph: Graph, inputs: Mapping[str, Array]) -> list[Array]:
    """The outputs, in the order of the signature, over the inputs' leading axes."""
    outputs = evaluate(graph, inputs)
    return [outputs[argument.name] for argument in form.function.signature.outputs]


def watched(looped: LoopedForm, seen: set[str]) -> LoopedForm:
    """The form with checks in its loops: an element that is declared to be 0 must be 0.

    The names of loops that declare such elements are collected in `seen`.
    """

    def watch(loop: FormLoop) -> FormLoop:
        runs = iter(range(loop.count))

        def trace(x: State) -> Arrays:
            k = next(runs)
            for name, zeros in loop.zeros.items():
                assert not any(np.any(x.arrays[name][element]) for element in zeros[k]), (loop.name, name, k)
                seen.update(loop.name for _ in zeros[k])
            return loop.trace(x)

        return replace(loop, trace=trace)

    return replace(looped, loops=tuple(map(watch, looped.loops)))


def run_on_floats(form: FunctionForm, model: Model, inputs: Mapping[str, Array]) -> list[Array]:
    """Runs the algorithm on NumPy columns, with one row per state, without a graph.

    Inputs that the function does not take are left out.
    """
    signature = form.function.sized(model)
    state = state_of(model, [(x, list(inputs[x.name].T)) for x in signature.inputs], np.cos, np.sin)
    count = len(inputs[signature.inputs[0].name])
    results = []
    for argument, elements in zip(signature.outputs, form.trace(model, state), strict=True):
        rows = [np.broadcast_to(np.asarray(element, dtype=float), (count,)) for element in elements]
        results.append(np.stack(rows, axis=1).reshape(count, *argument.shape))
    return results


def relative_error(ours: Array, reference: Array, floor: float = 0.0) -> float:
    """The largest of `relative_errors` of an output.

    `floor` is the smallest divisor, for outputs that may vanish; the divisor of zeros is 1.
    """
    assert np.isfinite(ours).all()
    vanishing = ~np.any(reference, axis=tuple(range(1, reference.ndim)))
    return float(relative_errors(ours, reference, np.where(vanishing, 1.0, floor)).max())


def over_bodies(form: Form) -> bool:
    """Whether the form loops over bodies, which is not possible for every tree."""
    return form.for_size or form.name == "freedoms"
