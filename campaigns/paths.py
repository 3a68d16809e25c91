"""Computes results in three ways: by forms on floats, by the designed graph, and by the compiled library."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from support.forms import FunctionForm, forms_of

from campaigns.judge import Inputs, Judge, Outputs, difference
from campaigns.reference import FUNCTIONS
from campaigns.verdicts import Verdict
from rbdgen.emit.sincos import sincos
from rbdgen.functions.table import TABLE
from rbdgen.graph.programs.run import run
from rbdgen.model.build import Robot
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.options import Options
from rbdgen.pipeline.design import design_function
from rbdgen.pipeline.page import build_library
from rbdgen.pipeline.request import Request
from rbdgen.selection.axes import search
from rbdgen.sweeps.inputs import State, coordinates, external_forces

Result = tuple[str, FunctionForm, Outputs | Exception]
"""The way of computation in words, the form, and the outputs or the error."""

FORMS = forms_of(*FUNCTIONS)

BUILT_IN = {"sin": lambda x: sincos(x)[0], "cos": lambda x: sincos(x)[1]}

STATES = 19
"""The number of states of a batch, which fills some vectors and a part of another one."""


def float_results(model: Model, inputs: Inputs, turn: int) -> Iterator[Result]:
    """Yields the results of every second form on Python's floats; the next turn has the others."""
    try:
        reduced = reduce(model)
    except Exception as error:
        yield "reduce", FORMS[0], error
        return
    for form in FORMS[turn % 2 :: 2]:
        try:
            yield str(form), form, on_floats(form, model, reduced, inputs)
        except Exception as error:
            yield str(form), form, error


def on_floats(form: FunctionForm, model: Model, reduced: ReducedModel, inputs: Inputs) -> Outputs:
    signature = form.function.signature.sized(model.sizes)
    x = {argument.name: inputs[argument.name].tolist() for argument in signature.inputs}
    state = State(
        q=coordinates(model, x["q"], math.cos, math.sin),
        v=x.get("v", ()),
        a=x.get("a", ()),
        tau=x.get("tau", ()),
        fext=external_forces(x["fext"]) if "fext" in x else None,
    )
    outputs = form.form.trace(reduced if form.form.reduced else model, state)
    shapes = [argument.shape for argument in signature.outputs]
    return [np.array(o, dtype=float).reshape(s) for o, s in zip(outputs, shapes, strict=True)]


def designed_results(robot: Robot, inputs: Inputs, rng: np.random.Generator) -> Iterator[Result]:
    """Yields the result of a function as a user gets it, in one of three cases in a form that is forced."""
    name = rng.choice(FUNCTIONS).item()
    forms = forms_of(name)
    forced = forms[rng.integers(len(forms))] if rng.random() < 1 / 3 else None
    options = Options(functions=(name,), variants={name: forced.form.name} if forced else {})
    try:
        design = design_function((Request(robot, options), search(robot.model), None, {}))
        outputs = run(design.program, inputs, BUILT_IN)
    except Exception as error:
        yield f"designed {forced or name}", forced or forms[0], error
    else:
        chosen = FunctionForm(TABLE[name], TABLE[name].form(design.form))
        yield f"designed {chosen}", chosen, [outputs[result.name] for result in design.program.outputs]


@contextmanager
def own_cache() -> Iterator[None]:
    """Uses a temporary cache, so that nothing is left in the user's cache."""
    before = os.environ.get("RBDGEN_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RBDGEN_CACHE"] = folder
        try:
            yield
        finally:
            os.environ.pop("RBDGEN_CACHE")
            if before is not None:
                os.environ["RBDGEN_CACHE"] = before


def compiled_results(robot: Robot, judge: Judge, rng: np.random.Generator) -> Iterator[Verdict]:
    """Yields verdicts on a compiled function, in double or in float, if its results differ from the graph's.

    Single calls and batches must have the bits of the graph's interpreter, except for the sign of a zero.
    """
    name, real = rng.choice(FUNCTIONS).item(), rng.choice(["double", "float"]).item()
    states = [judge.state(rng) for _ in range(STATES)]
    dtype = np.float64 if real == "double" else np.float32
    inputs = {key: np.stack([state[key] for state in states]).astype(dtype) for key in states[0]}
    try:
        with own_cache():
            yield from _compiled(robot, Options(functions=(name,), real=real), inputs)
    except Exception as error:
        yield Verdict(f"compiled {name} in {real}: {error!r}", crashed=True)


def _compiled(robot: Robot, options: Options, inputs: Inputs) -> Iterator[Verdict]:
    [function] = build_library(robot, options).functions.values()
    [name] = options.functions
    signature = TABLE[name].signature.sized(robot.model.sizes)
    arrays = [inputs[x.name].reshape(STATES, *x.shape) for x in signature.inputs]
    program = design_function((Request(robot, options), search(robot.model), None, {})).program
    expected = list(run(program, inputs, BUILT_IN).values())
    rows = [_tuple(function(*(x[k] for x in arrays))) for k in range(STATES)]
    singles = [np.stack(column) for column in zip(*rows, strict=True)]
    for words, ours in (("C", singles), ("batch", _tuple(function(*arrays)))):
        if not all(_same(x, y) for x, y in zip(ours, expected, strict=True)):
            off = difference(ours, expected)
            yield Verdict(f"compiled {name}, {options.real}: {words} is not the graph, {off:.1e}", wrong=True)


def _same(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether the bits are equal, except for the signs of zeros; all NaNs count as equal."""
    return x.dtype == y.dtype and np.array_equal(x, y, equal_nan=True)


def _tuple(result: Any) -> tuple[np.ndarray, ...]:
    return result if isinstance(result, tuple) else (result,)
