"""Designs the operations on ten-parameter inertias as functions to emit, which belong to no robot."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from rbdgen.emit.package import FunctionSource, RobotFacts, Sources
from rbdgen.emit.render import render
from rbdgen.errors import OptionError
from rbdgen.graph.engine import new_engine
from rbdgen.graph.programs.passes import TO_C, apply
from rbdgen.graph.programs.program import straight_line
from rbdgen.graph.programs.verify import verify_program
from rbdgen.inertia.operations import OPERATIONS, Operation
from rbdgen.options import Options
from rbdgen.pipeline.compilation import style, target_of
from rbdgen.pipeline.design import batch_program
from rbdgen.pipeline.progress import Progress, Report, silent
from rbdgen.pipeline.written import Generated, written
from rbdgen.runtime.configuration import Manifold
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.targets import target_named
from rbdgen.version import __version__

NAME: Final = "inertia"

OF_ROBOTS: Final = ("trig", "variants", "savings", "budget", "budget_flash")
"""Options that only functions of a robot have."""


def inertia_functions(options: Options) -> list[FunctionSource]:
    """The operations that the options ask for, traced, simplified and verified."""
    target_of(options).check_real(options.real)
    for option in OF_ROBOTS:
        if getattr(options, option) != getattr(Options(), option):
            raise OptionError(f"{option}: is an option of robots, not of inertias; leave it out")
    for name in options.functions:
        if name not in OPERATIONS:
            raise OptionError(f"unknown operation '{name}'; choose from: {', '.join(OPERATIONS)}")
    return [_function(OPERATIONS[name], options) for name in options.functions]


def facts_of_inertia(options: Options) -> RobotFacts:
    """The facts that the files state in place of those of a robot."""
    name = NAME if options.name is None else options.name
    title = "ten-parameter inertias of rigid bodies"
    nothing = hashlib.sha256(b"").hexdigest()
    return RobotFacts(
        name, title, "none", 0, 0, 0, (), nothing, __version__, Manifold(()), options=options.as_json()
    )


def _function(operation: Operation, options: Options) -> FunctionSource:
    signature = operation.signature.sized({})
    tracer = new_engine(options.engine)
    symbols = [tracer.symbols(x.name, x.size) for x in signature.inputs]
    (output,) = signature.outputs
    graph = tracer.graph([(output.name, output.shape, operation.formula(*symbols))])
    program = apply(straight_line(graph), TO_C)
    verify_program(program)
    vectors = target_named(options.target).extensions
    return FunctionSource(
        signature,
        program,
        "",
        "",
        program.cost,
        operation.summary,
        batch=batch_program(program) if vectors else None,
    )


def generate_inertia(
    options: Options, out: Path, *, compiled: bool = True, progress: Progress = silent
) -> Generated:
    """Generates operations on ten-parameter inertias, like `page.generate` for functions of a robot."""

    def design(_: Cache) -> Sources:
        functions = inertia_functions(options)
        progress(Report("designed the operations on inertias"))
        package = target_of(options).at_home
        return render(facts_of_inertia(options), functions, style(options, package=package))

    return written(design, options, out, compiled=compiled, progress=progress)
