"""Bounds of one function: of every element of its outputs, over ranges of all inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rbdgen.bounds.ranges import Ranges
from rbdgen.emit.package import FunctionSource
from rbdgen.graph.bounds.enclosure import Enclosure, precision
from rbdgen.graph.bounds.interpreter import Bounder, flat_box
from rbdgen.graph.bounds.tighten import tightened
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.unrolled import unrolled
from rbdgen.machine import REALS

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class OutputBounds:
    """Bounds of one output, as arrays in its shape and unit. Infinity says that there is no bound.

    Attributes:
        lowest, highest: between them is the exact value: that of real arithmetic on the numbers of the robot
            in double and on inputs within their ranges.
        error: by type of numbers, "float" or "double", the largest distance of the computed value from the
            exact one. Inputs are numbers of that type.
    """

    unit: str
    lowest: Array
    highest: Array
    error: Mapping[str, Array]

    def as_json(self) -> dict[str, Any]:
        """The bounds as nested lists, with null for infinity."""
        return {
            "unit": self.unit,
            "lowest": _listed(self.lowest),
            "highest": _listed(self.highest),
            "error": {real: _listed(error) for real, error in self.error.items()},
        }


@dataclass(frozen=True)
class Bounds:
    """The bounds of a function. `bounds["tau"]` are those of the output tau."""

    function: str
    outputs: Mapping[str, OutputBounds]

    def __getitem__(self, output: str) -> OutputBounds:
        return self.outputs[output]

    def as_json(self) -> dict[str, Any]:
        return {
            "function": self.function,
            "outputs": {name: output.as_json() for name, output in self.outputs.items()},
        }


def _listed(array: Array) -> Any:
    def listed(value: Any) -> Any:
        if isinstance(value, list):
            return [listed(one) for one in value]
        return value if math.isfinite(value) else None

    return listed(array.tolist())


def bounds_of(
    function: FunctionSource,
    update: Program | None,
    ranges: Ranges,
    parts: int,
    reals: Sequence[str] = REALS,
    *,
    fused: bool = False,
) -> Bounds:
    """The bounds of a function.

    Args:
        function: the designed function. Its vectors of limbs compute the same bits.
        update: the program from the parameters to the table, if parameters are inputs.
        ranges: the ranges of the inputs.
        parts: the number of parts into which the ranges are cut at most, see `tightened`.
        reals: the types of numbers.
        fused: whether the compiler may fuse products and sums.

    Raises:
        OptionError: a range is missing.
    """
    bounder = Bounder(unrolled(function.program))
    size = bounder.elements
    low, high, error = np.full(size, -np.inf), np.full(size, np.inf), {}
    for real in reals:
        to = precision(real, fused=fused)
        table = None if update is None else _table(update, ranges, real, fused=fused)
        box = flat_box(bounder.graph, _inputs(function, bounder, ranges, table))
        found = tightened(bounder, box, to, parts)
        low, high = np.maximum(low, found.low), np.minimum(high, found.high)
        error[real] = bounder.arrays(found.error)
    lows, highs = bounder.arrays(low), bounder.arrays(high)
    return Bounds(
        function.name,
        {
            x.name: OutputBounds(
                x.unit, lows[x.name], highs[x.name], {real: found[x.name] for real, found in error.items()}
            )
            for x in function.signature.outputs
        },
    )


def _table(update: Program, ranges: Ranges, real: str, *, fused: bool) -> Enclosure:
    """The enclosure of the table of parameters, which C computes in the same precision."""
    bounder = Bounder(unrolled(update))
    low, high = ranges.parameters
    (parameters,) = bounder.graph.inputs
    box = flat_box(bounder.graph, {parameters.name: Enclosure(low, high, np.zeros_like(low))})
    return Enclosure(*(x[:, 0] for x in bounder.bound(box, precision(real, fused=fused))))


def _inputs(
    function: FunctionSource, bounder: Bounder, ranges: Ranges, table: Enclosure | None
) -> dict[str, Enclosure]:
    """The enclosures of all inputs by name. Inputs are exact, but for the table."""
    given: dict[str, Enclosure] = {}
    first = 0
    for argument in function.signature.inputs:
        if argument.kind == "table" and table is not None:
            given[argument.name] = table
        else:
            read = [k - first for k in bounder.read if first <= k < first + argument.size]
            low, high = ranges.of(argument, read, function.name)
            given[argument.name] = Enclosure(low, high, np.zeros_like(low))
        first += argument.size
    return given
