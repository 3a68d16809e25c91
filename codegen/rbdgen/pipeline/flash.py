"""Fitting functions into flash: those that save most get a smaller form, until what was measured fits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rbdgen.emit.package import MANIFEST, FunctionSource, Sources
from rbdgen.errors import BuildError, OptionError
from rbdgen.functions.table import ALL, lookup
from rbdgen.model.build import Robot
from rbdgen.options import Options, environment_cache
from rbdgen.pipeline.compilation import measured, target_of, toolchain_of
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.progress import Progress
from rbdgen.sweeps.tables import not_in_loops
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.module import build, package_files

Sizes = Mapping[str, int]
"""Bytes of flash by function: its code and constants with all that it calls, every function apart."""

Measure = Callable[[Sequence[FunctionSource]], Sizes]
"""Compiles functions; nothing is estimated."""


def fitted(
    functions: Sequence[FunctionSource],
    smaller: Callable[[], Mapping[str, FunctionSource]],
    budget: int,
    measure: Measure,
) -> list[FunctionSource]:
    """The functions, as few as possible in their smaller form, within `budget` bytes.

    `smaller`: makes the other forms, for functions that have one; asked only where it must be.

    Raises:
        BuildError: all functions in the smallest form that they have exceed the budget.
    """
    chosen = list(functions)
    sizes = measure(chosen)
    if sum(sizes.values()) <= budget:
        return chosen
    others = smaller()
    least = measure([others.get(function.name, function) for function in functions])
    expected = dict(sizes)
    for name in sorted(others, key=lambda name: least[name] - sizes[name]):
        if least[name] >= sizes[name]:
            break
        chosen = [others[name] if function.name == name else function for function in chosen]
        expected[name] = least[name]
        if sum(expected.values()) <= budget:
            expected = dict(measure(chosen))
            if sum(expected.values()) <= budget:
                return chosen
    raise BuildError(_too_large(expected, budget))


def _too_large(sizes: Sizes, budget: int) -> str:
    """The figures of functions that do not fit."""
    total = sum(sizes.values())
    rows = sorted(sizes.items(), key=lambda row: -row[1])
    loops = {name for name, function in ALL.items() if function.smallest}
    listed = ", ".join(
        f"{name} {size}" + ("" if name in loops else ", no form in loops") for name, size in rows
    )
    return (
        f"--budget-flash {budget}: {total} bytes are the least that was reached, {total - budget} too many "
        f"({listed}); leave functions out with -f, take --trig input or allow more"
    )


def smaller_forms(robot: Robot, options: Options, progress: Progress) -> dict[str, FunctionSource]:
    """The functions that have one in their smallest form; not those whose form is forced.

    None where the robot cannot be done in loops: the smallest forms are all such.
    """
    if not_in_loops(robot.model) is not None:
        return {}
    smallest = {name: lookup(name, robot.model).smallest_for(robot.model) for name in options.functions}
    forms = {name: form.name for name, form in smallest.items() if form}
    forms = {name: form for name, form in forms.items() if name not in options.variants}
    if not forms:
        return {}
    other = replace(options, functions=tuple(forms), variants=forms, budget_flash=None)
    return {function.name: function for function in design_functions(robot, other, progress)}


def flash_bytes(sources: Sources, options: Options, progress: Progress) -> dict[str, int]:
    """Bytes of code and constants of every function, compiled for the options' target.

    What does not fit the target's part is measured all the same.
    """
    target = target_of(options)
    if target.embedded:
        manifest = measured(sources, replace(target, part=None), options, progress).manifest
    else:
        store = Cache(environment_cache())
        manifest = json.loads(package_files(build(sources, toolchain_of(options), store))[MANIFEST])
    sizes = {name: facts["object_bytes"] for name, facts in manifest["functions"].items()}
    if None in sizes.values():
        raise OptionError("--budget-flash: objects of this compiler cannot be measured; leave it out")
    progress(f"measured {sum(sizes.values())} bytes of flash")
    return sizes
