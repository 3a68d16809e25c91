"""Designs functions: traces each in its cheapest form, simplifies and verifies it, several in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rbdgen.description.quoting import quoted
from rbdgen.emit.package import FunctionSource
from rbdgen.errors import OptionError
from rbdgen.functions.differentiated import MODES, in_coordinates
from rbdgen.functions.function import LIMB_LOOPS, LIMBS, Function
from rbdgen.functions.table import lookup
from rbdgen.graph.cost import Cost
from rbdgen.graph.programs.angles_given import angles_given, angles_of, signature_given
from rbdgen.graph.programs.dependence import Dependence, dependence
from rbdgen.graph.programs.narrowed import elements_read, narrowed
from rbdgen.graph.programs.passes import FOR_BATCHES, ORDER, apply
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.sparsity import sparse
from rbdgen.graph.programs.staged import staged
from rbdgen.graph.programs.verify import verify_program
from rbdgen.machine import lanes
from rbdgen.model.build import Robot
from rbdgen.model.parameters import asked_parameters
from rbdgen.options import Options
from rbdgen.pipeline.compilation import target_of
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.progress import Progress, Report, Stage, silent
from rbdgen.pipeline.workers import in_parallel
from rbdgen.selection.axes import BodyAxes, search
from rbdgen.selection.budget import check_budget
from rbdgen.selection.choose import too_long_for_vectors
from rbdgen.selection.differentiate import Chooser
from rbdgen.selection.table import Table, table_of, with_table
from rbdgen.signature import BAR, DOT, Argument, SizedArgument
from rbdgen.toolchain.targets import target_named
from rbdgen.wording import option

LONGEST_BATCH: Final = 100_000
"""The largest number of written operations for which a function gets a batch function. One of 72 thousand
takes gcc 7 s and clang 5 s, and its workspace takes 140 KB of stack."""

PARAMETERS_DIFFER: Final = f"{option('params')} makes numbers inputs in which limbs may differ; leave it out"


def design_functions(robot: Robot, options: Options, progress: Progress = silent) -> list[FunctionSource]:
    """The designed functions that the options ask for, in their order. Raises OptionError for bad options."""
    target_of(options).check_real(options.real)
    for name in options.functions:
        row = lookup(name, robot.model)
        if row.by_parameters:
            row.sized(robot.model, len(options.params))  # raises an error early if there are no parameters
            check_linear(robot, options, f"function '{name}' is by the parameters that C has")
    if target_of(options).embedded:
        check_linear(robot, options, f"{option('target', options.target)} has no library that computes them")
    if options.coordinates and not any(lookup(x, robot.model).differentiated for x in options.functions):
        raise OptionError(
            f"{option('coordinates')} is of NAME_vjp, NAME_jvp and NAME_hvp; ask for one, or leave it out"
        )
    looped = {name for name, form in options.variants.items() if lookup(name, robot.model).form(form).compact}
    check_budget(robot.model, [name for name in options.functions if name not in looped], options.budget)
    if options.trig == "input":
        check_springs(robot)
    facts_of(robot, options)  # refuses a name that cannot be used before the work starts
    axes = search(robot.model) if options.savings else None
    progress(Report("searched body axes"))
    table = design_table(robot, axes, options) if options.params else None
    designed = _designed(robot, axes, options, table, progress, ("designing", "designed"))
    lean = target_of(options).embedded
    finished = designed if table is None else with_update(designed, table, lean=lean)
    if table is not None and options.coordinates and not lean:
        finished += update_products(table)
    return [in_stages(function) for function in finished] if options.trig == "builtin" else finished


def check_linear(robot: Robot, options: Options, why: str) -> None:
    """OptionError where log-Cholesky parameters are asked for, which hosts make linear before they call C."""
    own = next((x for x in asked_parameters(robot, options.params) if x.log_cholesky), None)
    if own is not None:
        _, _, link = own.group.partition(":")
        asked = option("params", [f"logchol:{link}"])
        raise OptionError(f"{asked}: {why}; ask for {quoted(own.group)}")


def _designed(
    robot: Robot,
    axes: BodyAxes | None,
    options: Options,
    table: Table | None,
    progress: Progress,
    words: tuple[str, str],
) -> list[FunctionSource]:
    """The functions in the order of the options.

    The longest are started first, as a long one that starts last would run alone while other cores are idle.
    `words` say what is done with each function and, when it has ended, what was done.
    """
    doing, done = words
    stage = Stage(progress, doing, len(options.functions))
    longest_first = sorted(
        options.functions, key=lambda name: -lookup(name, robot.model).estimate(robot.model)
    )
    tasks = {name: (robot, name, axes, options, table) for name in longest_first}
    designed = in_parallel(
        design_function, tasks, stage.begins, lambda name: stage.ends(name, f"{done} {name}")
    )
    return [designed[name] for name in options.functions]


def in_stages(function: FunctionSource) -> FunctionSource:
    """The function in stages, such that within a stage no angle depends on a sine or cosine.

    The built-in sine and cosine take all angles of a straight line at once.
    """
    program = staged(function.program)
    if program is function.program:
        return function
    program = apply(program, ORDER)
    verify_program(program)
    batch = None if function.batch is None else batch_program(program)
    return replace(function, program=program, batch=batch)


def design_table(robot: Robot, axes: BodyAxes | None, options: Options) -> Table:
    """The table of parameters on which the functions are traced if parameters are inputs."""
    for row in (lookup(name, robot.model) for name in options.functions):
        if row.basis is not None:
            raise OptionError(
                f"function '{row.name}' has other columns for other parameters; leave it out, or "
                f"{option('params')}"
            )
    turns, slides = (None, None) if axes is None else (axes.turns, axes.slides)
    return table_of(robot, asked_parameters(robot, options.params), turns, slides)


def with_update(functions: Sequence[FunctionSource], table: Table, *, lean: bool) -> list[FunctionSource]:
    """The functions with the table as their last input, and the function that computes the table.

    If `lean`, the table only holds what these functions read. Otherwise it depends only on the robot and its
    parameters, so that other functions of the same robot take it as well.
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


