"""Derivatives along directions by interpreting graphs, and references to compare them with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from support.forms import relative_error
from support.states import random_inputs

from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.run import run
from rbdgen.model.model import Model
from rbdgen.selection.differentiate import Chooser
from rbdgen.signature import Signature

Array = NDArray[np.float64]

STATES = 4


class Interpreted:
    """Functions of a model in their textbook forms, without a search of axes; every program is made once."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.chooser = Chooser(model, None, "graph")
        self.programs: dict[tuple[Signature, str | None], Program] = {}

    def __call__(
        self, function: Function, inputs: Mapping[str, Array], form: str | None = None
    ) -> list[Array]:
        key = function.signature, form
        if key not in self.programs:
            self.programs[key] = self.chooser.choose(function, form).program
        found = run(self.programs[key], {x.name: inputs[x.name] for x in function.signature.inputs})
        return [found[x.name] for x in function.signature.outputs]

    def differences(self, of: Function, along: Function, inputs: Mapping[str, Array]) -> list[Array]:
        """Extrapolated central differences of a function along the rates among the inputs of another."""

        def slope(step: float) -> list[Array]:
            ends = [self(of, moved(self.model, inputs, along, way * step)) for way in (1, -1)]
            return [
                (self.model.manifold.difference(b, a) if y.kind == "configuration" else a - b) / (2 * step)
                for y, a, b in zip(of.signature.outputs, *ends, strict=True)
            ]

        return [(4 * fine - coarse) / 3 for fine, coarse in zip(slope(5e-4), slope(1e-3), strict=True)]


def product(xs: list[Array], ys: list[Array]) -> Array:
    pairs = zip(xs, ys, strict=True)
    return sum(np.sum(x.reshape(len(x), -1) * y.reshape(len(y), -1), axis=1) for x, y in pairs)


def all_inputs(model: Model, *functions: Function) -> dict[str, Array]:
    """Random inputs of several functions."""
    return {k: x for row in functions for k, x in random_inputs(model, row.sized(model), STATES).items()}


def moved(model: Model, inputs: Mapping[str, Array], of: Function, step: float) -> dict[str, Array]:
    """The inputs after a step along their rates."""
    result = dict(inputs)
    for x in of.signature.inputs:
        if f"{x.name}_dot" not in inputs:
            continue
        rates, at = step * inputs[f"{x.name}_dot"], inputs[x.name]
        result[x.name] = model.manifold.integrate(at, rates) if x.kind == "configuration" else at + rates
    return result


def check_both_ways(model: Model, name: str) -> None:
    """Compares rates with finite differences, and gradients with rates, in all forms."""
    outputs = Interpreted(model)
    of, vjp, jvp = (lookup(f"{name}{mode}", model) for mode in ("", "_vjp", "_jvp"))
    inputs = all_inputs(model, vjp, jvp)
    moving = {x.name for x in jvp.signature.inputs}
    along = [inputs[f"{x.name}_dot"] for x in of.signature.inputs if f"{x.name}_dot" in moving]
    weights = [inputs[f"{y.name}_bar"] for y in of.signature.outputs]
    expected = outputs.differences(of, of, inputs)
    for forward, reverse in zip(jvp.forms_for(model), vjp.forms_for(model), strict=True):
        rates = outputs(jvp, inputs, forward.name)
        for ours, theirs in zip(rates, expected, strict=True):
            assert relative_error(ours, theirs, floor=1.0) < 1e-7, (name, forward.name)
        bars = outputs(vjp, inputs, reverse.name)
        scale = product([abs(x) for x in bars], [abs(x) for x in along]) + 1
        assert np.all(abs(product(rates, weights) - product(bars, along)) <= 1e-11 * scale), reverse.name
