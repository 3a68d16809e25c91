"""Designs functions and bounds their values and rounding errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rbdgen.bounds.bounds import Bounds, bounds_of
from rbdgen.bounds.ranges import Ranges
from rbdgen.description.quoting import told
from rbdgen.errors import OptionError
from rbdgen.machine import REALS
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.progress import Progress, silent
from rbdgen.pipeline.request import Request
from rbdgen.signature import UPDATE, SizedArgument
from rbdgen.wording import option

MOST_PARTS = 1_000_000
"""The largest number of parts into which ranges are cut."""


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
    if not isinstance(tighten, int) or isinstance(tighten, bool) or not 0 <= tighten <= MOST_PARTS:
        raise OptionError(
            f"{option('tighten')} {told(tighten)}: give a number of parts from 0 to {MOST_PARTS}"
        )
    inputs: dict[str, SizedArgument] = {}
    sizes = {**request.model.sizes, "np": len(request.parameters)}
    for row in request.rows.values():
        inputs |= {x.name: x.sized(sizes) for x in row.signature.inputs}
    if request.options.trig == "builtin":
        Ranges(given, list(inputs.values()), facts_of(request))  # refused before the work starts
    functions = design_functions(request, progress)
    inputs |= {x.name: x for function in functions for x in function.signature.inputs}
    ranges = Ranges(given, list(inputs.values()), facts_of(request))
    update = next((function.program for function in functions if function.name == UPDATE), None)
    return [
        bounds_of(function, update, ranges, tighten, reals, fused=request.options.contract)
        for function in functions
        if function.name.partition("_")[0] != UPDATE
    ]
