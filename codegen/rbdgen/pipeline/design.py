"""The design of functions: each in its cheapest form, traced, simplified and verified, several at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rbdgen.description.quoting import quoted
from rbdgen.emit.package import FunctionSource
from rbdgen.errors import OptionError
from rbdgen.functions.table import lookup
from rbdgen.graph.cost import Cost
from rbdgen.graph.programs.angles_given import angles_given, angles_of, signature_given
from rbdgen.graph.programs.passes import FOR_BATCHES, apply
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.sparsity import sparse
from rbdgen.graph.programs.verify import verify_program
from rbdgen.machine import lanes
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.compilation import target_of
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.progress import Progress, silent
from rbdgen.pipeline.workers import in_parallel
from rbdgen.selection.axes import BodyAxes, search
from rbdgen.selection.budget import check_budget
from rbdgen.selection.choose import choose
from rbdgen.toolchain.targets import target_named

LONGEST_BATCH: Final = 100_000
"""Operations written down up to which a function gets a batch function. One of 72 thousand takes gcc 7 s and
clang 5 s, and 140 KB of stack for its workspace."""


def design_functions(robot: Robot, options: Options, progress: Progress = silent) -> list[FunctionSource]:
    """The graph of every function asked for, several at once."""
    target_of(options).check_real(options.real)
    for name in options.functions:
        lookup(name, robot.model)
    looped = {name for name, form in options.variants.items() if lookup(name).form(form).compact}
    check_budget(robot.model, [name for name in options.functions if name not in looped], options.budget)
    if options.trig == "input":
        check_springs(robot)
    facts_of(robot, options)  # a name that cannot be used is refused before the work, not after
    axes = search(robot.model) if options.savings else None
    progress("searched body axes")
    tasks = {name: (robot, name, axes, options) for name in options.functions}
    return in_parallel(design_function, tasks, lambda name: progress(f"designed {name}"))


def check_springs(robot: Robot) -> None:
    """OptionError for the spring of an angle, which is not given where its sine and cosine are."""
    for joint in (body.joint for body in robot.model.bodies):
        at = joint.idx_q if joint.follows is None else joint.follows.idx_q
        if joint.resistance.stiffness and at in robot.model.manifold.angles:
            raise OptionError(
                f"--trig input: joint '{joint.name}' has a spring, which needs the angle itself; take --trig "
                "builtin or libm"
            )


def design_function(task: tuple[Robot, str, BodyAxes | None, Options]) -> FunctionSource:
    """One function: the cheapest form, its passes, its order. Its program is verified here."""
    robot, name, axes, options = task
    function, vectors = lookup(name), target_named(options.target).extensions
    forced = options.variants.get(name)
    if forced is None and not options.savings:
        forced = function.forms_for(robot.model)[0].name
    choice = choose(
        function,
        robot.model,
        axes,
        engine=options.engine,
        forced=forced,
        sums=options.trig != "input",
        lanes=lanes(options.real) if vectors else 1,
    )
    program, signature = choice.program, function.signature.sized(robot.model.sizes)
    if options.trig == "input":
        _check_angles(robot)
        angles = angles_of(signature, robot.model.manifold.angles)
        program, signature = angles_given(program, angles), signature_given(signature, angles)
    arrays = [x.name for x in function.signature.outputs if x.packed or (options.packed and len(x.shape) > 1)]
    signature, program = sparse(signature, program, arrays)
    verify_program(program)
    return FunctionSource(
        signature,
        program,
        choice.form,
        choice.axes,
        program.cost,
        function.summary,
        choice.alternatives,
        batch_program(program) if vectors else None,
    )


def batch_program(program: Program) -> Program | None:
    """What the batch function of a verified program computes, verified too; None where it would be long."""
    if program.length > LONGEST_BATCH:
        return None
    batch = apply(program, FOR_BATCHES)
    if batch is not program:
        verify_program(batch)
    return batch


def count(robot: Robot, functions: Sequence[str], progress: Progress = silent) -> dict[str, tuple[str, Cost]]:
    """Form and operations of each function, as `design` would choose; nothing is emitted."""
    options = Options(functions=tuple(functions))
    check_budget(robot.model, functions, options.budget)
    axes = search(robot.model)
    progress("searched body axes")
    tasks = {name: (robot, name, axes, options) for name in functions}
    chosen = in_parallel(design_function, tasks, lambda name: progress(f"counted {name}"))
    return {function.name: (f"{function.form} ({function.axes})", function.cost) for function in chosen}


def _check_angles(robot: Robot) -> None:
    """Refuse joints that need more than the sines that are handed in: a screw slides by the angle itself,
    and a follower may turn by a multiple of it."""
    screw = next((joint.name for joint in robot.model.manifold.joints if joint.kind == "screw"), None)
    if screw is not None:
        raise OptionError(
            f"--trig input: joint {quoted(screw)} is helical and needs its angle beside the sine; take "
            "--trig builtin"
        )
    angles = robot.model.manifold.angles
    for body in robot.model.bodies:
        joint, follows = body.joint, body.joint.follows
        if follows is None:
            continue
        led, turns = follows.idx_q in angles, joint.type.kind == "angle"
        if led != turns or (turns and abs(follows.multiplier) != 1):
            raise OptionError(
                f"--trig input: joint {quoted(joint.name)} mimics another {follows.multiplier:g} times, "
                f"and needs more than the sine of q[{follows.idx_q}]; take --trig builtin"
            )
