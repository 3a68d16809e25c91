"""The row of the derivatives of a time step with frictional contacts."""

from __future__ import annotations

from typing import Final

from rbdgen.functions.form import Form, Outputs
from rbdgen.functions.friction.arrays import SOLVED
from rbdgen.functions.friction.derivatives import DerivativesOfStep, by_state
from rbdgen.functions.friction.directions import (
    BY_FRICTION,
    BY_Q,
    BY_TAU,
    BY_V,
    INVERSE,
    PUSHES,
    SPEEDS,
    TORQUE_Q,
    TORQUE_V,
    TURNS,
    Directions,
)
from rbdgen.functions.friction.rows import INPUTS, PROBLEM, SOLVER, array_of_solver, operations_of_step
from rbdgen.functions.friction.step import solver_of
from rbdgen.functions.function import Around, Function
from rbdgen.functions.inner import Inner
from rbdgen.functions.needs import POINTS
from rbdgen.functions.trajectories.rows import DT
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State


def _whole_derivatives(robot: Model | ReducedModel, x: State) -> Outputs:
    """A, B and by_friction, computed with whatever scalars the state has."""
    made = DerivativesOfStep(reduce(robot) if isinstance(robot, Model) else robot, x)
    directions = Directions(made.reduced.model, made.step.solver)
    problem = made.step.problem()
    impulses, _ = made.step.solver.solve(x, problem)
    arrays = {**problem, SOLVED: impulses, DT.name: x.arrays[DT.name], **made.linearised(impulses)}
    found = directions.looped().run(State(q=(), arrays=arrays, naming=x.naming))
    ended = dict(zip((BY_Q, BY_V, BY_TAU, BY_FRICTION), found, strict=True))
    return [*made.matrices(impulses, by_state(ended, directions.nv)), ended[BY_FRICTION]]


def _line_of_derivatives(robot: Model | ReducedModel, x: State) -> Outputs:
    """A, B, the arrays of the solver and those of `directions.py`."""
    made = DerivativesOfStep(reduce(robot) if isinstance(robot, Model) else robot, x)
    impulses = x.arrays[SOLVED]
    ended = by_state(x.arrays, made.reduced.model.coupling.independent)
    problem, linearised = made.step.problem(), made.linearised(impulses)
    return [*made.matrices(impulses, ended), *problem.values(), *linearised.values()]


_MATRICES: Final = (
    Argument("A", "values", ("nx", "nx"), "1, s, 1/s", "derivative by (q, v), q in its tangent space"),
    Argument("B", "values", ("nx", "nv"), "SI", "derivative by tau"),
)

_BY_FRICTION: Final = Argument(
    BY_FRICTION, "values", ("nv", "npoints"), "m/s, rad/s", "derivative of v_next by the friction"
)

_SOURCE: Final = "implicit function theorem; the rest as in Carpentier, Budhiraja and Mansard, RSS 2021"

DERIVATIVES_LINE: Final = Function(
    Signature(
        "contact_step_derivatives_line",
        (
            *INPUTS,
            array_of_solver(SOLVED, "nimpulses"),
            *(array_of_solver(name, "nv", "nv") for name in (BY_Q, BY_V, BY_TAU)),
        ),
        (
            *_MATRICES,
            *PROBLEM,
            array_of_solver(INVERSE, "nv", "nv"),
            array_of_solver(PUSHES, "nrows", "nv"),
            *(array_of_solver(name, "nv", "nv") for name in (TORQUE_Q, TORQUE_V)),
            *(array_of_solver(name, "nimpulses", "nv") for name in (TURNS, SPEEDS)),
        ),
    ),
    "the straight line around the loops of contact_step_derivatives",
    (Form("factored", _SOURCE, _line_of_derivatives, reduced=True, degrees="independent"),),
    operations=lambda size: 4000 * size.bodies + 300 * size.forces,
)

CONTACT_STEP_DERIVATIVES: Final = Function(
    Signature("contact_step_derivatives", INPUTS, (*_MATRICES, _BY_FRICTION)),
    "derivatives of contact_step: d(q_next, v_next) = A d(q, v) + B dtau + (dt, 1) by_friction dfriction",
    (Form("factored", _SOURCE, _whole_derivatives, reduced=True, degrees="independent"),),
    operations=lambda size: operations_of_step(size) + 3000 * size.bodies + 400 * size.forces,
    needs=(POINTS,),
    on_request=True,
    around=Around(
        DERIVATIVES_LINE,
        (
            SOLVER,
            Inner(
                lambda model: Directions(model, solver_of(model)).looped(),
                lambda model: Directions(model, solver_of(model)).reads,
            ),
        ),
    ),
)

ROWS = (CONTACT_STEP_DERIVATIVES,)
