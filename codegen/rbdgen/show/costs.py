"""Costs that a page shows on request: of functions that it does not run, and on a small machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rbdgen.emit.package import Sources
from rbdgen.errors import BuildError, OptionError
from rbdgen.functions.table import rows_of
from rbdgen.model.robot import Robot
from rbdgen.options import Options
from rbdgen.pipeline.compilation import measured, target_of, unmeasurable
from rbdgen.pipeline.page import designed
from rbdgen.pipeline.progress import Progress
from rbdgen.pipeline.request import Request
from rbdgen.toolchain.cache import user_cache

MACHINE: Final = "cortex-m4f"

_SHOWN: Final = ("summary", "form", "operations", "alternatives")
"""The facts of a function in the manifest that its bar shows."""


@dataclass(frozen=True)
class Costs:
    """Costs besides those in the manifest of the page."""

    others: Mapping[str, Mapping[str, Any]]
    """Facts of functions that the page does not run, as in a manifest."""
    figures: Mapping[str, Mapping[str, int]]
    """The bytes of flash and of stack of functions in float on `MACHINE`, each with all that it calls."""
    missing: Sequence[str]
    """One line for what could not be measured."""


def costs_of(seen: Robot, sources: Sources, *, every: bool, figures: bool, progress: Progress) -> Costs:
    """The costs that are asked for.

    Args:
        seen: the robot as the page computes it.
        sources: the functions that the page runs.
        every: whether all other functions of the robot are counted.
        figures: whether functions are compiled for `MACHINE` and measured.
        progress: is told what is designed and compiled.
    """
    own: Mapping[str, Any] = sources.manifest["functions"]
    names = tuple(own)
    others: dict[str, Mapping[str, Any]] = {}
    if every:
        further = tuple(name for name in rows_of(seen.model) if name not in own)
        options = Options(functions=further, target="portable")
        found = designed(Request(seen, options, package=False), user_cache(), progress).manifest["functions"]
        others = {name: _shown(found[name]) for name in further if name in found}
        names += tuple(others)
    if not figures:
        return Costs(others, {}, ())
    options = Options(functions=names, target=MACHINE, real="float")
    try:
        return Costs(others, _figures(seen, sources, options, progress), ())
    except (BuildError, OptionError) as error:
        return Costs(others, {}, (f"flash and stack of a {MACHINE} are not shown: {error}",))


def _figures(
    seen: Robot, sources: Sources, options: Options, progress: Progress
) -> dict[str, Mapping[str, int]]:
    """Flash and stack of functions; raises OptionError if there is no compiler, and BuildError if one is too
    large for the machine."""
    target = target_of(options)
    reason = unmeasurable(sources, target, options)
    if reason is not None:
        raise OptionError(reason)
    designs = designed(Request(seen, options, package=False), user_cache(), progress)
    found = measured(designs, target, options, progress).manifest["functions"]
    return {
        name: {"flash": facts["object_bytes"], "stack": facts["stack_bytes"]} for name, facts in found.items()
    }


def _shown(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: facts[name] for name in _SHOWN if name in facts}
