"""The ways from a robot to numbers: forms on floats, the graph designed for a user, the compiled library."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from attack.judge import Inputs, Judge, Outputs, Verdict, difference
from support.forms import FORMS, Form

import rbdgen
from rbdgen.algorithms.catalogue import CATALOGUE
from rbdgen.algorithms.state import State, coordinates, external_forces
from rbdgen.emit.sincos import sincos
from rbdgen.graph.program import run
from rbdgen.model.build import Robot
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.options import Options
from rbdgen.pipeline import design_function
from rbdgen.selection.frames import search

Result = tuple[str, str, Outputs | Exception]
"""How it was computed, the function, what came out."""

BUILT_IN = {"sin": lambda x: sincos(x)[0], "cos": lambda x: sincos(x)[1]}

STATES = 19
"""Of a batch: whole vectors and a rest."""


def float_results(model: Model, inputs: Inputs, turn: int) -> Iterator[Result]:
    """Every other form of every function on Python's floats; those left out come with the next turn."""
    try:
        reduced = reduce(model)
    except Exception as error:
        yield "reduce", "rnea", error
        return
    for form in FORMS[turn % 2 :: 2]:
        try:
            yield str(form), form.function.name, on_floats(form, model, reduced, inputs)
        except Exception as error:
            yield str(form), form.function.name, error


def on_floats(form: Form, model: Model, reduced: ReducedModel, inputs: Inputs) -> Outputs:
    signature = form.function.signature.sized(model.sizes)
    x = {argument.name: inputs[argument.name].tolist() for argument in signature.inputs}
    state = State(
        q=coordinates(model, x["q"], math.cos, math.sin),
        v=x.get("v", ()),
        a=x.get("a", ()),
        tau=x.get("tau", ()),
        fext=external_forces(x["fext"]) if "fext" in x else None,
    )
    outputs = form.variant.trace(reduced if form.variant.reduced else model, state)
    shapes = [argument.shape for argument in signature.outputs]
    return [np.array(o, dtype=float).reshape(s) for o, s in zip(outputs, shapes, strict=True)]


def designed_results(robot: Robot, inputs: Inputs, rng: np.random.Generator) -> Iterator[Result]:
    """A function as a user gets it, every third time in a form that is forced."""
    name = rng.choice(list(CATALOGUE)).item()
    forms = [form.name for form in CATALOGUE[name].variants]
    forced = rng.choice(forms).item() if rng.random() < 1 / 3 else None
    options = Options(functions=(name,), variants={name: forced} if forced else {})
    label = f"designed {name}" + (f"={forced}" if forced else "")
    try:
        program = design_function((robot, name, search(robot.model), options)).program
        outputs = run(program, inputs, BUILT_IN)
        yield label, name, [outputs[result.name] for result in program.outputs]
    except Exception as error:
        yield label, name, error


@contextmanager
def own_cache() -> Iterator[None]:
    """Nothing is left in the user's cache."""
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
    """Two functions compiled, in double and in float: single calls and batches have the graph's bits."""
    names = rng.choice(list(CATALOGUE), 2, replace=False).tolist()
    inputs = _stacked([judge.state(rng) for _ in range(STATES)])
    for real, dtype in (("double", np.float64), ("float", np.float32)):
        try:
            with own_cache():
                yield from _compiled(robot, names, real, {k: x.astype(dtype) for k, x in inputs.items()})
        except Exception as error:
            yield Verdict(f"compiled {', '.join(names)} in {real}: {error!r}", crashed=True)


def _compiled(robot: Robot, names: list[str], real: Any, inputs: Inputs) -> Iterator[Verdict]:
    lib = rbdgen.build(robot, names, real=real)
    frames = search(robot.model)
    options = Options(functions=tuple(names), real=real)
    for name in names:
        program = design_function((robot, name, frames, options)).program
        signature = CATALOGUE[name].signature.sized(robot.model.sizes)
        arrays = [inputs[x.name].reshape(STATES, *x.shape) for x in signature.inputs]
        expected = list(run(program, inputs, BUILT_IN).values())
        single = [_tuple(lib.functions[name](*(x[k] for x in arrays))) for k in range(STATES)]
        singles = [np.stack(rows) for rows in zip(*single, strict=True)]
        batches = _tuple(lib.functions[name](*arrays))
        for words, ours in (("C", singles), ("batch", batches)):
            if not all(_same(x, y) for x, y in zip(ours, expected, strict=True)):
                off = difference(ours, expected)
                yield Verdict(
                    f"compiled {name}, {real}: {words} is not the interpreter, {off:.1e}", wrong=True
                )


def _same(x: np.ndarray, y: np.ndarray) -> bool:
    """Equal to the bit but for the sign of a zero; no number equals no number."""
    return x.dtype == y.dtype and np.array_equal(x, y, equal_nan=True)


def _tuple(result: Any) -> tuple[np.ndarray, ...]:
    return result if isinstance(result, tuple) else (result,)


def _stacked(states: list[Inputs]) -> Mapping[str, np.ndarray]:
    return {name: np.stack([state[name] for state in states]) for name in states[0]}
