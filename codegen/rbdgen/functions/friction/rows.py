"""The rows of time steps with frictional contacts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from rbdgen.functions.arguments import TAU, Q, V
from rbdgen.functions.configurations.rows import Q_NEXT
from rbdgen.functions.form import Form, Outputs, where_coupled
from rbdgen.functions.friction.arguments import (
    ANISOTROPY,
    FRICTION,
    GROUND,
    IMPULSE,
    KD,
    KP,
    LAW,
    RESIDUAL,
    SPRINGS,
    STOPS,
    TARGET,
)
from rbdgen.functions.friction.arrays import (
    ARMS,
    BIASES,
    BOUNDS,
    COMPLIANCES,
    DRIVE,
    GRIP,
    RESPONSES,
    SMOOTHING,
    SOLVED,
    STEPS,
    STRIPS,
)
from rbdgen.functions.friction.articulated import OnArticulatedBodies
from rbdgen.functions.friction.composite import OnMatrices
from rbdgen.functions.friction.held import Bounds
from rbdgen.functions.friction.implicit import (
    adjoint,
    adjoint_reads,
    changes,
    tangent,
    tangent_reads,
    weights,
)
from rbdgen.functions.friction.mobility import mobilities
from rbdgen.functions.friction.resisted import without_dry_friction
from rbdgen.functions.friction.servo import served
from rbdgen.functions.friction.sole import FRAME_ROWS, NUMBERS
from rbdgen.functions.friction.step import Contacts, Step, small_loops, solver_of
from rbdgen.functions.function import Around, Function
from rbdgen.functions.inner import Implicit, Inner
from rbdgen.functions.needs import POINTS, SERVOS
from rbdgen.functions.resistance import less, model_of
from rbdgen.functions.trajectories.rows import DT, V_NEXT
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.model.tree_size import TreeSize
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State

INPUTS: Final = (Q, V, TAU, DT, GROUND, FRICTION, LAW, SPRINGS, ANISOTROPY)


def _forms(*, whole: bool, servo: bool) -> Iterator[Form]:
    """The forms of the step, with servos or without: of the whole of it, or of the straight line around the
    solver.
    """
    source = "M, J and the drift; Stewart and Trinkle 1996"
    carried = "articulated bodies; unit forces are transformed to the root; Featherstone 2008, table 7.1"
    moments = "the first form with mass moments, for robots with followers"
    loops = "the first form, or the cheapest line, around a solver in loops over rows"
    yield Form("composite", source, _traced(whole, servo, articulated=False), degrees="independent")
    yield Form(
        "articulated",
        carried,
        _traced(whole, servo, articulated=True, reduced=True),
        reduced=True,
        degrees="tree",
    )
    yield Form(
        "moments",
        moments,
        _traced(whole, servo, articulated=False, reduced=True),
        reduced=True,
        degrees="independent",
        worth_trying=where_coupled,
    )
    if whole:
        trace = _traced(whole, servo, articulated=False, small=True)
        yield Form("looped", loops, trace, for_size=True, degrees="independent")


def _traced(
    whole: bool, servo: bool, *, articulated: bool, reduced: bool = False, small: bool = False
) -> Any:
    def trace(robot: Model | ReducedModel, x: State) -> Outputs:
        if reduced and isinstance(robot, Model):
            robot = reduce(robot)
        x = replace(x, tau=less(model_of(without_dry_friction(robot)), x))
        scales = mobilities(robot)
        if servo:
            robot, tau = served(robot, x)
            x = replace(x, tau=tau)
        made = OnArticulatedBodies if articulated else OnMatrices
        step: Step[Contacts] = Step(robot, x, made, scales)
        if whole:
            impulses, residual = step.solved(small=small)
            return [*step.moved(impulses), [residual]]
        return [*step.moved(x.arrays[SOLVED]), *step.problem().values()]

    return trace


def array_of_solver(name: str, *shape: str | int) -> Argument:
    return Argument(name, "values", shape, "SI", f"an array of the solver: {name}")


PROBLEM: Final = (
    array_of_solver(STRIPS, "nrows", "nrows"),
    array_of_solver(DRIVE, "nrows"),
    array_of_solver(GRIP, "npoints"),
    array_of_solver(STEPS, "nimpulses"),
    array_of_solver(SMOOTHING, 1),
    array_of_solver(ARMS, "ncorners", NUMBERS),
    array_of_solver(BIASES, "ncorners"),
    array_of_solver(COMPLIANCES, "ncorners", 2),
    array_of_solver(RESPONSES, "ncorners", FRAME_ROWS + 3, 3),
    array_of_solver(BOUNDS, "nheld", len(Bounds._fields)),
)
"""The arrays that the solver reads."""


def _line(name: str, inputs: tuple[Argument, ...], *, servo: bool) -> Function:
    """The straight line around the solver of a step."""
    return Function(
        Signature(
            f"{name}_line",
            (*inputs, array_of_solver(SOLVED, "nimpulses")),
            (Q_NEXT, V_NEXT, IMPULSE, *PROBLEM),
        ),
        f"the straight line around the solver of {name}",
        tuple(_forms(whole=False, servo=servo)),
        operations=_operations_of_line,
    )


def _operations_of_line(size: TreeSize) -> int:
    return 1000 * size.bodies + 30 * size.carried


def operations_of_step(size: TreeSize) -> int:
    return _operations_of_line(size) + 100 * size.forces**2


SOLVER: Final = Inner(
    lambda model: solver_of(model).looped(), lambda model: solver_of(model).sizes, small_loops
)

IMPLICIT: Final = Implicit(
    Inner(lambda model: adjoint(solver_of(model)), lambda model: adjoint_reads(solver_of(model))),
    lambda model, arrays: weights(solver_of(model), arrays),
    Inner(lambda model: tangent(solver_of(model)), lambda model: tangent_reads(solver_of(model))),
    lambda model, arrays: changes(solver_of(model), arrays),
)


def _step(name: str, summary: str, inputs: tuple[Argument, ...], *, servo: bool) -> Function:
    return Function(
        Signature(name, inputs, (Q_NEXT, V_NEXT, IMPULSE, RESIDUAL)),
        summary,
        tuple(_forms(whole=True, servo=servo)),
        operations=operations_of_step,
        needs=(POINTS, SERVOS) if servo else (POINTS,),
        on_request=True,
        around=Around(_line(name, inputs, servo=servo), (SOLVER,), IMPLICIT),
    )


CONTACT_STEP: Final = _step(
    "contact_step",
    "one time step with contacts that open, stick and slide by the law of Coulomb",
    INPUTS,
    servo=False,
)

CONTACT_STEP_SERVO: Final = _step(
    "contact_step_servo",
    "contact_step with servos in the joints, which act implicitly",
    (*INPUTS, KP, KD, TARGET, STOPS),
    servo=True,
)

ROWS = (CONTACT_STEP, CONTACT_STEP_SERVO)
