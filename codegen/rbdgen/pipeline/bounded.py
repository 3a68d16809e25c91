"""Designs functions and bounds their values and rounding errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rbdgen.bounds.bounds import bounds_of
from rbdgen.bounds.ranges import Ranges
from rbdgen.emit.package import FunctionSource
from rbdgen.graph.bounds.found import Bounds
from rbdgen.machine import REALS
from rbdgen.options import BOUNDS, check_parts
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.progress import Progress, silent
from rbdgen.pipeline.request import Request
from rbdgen.signature import UPDATE, SizedArgument


def bounded(
    request: Request,
    given: Mapping[str, object],
    tighten: object = 0,
    progress: Progress = silent,
    reals: Sequence[str] = REALS,
) -> list[Bounds]:
    """The bounds of all functions of a request over the given ranges of their inputs, see `Ranges`.

    Inputs without a range have the limits of their joints. `tighten` is the number of parts into which the
    ranges are cut at most; 0 for one.

    Raises:
        OptionError: a range is impossible or missing, or `tighten` is no number of parts.
    """
    parts = check_parts(tighten)
    check_ranges(request, given)
    return bounds_of_functions(request, given, parts, design_functions(request, progress), reals)


def check_ranges(request: Request, given: Mapping[str, object]) -> None:
    """Raises OptionError for an impossible range, before functions are designed."""
    if request.options.trig == "builtin":  # otherwise functions have inputs that their rows lack
        Ranges(given, list(_inputs(request).values()), facts_of(request))


def with_bounds(request: Request, functions: Sequence[FunctionSource]) -> list[FunctionSource]:
    """The designed functions with their bounds in the type of numbers of the request, if it asks for them.

    Raises:
        OptionError: a range is impossible or missing.
    """
    options = request.options
    if BOUNDS not in options.emit:
        return list(functions)
    found = bounds_of_functions(request, options.ranges, options.tighten, functions, (options.real,))
    by_name = {bounds.function: bounds for bounds in found}
    return [replace(function, bounds=by_name.get(function.name)) for function in functions]


def _inputs(request: Request) -> dict[str, SizedArgument]:
    """The inputs of the functions of a request, before they are designed."""
    parameters = len(request.parameters)
    return {x.name: x for row in request.rows.values() for x in row.sized(request.model, parameters).inputs}


def bounds_of_functions(
    request: Request,
    given: Mapping[str, object],
    parts: int,
    functions: Sequence[FunctionSource],
    reals: Sequence[str] = REALS,
) -> list[Bounds]:
    """The bounds of designed functions, but for those that compute the table of parameters."""
    inputs = _inputs(request) | {x.name: x for function in functions for x in function.signature.inputs}
    ranges = Ranges(given, list(inputs.values()), facts_of(request))
    update = next((function.program for function in functions if function.name == UPDATE), None)
    return [
        bounds_of(function, update, ranges, parts, reals, fused=request.options.contract)
        for function in functions
        if function.name.partition("_")[0] != UPDATE
    ]
