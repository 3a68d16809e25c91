"""Designs functions: traces each in its cheapest form, simplifies and verifies it, several in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from rbdgen.emit.package import FunctionSource
from rbdgen.functions.differentiated import MODES, in_coordinates
from rbdgen.functions.function import Function
from rbdgen.graph.cost import Cost
from rbdgen.graph.programs.dependence import Dependence, dependence, dependence_of_program
from rbdgen.graph.programs.narrowed import elements_read, narrowed
from rbdgen.graph.programs.passes import FOR_BATCHES, FOR_CALLS, apply, released
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.verify import verify_program
from rbdgen.machine import VECTOR_BYTES, lanes
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.last_passes import finished, last_passes
from rbdgen.pipeline.progress import Progress, Report, Stage, silent
from rbdgen.pipeline.request import Request
from rbdgen.pipeline.workers import in_parallel
from rbdgen.selection.axes import BodyAxes, search
from rbdgen.selection.choice import Choice
from rbdgen.selection.differentiate import Chooser
from rbdgen.selection.parameter_table import Table, table_of, with_table
from rbdgen.selection.vectors import too_long_for_vectors
from rbdgen.signature import BAR, DOT, Argument, SizedArgument, SizedSignature
from rbdgen.toolchain.batch import register_bytes

LONGEST_BATCH: Final = 100_000
"""The largest number of written operations for which a function gets a batch function. To compile a batch
function of 72 thousand operations takes gcc 7 s and clang 5 s, and its workspace takes 140 KB of stack."""

Lines: TypeAlias = dict[bool, dict[str, Choice]]
"""The straight lines from which derivatives are made, by whether limbs may be lanes and by function. They are
those of one robot and the same options.
"""


def design_functions(request: Request, progress: Progress = silent) -> list[FunctionSource]:
    """The designed functions that the request asks for, in their order."""
    axes = search(request.model) if request.options.savings else None
    progress(Report("searched body axes"))
    table = design_table(request, axes) if request.options.params else None
    designed = _designed(request, axes, table, progress, ("designing", "designed"))
    if table is None:
        return designed
    lean = request.target.embedded
    products = update_products(table) if request.options.coordinates and not lean else []
    return [*with_update(designed, table, lean=lean), *products]


def _designed(
    request: Request, axes: BodyAxes | None, table: Table | None, progress: Progress, words: tuple[str, str]
) -> list[FunctionSource]:
    """The functions in the order of the options.

    The longest are started first, because a long one that starts last would run alone while other cores are
    idle. On one core, the derivatives of a function share its straight line. `words` are the verbs of the
    reports, such as ("designing", "designed").
    """
    doing, done = words
    stage = Stage(progress, doing, len(request.rows))
    longest_first = sorted(request.rows, key=lambda name: -request.rows[name].estimate(request.model))
    lines: Lines = {}
    tasks = {name: (request.only(name), axes, table, lines) for name in longest_first}
    designed = in_parallel(
        design_function, tasks, stage.begins, lambda name: stage.ends(name, f"{done} {name}")
    )
    return [designed[name] for name in request.rows]


def design_table(request: Request, axes: BodyAxes | None) -> Table:
    """The table of parameters on which the functions are traced if parameters are inputs."""
    turns, slides = (None, None) if axes is None else (axes.turns, axes.slides)
    return table_of(request.robot, request.parameters, turns, slides)


def with_update(functions: Sequence[FunctionSource], table: Table, *, lean: bool) -> list[FunctionSource]:
    """The functions with the table as their last input, and the function that computes the table.

    If `lean`, the table only holds the elements that these functions read. Otherwise it depends only on the
    robot and its parameters, so that other functions of the same robot take it as well.
    """
    name = table.argument.name
    read = set[int]().union(*(elements_read(function.program, name) for function in functions))
    kept = (sorted(read) or [0]) if lean else range(table.size)
    table = table.narrowed(kept)

    def narrower(program: Program | None) -> Program | None:
        return None if program is None else narrowed(program, name, kept)

    changed = [
        replace(
            function,
            signature=with_table(replace(function.signature, inputs=function.signature.inputs[:-1]), table),
            program=narrowed(function.program, name, kept),
            batch=narrower(function.batch),
        )
        for function in functions
    ]
    update = table.update
    for program in (update, *(function.program for function in changed)):
        verify_program(program)
    summary = "the table of the parameters, once a change of them"
    return [
        *changed,
        FunctionSource(
            table.update_signature, update, "border", "searched", update.cost, summary, batch=None
        ),
    ]


def update_products(table: Table) -> list[FunctionSource]:
    """The products with the derivatives of the function that computes the table."""
    found = []
    for signature, program in table.products():
        verify_program(program)
        directions = {x.name for x in signature.inputs if x.kind == "values"}
        moved = {x for x in directions if x.endswith(DOT)} or directions
        assert program.straight is not None
        summary = "derivatives of the table by the parameters, times weights or rates"
        known = dependence(program.straight, moved)
        found.append(
            FunctionSource(
                signature, program, "border", "searched", program.cost, summary, batch=None, dependence=known
            )
        )
    return found


def design_function(task: tuple[Request, BodyAxes | None, Table | None, Lines]) -> FunctionSource:
    """Designs the only function of a request: chooses its form, applies the passes, verifies the program."""
    request, axes, table, lines = task
    (function,) = request.rows.values()
    options, vectors = request.options, request.target.extensions
    if options.coordinates:
        held = table is None or request.target.embedded
        function = in_coordinates(function, None if held or table is None else _moving(table.argument))
    limbs = request.limbs_refused(function) is None
    choice = Chooser(
        request.model,
        axes,
        options.engine,
        sums=options.trig != "input",
        lanes=lanes(options.real) if vectors else 1,
        registers=VECTOR_BYTES / register_bytes(options.arch),
        table=table,
        limbs=limbs,
        apart=not options.same_bits and options.trig != "libm",
        _lines=lines.setdefault(limbs, {}),
    ).choose(function, request.forced(function.name))
    signature = function.sized(request.model, len(table.defaults) if table else 0)
    if table is not None:
        signature = with_table(signature, table)
    passes, sized = last_passes(request, function), signature
    program, signature = finished(released(choice.program), signature, passes)
    batch, calls = (batch_program(program), FOR_CALLS) if vectors else (None, ())
    apart = None
    if vectors and choice.apart is not None:
        apart = _apart(*finished(released(choice.apart), sized, passes), signature, batch)
    in_lanes = None if choice.lanes is None else apply(choice.lanes, (released, *calls))
    if in_lanes is None:
        program = apply(program, calls)
    verify_program(program if in_lanes is None else in_lanes)
    return FunctionSource(
        signature,
        program,
        choice.form,
        choice.axes,
        program.cost,
        function.summary,
        choice.alternatives,
        apart or batch,
        function.derivative_of,
        in_lanes,
        apart is None,
        {} if function.packed(options.packed) else _dependence(function, choice.program),
        function.composition.members if function.composition else (),
    )


def _moving(x: SizedArgument) -> Argument:
    return Argument(x.name, x.kind, x.shape, x.unit, x.meaning)


def _dependence(function: Function, program: Program) -> Dependence:
    """The dependence of the outputs of a product with derivatives on its directions; empty for other
    functions.
    """
    made = function.differentiated
    if made is None:
        return {}
    moved = MODES[made.mode].moved
    weights = {y.name + BAR for y in made.of.signature.outputs}
    return dependence_of_program(program, {x.name + DOT for x in made.by} if moved else weights)


def _apart(
    line: Program, described: SizedSignature, signature: SizedSignature, batch: Program | None
) -> Program | None:
    """The straight line, if it is better for batches than the program that has the bits of single calls.

    Its outputs must have the same known zeros (`described`) as those of the function.
    """
    own = batch_program(line) if described == signature else None
    return own if own is not None and (batch is None or own.cost.total < batch.cost.total) else None


def batch_program(program: Program) -> Program | None:
    """The verified program of the batch function of a verified program; None if it would be too long."""
    if too_long_for_vectors(program):
        return None
    batch = apply(program, FOR_BATCHES)
    if batch.length > LONGEST_BATCH:
        return None
    if batch is not program:
        verify_program(batch)
    return batch


def count(robot: Robot, functions: Sequence[str], progress: Progress = silent) -> dict[str, tuple[str, Cost]]:
    """The form and operation counts of each function, as `design` would choose them."""
    request = Request(robot, Options(functions=tuple(functions)))
    axes = search(robot.model)
    progress(Report("searched body axes"))
    chosen = _designed(request, axes, None, progress, ("counting", "counted"))
    return {function.name: (f"{function.form} ({function.axes})", function.cost) for function in chosen}
