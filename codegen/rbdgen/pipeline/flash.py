"""Fits functions into flash: functions get smaller forms, those that save most first, until the measured size
fits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rbdgen.emit.package import MANIFEST, FunctionSource, Sources
from rbdgen.errors import BuildError, OptionError
from rbdgen.functions.form import LIMB_LOOPS
from rbdgen.functions.table import ALL
from rbdgen.machine import available_cores
from rbdgen.model.alike_limbs import alike_limbs
from rbdgen.pipeline.compilation import measured, module_tools, toolchain_of
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.progress import Progress, Report
from rbdgen.pipeline.request import Request
from rbdgen.sweeps.looped_bodies import not_in_loops
from rbdgen.toolchain.cache import user_cache
from rbdgen.toolchain.module import built, package_files
from rbdgen.toolchain.webassembly import linked
from rbdgen.wording import option

Sizes = Mapping[str, int]
"""The flash of each function in bytes: its code and constants with those of all functions that it calls."""

Measure = Callable[[Sequence[FunctionSource]], Sizes]
"""Compiles functions and measures their flash."""


def fitted(
    functions: Sequence[FunctionSource],
    smaller: Callable[[], Mapping[str, Sequence[FunctionSource]]],
    budget: int,
    measure: Measure,
) -> list[FunctionSource]:
    """The functions within `budget` bytes, with few of them in a smaller form.

    In each step one function changes to its next smaller form. Steps to loops over limbs come before steps to
    loops over bodies, which are slower, and among these the step that saves most comes first. `smaller` makes
    the other forms; it is only called if it is needed.

    Raises:
        BuildError: all functions in the smallest form that they have exceed the budget.
    """
    chosen = list(functions)
    expected = dict(measure(chosen))
    if sum(expected.values()) <= budget:
        return chosen
    steps = _steps(functions, expected, smaller(), measure)
    while any(steps.values()):
        waiting = [name for name in steps if steps[name]]
        name = max(waiting, key=lambda name: _saving(expected[name], *steps[name][0]))
        form, expected[name] = steps[name].pop(0)
        chosen = [form if function.name == name else function for function in chosen]
        if sum(expected.values()) <= budget:
            expected = dict(measure(chosen))
            if sum(expected.values()) <= budget:
                return chosen
    raise BuildError(_too_large(expected, budget))


def _saving(size: int, form: FunctionSource, smaller: int) -> tuple[bool, int]:
    """The key by which steps are compared; the step with the largest comes first."""
    return form.form == LIMB_LOOPS, size - smaller


def _steps(
    functions: Sequence[FunctionSource],
    sizes: Sizes,
    smaller: Mapping[str, Sequence[FunctionSource]],
    measure: Measure,
) -> dict[str, list[tuple[FunctionSource, int]]]:
    """The other forms of every function with their sizes, from fast to slow, each smaller than those
    before."""
    waiting = {name: sorted(forms, key=lambda form: form.cost.work) for name, forms in smaller.items()}
    steps: dict[str, list[tuple[FunctionSource, int]]] = {function.name: [] for function in functions}
    least = dict(sizes)
    while any(waiting.values()):
        tried = {name: forms.pop(0) for name, forms in waiting.items() if forms}
        measured = measure([tried.get(function.name, function) for function in functions])
        for name, form in tried.items():
            if measured[name] < least[name]:
                least[name] = measured[name]
                steps[name].append((form, measured[name]))
    return steps


def _too_large(sizes: Sizes, budget: int) -> str:
    """The message with the sizes of functions that do not fit."""
    total = sum(sizes.values())
    rows = sorted(sizes.items(), key=lambda row: -row[1])
    loops = {name for name, function in ALL.items() if function.smallest}
    listed = ", ".join(
        f"{name} {size}" + ("" if name in loops else ", no form in loops") for name, size in rows
    )
    return (
        f"{option('budget_flash', budget)}: {total} bytes are the least that was reached, {total - budget} "
        f"too many ({listed}); leave functions out, take {option('trig', 'input')} or "
        "allow more"
    )


def smaller_forms(request: Request, progress: Progress) -> dict[str, list[FunctionSource]]:
    """The functions in forms with loops, except for functions whose form the options choose.

    The loops are over alike limbs, if the robot has some, and over bodies, if the robot allows it, or those
    of a solver.
    """
    model = request.model
    forms: list[dict[str, str]] = [{}, {}]
    for name, function in request.rows.items():
        if name in request.options.variants:
            continue
        of_limbs, smallest = function.in_limb_loops, function.smallest_for(model)
        if of_limbs and of_limbs.does(model) and alike_limbs(model):
            forms[0][name] = of_limbs.name
        if smallest and (smallest.loops is None or not_in_loops(model) is None):
            forms[1][name] = smallest.name
    made: dict[str, list[FunctionSource]] = {}
    for some in filter(None, forms):
        for source in design_functions(request.only(*some, variants=some), progress):
            made.setdefault(source.name, []).append(source)
    return made


def flash_bytes(sources: Sources, request: Request, progress: Progress) -> dict[str, int]:
    """The bytes of code and constants of every function, compiled for the target.

    Functions are measured even if they do not fit the target's flash.
    """
    target, options = request.target, request.options
    if target.module:
        tools = module_tools()
        module = linked(sources, tools, user_cache(), available_cores())
        manifest = {"functions": {name: {"object_bytes": n} for name, n in module.object_bytes.items()}}
    elif target.embedded:
        manifest = measured(sources, replace(target, part=None), options, progress).manifest
    else:
        with built(sources, toolchain_of(options), user_cache()) as folder:
            manifest = json.loads(package_files(folder)[MANIFEST])
    sizes = {name: facts["object_bytes"] for name, facts in manifest["functions"].items()}
    if None in sizes.values():
        raise OptionError(
            f"{option('budget_flash')}: objects of this compiler cannot be measured; leave it out"
        )
    progress(Report(f"measured {sum(sizes.values())} bytes of flash"))
    return sizes
