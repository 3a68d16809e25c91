"""Golden vectors: states with the outputs that the graph's interpreter gives, for the emitted self-test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from rbdgen.emit.bits import hash_of_outputs, plain_inputs
from rbdgen.emit.package import FunctionSource, RobotFacts
from rbdgen.emit.sincos import sincos
from rbdgen.emit.trig import COSINES, SINES, inputs_with_trig
from rbdgen.graph.evaluate import Elementary
from rbdgen.graph.program import run
from rbdgen.machine import Real

STATES = 2
ERROR_STATES = 64

TOLERANCE: Mapping[Real, float] = {"double": 1e-10, "float": 1e-4}
"""Largest accepted error over the largest value of an output. Compilers may fuse or not, libraries' sines
differ in the last bit: far below this; a wrong operation is far above."""

_BUILTIN: Elementary = {"sin": lambda x: sincos(x)[0], "cos": lambda x: sincos(x)[1]}

_MARGIN = 30.0
"""Over the error that the interpreter itself makes in float, which a singular robot makes large."""


@dataclass(frozen=True)
class GoldenCase:
    """One state: input and output arrays, flat, in double."""

    inputs: Mapping[str, Sequence[float]]
    outputs: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Golden:
    """The cases of one function and the relative error that its self-test accepts.

    `bits`: the hash of the outputs at `emit.bits.STATES` other states, as C computes them with built-in or
    input sines and without contraction; None where they are not all finite.
    """

    cases: tuple[GoldenCase, ...]
    tolerance: float
    bits: int | None = None


def golden_vectors(facts: RobotFacts, function: FunctionSource, real: Real, states: int = STATES) -> Golden:
    """Reproducible states, unit quaternions, angles within 3 rad, with the interpreter's outputs.

    In float the inputs are numbers that a float holds, so that both sides compute with the same ones.
    """
    random = Random(f"{function.name} {facts.nq} {facts.nv}")
    cases = tuple(_case(facts, function, real, random) for _ in range(states))
    tolerance = TOLERANCE[real]
    if real == "float":
        tolerance = max(tolerance, _MARGIN * max(_single_error(function, case) for case in cases))
    return Golden(cases, tolerance, _bits(function, real))


def _bits(function: FunctionSource, real: Real) -> int | None:
    inputs = plain_inputs(function.signature.inputs, real)
    outputs = run(function.program, inputs, _BUILTIN)
    return hash_of_outputs([outputs[argument.name] for argument in function.signature.outputs])


def float_error(facts: RobotFacts, function: FunctionSource, states: int = ERROR_STATES) -> float:
    """Largest error of the function computed in float, relative to each output's largest value."""
    random = Random(f"{function.name} in float")
    cases = [_inputs(facts, function, "float", random) for _ in range(states)]
    inputs = {name: np.array([case[name] for case in cases]) for name in cases[0]}
    exact = run(function.program, inputs)
    single = run(function.program, {name: values.astype(np.float32) for name, values in inputs.items()})
    errors = [0.0]
    for name, reference in exact.items():
        axes = tuple(range(1, reference.ndim))
        largest = np.maximum(np.abs(reference).max(axis=axes), np.finfo(float).tiny)
        errors.append(float((np.abs(single[name] - reference).max(axis=axes) / largest).max()))
    return max(errors)


def _inputs(
    facts: RobotFacts, function: FunctionSource, real: Real, random: Random
) -> dict[str, list[float]]:
    values = {"q": _configuration(facts, random)}
    for argument in function.signature.inputs:
        if argument.name not in ("q", SINES, COSINES):
            values[argument.name] = [random.uniform(-1.0, 1.0) for _ in range(argument.size)]
    values = inputs_with_trig(values, {joint.idx_q for joint in facts.joints if joint.angle})
    dtype = np.float32 if real == "float" else np.float64
    return {a.name: [float(dtype(x)) for x in values[a.name]] for a in function.signature.inputs}


def _case(facts: RobotFacts, function: FunctionSource, real: Real, random: Random) -> GoldenCase:
    inputs = _inputs(facts, function, real, random)
    outputs = run(function.program, inputs)
    return GoldenCase(inputs, {name: [float(x) for x in np.ravel(array)] for name, array in outputs.items()})


def _configuration(facts: RobotFacts, random: Random) -> list[float]:
    q = [0.0] * facts.nq
    if facts.floating:
        quaternion = [random.uniform(0.1, 1.0) for _ in range(4)]
        length = math.sqrt(sum(x * x for x in quaternion))
        q[:7] = [*(random.uniform(-1.0, 1.0) for _ in range(3)), *(x / length for x in quaternion)]
    for joint in facts.joints:
        q[joint.idx_q] = random.uniform(-3.0, 3.0) if joint.angle else random.uniform(-0.3, 0.3)
    return q


def _single_error(function: FunctionSource, case: GoldenCase) -> float:
    """Error of the graph evaluated in float, relative to the largest value of each output."""
    single: Mapping[str, npt.NDArray[Any]] = run(
        function.program, {name: np.array(values, np.float32) for name, values in case.inputs.items()}
    )
    errors = [0.0]
    for name, exact in case.outputs.items():
        largest = max(map(abs, exact), default=0.0)
        if largest:
            errors.append(float(np.abs(np.ravel(single[name]) - np.array(exact)).max()) / largest)
    return max(errors)
