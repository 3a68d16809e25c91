"""The loss of accuracy in single precision: every function in float, compared with the same one in double."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rbdgen.emit.package import FunctionSource
from rbdgen.errors import OptionError
from rbdgen.graph.bounds.enclosure import Enclosure, precision
from rbdgen.graph.bounds.interpreter import Bounder
from rbdgen.graph.programs.unrolled import unrolled
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.own.asked import compositions
from rbdgen.own.text import Own
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.page import build_library
from rbdgen.pipeline.progress import Progress, silent
from rbdgen.pipeline.request import Request
from rbdgen.relative_error import relative_errors
from rbdgen.runtime import Library
from rbdgen.toolchain.targets import target_named
from rbdgen.wording import option

Array = npt.NDArray[Any]

STATES = 10_000


@dataclass(frozen=True)
class Accuracy:
    """Relative errors of a function in float.

    The error at a state is the largest error among the elements of an output, divided by the largest element
    of that output at that state. With several outputs, the worst one counts.
    """

    function: str
    largest: float
    median: float
    bound: float
    """The bound of the error at the state with the largest error; infinite if there is none."""

    def as_json(self) -> dict[str, Any]:
        """The errors, with null for a bound that is infinite."""
        return {**asdict(self), "bound": self.bound if math.isfinite(self.bound) else None}


def float_accuracy(
    robot: Robot,
    options: Options,
    states: int = STATES,
    progress: Progress = silent,
    own: Sequence[Own] = (),
) -> list[Accuracy]:
    """The accuracy of every function of `options` at random states.

    Inputs are rounded to float for both precisions. Angles are in (-pi, pi), velocities and similar inputs
    have unit variance, and the base's quaternion has unit length. Raises what `build_library` raises, and
    OptionError if the code would not run here or takes no angles.
    """
    if options.trig == "input":
        raise OptionError(
            f"{option('trig', 'input')}: float is compared at random angles; take {option('trig', 'builtin')}"
        )
    if target_named(options.target).prefix:
        raise OptionError(
            f"{option('target', options.target)}: float is compared on this machine; "
            f"take {option('target', 'host')}"
        )
    asked = compositions(own, options.functions, robot)
    single, double = (
        build_library(robot, replace(options, real=real), progress, own=asked) for real in ("float", "double")
    )
    request = Request(robot, replace(options, real="float"), own=asked)
    designed = {function.name: function for function in design_functions(request, progress)}
    fused = options.contract
    return [_accuracy(designed[name], single, double, states, fused=fused) for name in single.functions]


def _accuracy(
    function: FunctionSource, single: Library, double: Library, states: int, *, fused: bool
) -> Accuracy:
    name = function.name
    random = np.random.default_rng(0)
    drawn = double.manifold.random_inputs(single.functions[name].signature.inputs, random, (states,))
    inputs = [values.astype(np.float32) for values in drawn.values()]
    results = _as_tuple(single.functions[name](*inputs))
    references = _as_tuple(double.functions[name](*inputs))
    errors = np.max([relative_errors(r, e) for r, e in zip(results, references, strict=True)], axis=0)
    worst = int(np.argmax(errors))
    bound = _bound(function, [x[worst] for x in inputs], [x[worst] for x in references], fused=fused)
    return Accuracy(name, float(errors.max()), float(np.median(errors)), bound)


def _bound(
    function: FunctionSource, inputs: Sequence[Array], references: Sequence[Array], *, fused: bool
) -> float:
    """The bound of the relative error at one state, with these results in double."""
    bounder = Bounder(unrolled(function.program))
    x = np.concatenate([np.ravel(values) for values in inputs]).astype(float)[:, None]
    found = bounder.bound(Enclosure(x, x, np.zeros_like(x)), precision("float", fused=fused))
    errors = bounder.arrays(found.error[:, 0]).values()
    pairs = zip(errors, references, strict=True)
    return max(float(relative_errors((y + error)[None], y[None])[0]) for error, y in pairs)


def _as_tuple(result: Any) -> tuple[npt.NDArray[Any], ...]:
    return result if isinstance(result, tuple) else (result,)
