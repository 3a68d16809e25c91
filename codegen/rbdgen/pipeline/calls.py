"""Implements the calls of the API that generate or compile: reads their options and shows progress."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rbdgen.emit.names import robot_identifier
from rbdgen.emit.write import folder_of
from rbdgen.errors import OptionError
from rbdgen.functions.composed import composed
from rbdgen.functions.composition import Composition
from rbdgen.functions.table import lookup
from rbdgen.gpu.library import KernelLibrary, open_kernels
from rbdgen.inertia.operations import OPERATIONS
from rbdgen.model.build import Robot
from rbdgen.options import Options, default_functions
from rbdgen.own.asked import compositions, own_functions
from rbdgen.own.text import Own
from rbdgen.own.together import together_functions
from rbdgen.pipeline import inertia, page
from rbdgen.pipeline.compilation import target_of
from rbdgen.pipeline.rebuild import open_built
from rbdgen.pipeline.robot import load_robot, robot_of
from rbdgen.pipeline.shown import shown
from rbdgen.runtime import Library
from rbdgen.runtime.manifest import folder_of as of_folder
from rbdgen.runtime.manifest import read_manifest
from rbdgen.selection.expression import chosen_expression
from rbdgen.selection.trace import trace_expression
from rbdgen.toolchain.targets import TARGETS

Names = Sequence[str | Own] | None
Given = Mapping[str, Any]


def build(
    given: object, functions: Names, checks: bool, progress: bool | None, options: Given
) -> Library | KernelLibrary:
    """The implementation of `rbdgen.build`."""
    robot = robot_of(given)
    chosen, own = _asked("build", robot, functions, options)
    if target_of(chosen).kernels:
        if checks:
            raise OptionError("checks reads states on the host, and those of a GPU stay there; leave it out")
        with shown(progress) as told:
            return page.build_kernels(robot, chosen, told, own)
    with shown(progress) as told:
        library = page.build_library(robot, chosen, told, lambda: shown(progress), own)
    if checks:
        library.check_states()
    return library


def load(folder: str | Path) -> Library | KernelLibrary:
    """The implementation of `rbdgen.load`."""
    place = of_folder(folder)
    manifest = read_manifest(place)
    if manifest.get("target") in TARGETS and TARGETS[manifest["target"]].kernels:
        return open_kernels(place, manifest)
    return open_built(place)


def generate(
    given: object, out: object, functions: Names, compiled: bool, progress: bool | None, options: Given
) -> Path:
    """The implementation of `rbdgen.generate`."""
    robot = robot_of(given)
    chosen, own = _asked("generate", robot, functions, options)
    with shown(progress) as told:
        return page.generate(robot, chosen, folder_of(out), compiled=compiled, progress=told, own=own).folder


def generate_inertia(
    out: object, functions: Names, compiled: bool, progress: bool | None, options: Given
) -> Path:
    """The implementation of `rbdgen.generate_inertia`."""
    chosen = Options.of(**options, functions=OPERATIONS if functions is None else functions)
    with shown(progress) as told:
        return inertia.generate_inertia(chosen, folder_of(out), compiled=compiled, progress=told).folder


def trace(given: object, function: str | Own, engine: str, variant: str | None) -> Any:
    """The implementation of `rbdgen.trace`, but for closed expressions."""
    robot = robot_of(given)
    if isinstance(function, Own):
        row, named = composed(function.composition(robot), robot.model), function.name
    else:
        row, named = lookup(function, robot.model), function
    name = f"{robot_identifier(robot.model.name)}_{named}"
    if variant is None:
        return chosen_expression(row, robot.model, engine, name)
    return trace_expression(robot.model, row, row.form_for(robot.model, variant), engine, name)


def _asked(
    caller: str, robot: Robot, functions: Names, given: Given
) -> tuple[Options, tuple[Composition, ...]]:
    """The options of a call, and the user's own functions for the robot. Raises OptionError for an unknown
    option, for one of `load_robot`, and for what is impossible in an own function.
    """
    for name in given:
        if name in inspect.signature(load_robot).parameters:
            raise OptionError(
                f"{name} is an option of load_robot, not of {caller}; give load_robot(..., {name}=...)"
            )
    others = {name: value for name, value in given.items() if name not in ("own", "together")}
    wanted = given.get("together", {})
    if functions is None:
        contacts = bool(robot.model.contacts)
        functions = () if wanted else default_functions(bool(robot.model.frames), contacts)
    names, own = own_functions(functions, given.get("own", ()))
    together = together_functions(wanted, robot, own)
    if isinstance(names, (list, tuple)):
        names = [*names, *(x.name for x in together if x.name not in names)]
    chosen = Options.of(functions=names, **others)
    return chosen, compositions([*own, *together], chosen.functions, robot)