def check_springs(robot: Robot) -> None:
    """Raises OptionError if a joint angle has a spring, as the angle itself is no input if its sine is
    one."""
    for joint in (body.joint for body in robot.model.bodies):
        at = joint.idx_q if joint.follows is None else joint.follows.idx_q
        if joint.resistance.stiffness and at in robot.model.manifold.angles:
            raise OptionError(
                f"{option('trig', 'input')}: joint {quoted(joint.name)} has a spring, which needs the angle "
                f"itself; take {option('trig', 'builtin')}"
            )


def design_function(task: tuple[Robot, str, BodyAxes | None, Options, Table | None]) -> FunctionSource:
    """Designs one function: chooses its form, applies the passes, and verifies the program."""
    robot, name, axes, options, table = task
    function, vectors = lookup(name, robot.model), target_named(options.target).extensions
    if options.coordinates:
        held = table is None or target_of(options).embedded
        function = in_coordinates(function, None if held or table is None else _moving(table.argument))
    forced = options.variants.get(name)
    if forced is None and not options.savings:
        forced = function.forms_for(robot.model)[0].name
    sums, signature = (
        options.trig != "input",
        function.sized(robot.model, len(table.defaults) if table else 0),
    )
    check_limbs(function, options)
    vector = lanes(options.real) if vectors else 1
    limbs = not limbs_refused(function, options)
    choice = Chooser(robot.model, axes, options.engine, sums, vector, table, limbs).choose(function, forced)
    program = choice.program
    if table is not None:
        signature = with_table(signature, table)
    if options.trig == "input":
        _check_angles(robot)
        angles = angles_of(signature, robot.model.manifold.angles)
        program, signature = angles_given(program, angles), signature_given(signature, angles)
    arrays = function.packed(options.packed)
    verify_program(program)
    signature, packed = sparse(signature, program, arrays)
    if packed is not program:
        verify_program(packed)
        program = packed
    if choice.lanes is not None:
        verify_program(choice.lanes)
    return FunctionSource(
        signature,
        program,
        choice.form,
        choice.axes,
        program.cost,
        function.summary,
        choice.alternatives,
        batch_program(program) if vectors else None,
        function.derivative_of,
        choice.lanes,
        {} if arrays else _dependence(function, choice.program),
    )


def _moving(x: SizedArgument) -> Argument:
    return Argument(x.name, x.kind, x.shape, x.unit, x.meaning)


def _dependence(function: Function, program: Program) -> Dependence:
    """How the outputs of a product with derivatives depend on its directions; empty for other functions."""
    made = function.differentiated
    if made is None or program.straight is None:
        return {}
    if MODES[made.mode].moved:
        return dependence(program.straight, {x.name + DOT for x in made.by})
    return dependence(program.straight, {y.name + BAR for y in made.of.signature.outputs})


def limbs_refused(function: Function, options: Options) -> str | None:
    """Why alike limbs cannot be SIMD lanes with these options, for any robot; None if they can."""
    if not target_named(options.target).extensions:
        return f"{option('target', options.target)} has no vectors; take {option('target', 'host')}"
    if options.trig == "input":
        return f"{option('trig', 'input')} gives sines one by one; take {option('trig', 'builtin')}"
    if options.params:
        return PARAMETERS_DIFFER
    if function.packed(options.packed):
        return f"outputs are packed; leave {option('packed')} out"
    return None


def check_limbs(function: Function, options: Options) -> None:
    """Raises OptionError if the options ask for a form with alike limbs that is not possible."""
    asked, reason = options.variants.get(function.name), None
    if asked == LIMBS:
        reason = limbs_refused(function, options)
    elif asked == LIMB_LOOPS and options.params:
        reason = PARAMETERS_DIFFER
    if reason is not None:
        raise OptionError(f"{option('variants', {function.name: asked})}: {reason}")


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
    options = Options(functions=tuple(functions))
    check_budget(robot.model, functions, options.budget)
    axes = search(robot.model)
    progress(Report("searched body axes"))
    chosen = _designed(robot, axes, options, None, progress, ("counting", "counted"))
    return {function.name: (f"{function.form} ({function.axes})", function.cost) for function in chosen}


def _check_angles(robot: Robot) -> None:
    """Raises OptionError for joints that need more than given sines and cosines.

    A helical joint slides by its angle itself, and a follower may turn by a multiple of an angle.
    """
    screw = next((joint.name for joint in robot.model.manifold.joints if joint.kind == "screw"), None)
    if screw is not None:
        raise OptionError(
            f"{option('trig', 'input')}: joint {quoted(screw)} is helical and needs its angle beside the "
            f"sine; take {option('trig', 'builtin')}"
        )
    angles = robot.model.manifold.angles
    for body in robot.model.bodies:
        joint, follows = body.joint, body.joint.follows
        if follows is None:
            continue
        led, turns = follows.idx_q in angles, joint.type.kind == "angle"
        if led != turns or (turns and abs(follows.multiplier) != 1):
            raise OptionError(
                f"{option('trig', 'input')}: joint {quoted(joint.name)} mimics another "
                f"{follows.multiplier:g} times, and needs more than the sine of q[{follows.idx_q}]; take "
                f"{option('trig', 'builtin')}"
            )
