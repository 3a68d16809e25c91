"""Bounds of one function: of every element of its outputs, over ranges of all inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rbdgen.bounds.ranges import Ranges
from rbdgen.emit.package import FunctionSource
from rbdgen.graph.bounds.enclosure import Array, Enclosure, precision
from rbdgen.graph.bounds.found import Bounds, OutputBounds
from rbdgen.graph.bounds.interpreter import Bounder, flat_box
from rbdgen.graph.bounds.tighten import tightened
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.unrolled import unrolled
from rbdgen.machine import REALS


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
        {
            **dict(_ranges(function, bounder, ranges)),
            **({} if update is None else {update.inputs[0].name: ranges.parameters}),
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
    for argument in function.signature.inputs:
        if argument.kind == "table" and table is not None:
            given[argument.name] = table
        else:
            read = bounder.read_of(argument.name)
            low, high = ranges.of(argument, read, function.name)
            given[argument.name] = Enclosure(low, high, np.zeros_like(low))
    return given


def _ranges(
    function: FunctionSource, bounder: Bounder, ranges: Ranges
) -> Iterator[tuple[str, tuple[Array, Array]]]:
    """The ends of the ranges of every input but the table, and NaN for elements that are not read."""
    for argument in function.signature.inputs:
        if argument.kind != "table":
            read = bounder.read_of(argument.name)
            ends = np.full((2, argument.size), np.nan)
            ends[:, read] = np.array(ranges.of(argument, read, function.name))[:, read]
            low, high = ends.reshape(2, *argument.shape)
            yield argument.name, (low, high)
