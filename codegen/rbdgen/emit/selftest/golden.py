"""Golden vectors for the emitted self-test: states with the outputs that the graph's interpreter computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rbdgen.emit.package import FunctionSource, RobotFacts
from rbdgen.emit.selftest.bits import FEWEST, Array, hash_of_outputs, plain_inputs
from rbdgen.emit.selftest.bits import STATES as DRAWN
from rbdgen.emit.sincos import sincos
from rbdgen.errors import EmitError
from rbdgen.graph.evaluate import Elementary
from rbdgen.graph.programs.run import run
from rbdgen.machine import Real
from rbdgen.relative_error import relative_errors

STATES = 2
ERROR_STATES = 64

TOLERANCE: Mapping[Real, float] = {"double": 1e-10, "float": 1e-4}
"""The largest accepted error, relative to the largest value of an output. Fused operations and differences
between libraries in the last bit of sines stay far below it, and a wrong operation is far above.
"""

BUILTIN: Elementary = {"sin": lambda x: sincos(x)[0], "cos": lambda x: sincos(x)[1]}

SMALLEST_SCALE = 1e-3
"""The scale of the error of outputs that are zero except for rounding."""

_MARGIN = 30.0
"""The ratio of the accepted error in float to the interpreter's own error in float, which is large for a
nearly singular robot.
"""


@dataclass(frozen=True)
class GoldenCase:
    """One state: its input and output arrays, flat and in double."""

    inputs: Mapping[str, Sequence[float]]
    outputs: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Golden:
    """The golden states of one function, and the error that its self-test accepts."""

    cases: tuple[GoldenCase, ...]
    tolerance: float
    """The accepted relative error."""
    bits: int
    """The hash of the outputs at other states (see `bits.py`), as C computes them without contraction and
    with sines that are built-in or input.
    """


def golden_vectors(facts: RobotFacts, function: FunctionSource, real: Real, states: int = STATES) -> Golden:
    """Reproducible random states with the interpreter's outputs.

    For float, the inputs are numbers that a float holds, so that both sides compute with the same numbers.
    States whose results are not finite, as outside of the limits of a barrier, are replaced.

    Raises:
        EmitError: too few states have finite results for a hash.
    """
    seed = f"{function.name} {facts.nq} {facts.nv}"
    inputs = _inputs(facts, function, real, states, seed)
    outputs = run(function.program, inputs)
    if not _finite(outputs).all():
        inputs = _inputs(facts, function, real, DRAWN, f"{seed} more")
        finite = _finite(run(function.program, inputs))
        if finite.sum() < states:
            raise EmitError(_too_few(function, int(finite.sum())))
        inputs = {name: values[finite][:states] for name, values in inputs.items()}
        outputs = run(function.program, inputs)
    cases = tuple(_case(inputs, outputs, k) for k in range(states))
    tolerance = TOLERANCE[real]
    if real == "float":
        errors = _single_errors(function, inputs, outputs, SMALLEST_SCALE)
        tolerance = max(tolerance, _MARGIN * max(errors))
    return Golden(cases, tolerance, _bits(facts, function, real))


def _finite(outputs: Mapping[str, Array]) -> Array:
    """Whether all results are finite, for every state."""
    found = [np.isfinite(values).reshape(len(values), -1) for values in outputs.values()]
    return np.asarray(np.concatenate(found, axis=1).all(axis=1))


def _too_few(function: FunctionSource, finite: int) -> str:
    return (
        f"function '{function.name}': its results are finite in only {finite} of {DRAWN} random states, too"
        " few for a self-test; give inputs of your own function a range, or look for extreme masses, inertias"
        " or lengths in the robot's file"
    )


def _bits(facts: RobotFacts, function: FunctionSource, real: Real) -> int:
    inputs = plain_inputs(function.signature.inputs, facts.manifold, real)
    # the program with lanes is run if there is one, because limb by limb zeros may have other signs
    outputs = run(function.lanes or function.program, inputs, BUILTIN)
    bits, compared = hash_of_outputs([outputs[argument.name] for argument in function.signature.outputs])
    if compared < FEWEST:
        raise EmitError(_too_few(function, compared))
    return bits


def float_error(facts: RobotFacts, function: FunctionSource, states: int = ERROR_STATES) -> float:
    """The largest error of the function computed in float, relative to each output's largest value.

    Outputs that are errors themselves have none.
    """
    inputs = _inputs(facts, function, "float", states, f"{function.name} in float")
    computed = run(function.program, inputs)
    exact = {x.name: computed[x.name] for x in function.signature.outputs if x.kind != "error"}
    return max(_single_errors(function, inputs, exact, np.finfo(float).tiny))


def _inputs(
    facts: RobotFacts, function: FunctionSource, real: Real, states: int, seed: str
) -> dict[str, Array]:
    """Random inputs, each of shape (states, size), of numbers that the real type holds."""
    generator = np.random.default_rng(list(seed.encode()))
    drawn = facts.manifold.random_inputs(function.signature.inputs, generator, (states,))
    dtype = np.float32 if real == "float" else np.float64
    return {name: values.reshape(states, -1).astype(dtype).astype(float) for name, values in drawn.items()}


def _case(inputs: Mapping[str, Array], outputs: Mapping[str, Array], k: int) -> GoldenCase:
    """The golden case of state k."""
    rows = [{name: np.ravel(array[k]).tolist() for name, array in side.items()} for side in (inputs, outputs)]
    return GoldenCase(*rows)


def _single_errors(
    function: FunctionSource, inputs: Mapping[str, Array], exact: Mapping[str, Array], floor: float
) -> list[float]:
    """The largest error of each output of the program evaluated in float."""
    single = run(function.program, {name: values.astype(np.float32) for name, values in inputs.items()})
    return [float(relative_errors(single[name], exact[name], floor).max()) for name in exact]
