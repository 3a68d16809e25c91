"""The loss of accuracy in single precision: every function in float, compared with the same one in double."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rbdgen.errors import OptionError
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.own.asked import compositions
from rbdgen.own.text import Own
from rbdgen.pipeline.page import build_library
from rbdgen.pipeline.progress import Progress, silent
from rbdgen.relative_error import relative_errors
from rbdgen.runtime import Library
from rbdgen.toolchain.targets import target_named
from rbdgen.wording import option

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

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


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
    return [_accuracy(name, single, double, states) for name in single.functions]


def _accuracy(name: str, single: Library, double: Library, states: int) -> Accuracy:
    random = np.random.default_rng(0)
    drawn = double.manifold.random_inputs(single.functions[name].signature.inputs, random, (states,))
    inputs = [values.astype(np.float32) for values in drawn.values()]
    results = _as_tuple(single.functions[name](*inputs))
    references = _as_tuple(double.functions[name](*inputs))
    errors = np.max([relative_errors(r, e) for r, e in zip(results, references, strict=True)], axis=0)
    return Accuracy(name, float(errors.max()), float(np.median(errors)))


def _as_tuple(result: Any) -> tuple[npt.NDArray[Any], ...]:
    return result if isinstance(result, tuple) else (result,)
