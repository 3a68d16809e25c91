"""The row of a time step with frictional contacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rbdgen.functions.arguments import TAU, Q, V
from rbdgen.functions.configurations.rows import Q_NEXT
from rbdgen.functions.form import Form, Outputs, where_coupled
from rbdgen.functions.forward_dynamics.rows import RESISTED
from rbdgen.functions.friction.arguments import FRICTION, GROUND, IMPULSE, LAW, RESIDUAL
from rbdgen.functions.friction.articulated import OnArticulatedBodies
from rbdgen.functions.friction.composite import OnMatrices
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
from rbdgen.functions.friction.implicit import (
    adjoint,
    adjoint_reads,
    changes,
    tangent,
    tangent_reads,
    weights,
)
from rbdgen.functions.friction.solver import DRIVE, GRIP, SMOOTHING, SOLVED, STEPS, STRIPS
from rbdgen.functions.friction.step import Contacts, Step, solver_of
from rbdgen.functions.function import Around, Function, Implicit, Inner
from rbdgen.functions.needs import POINTS
from rbdgen.functions.resisting import resisting
from rbdgen.functions.trajectories.rows import DT, V_NEXT
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.model.tree_size import TreeSize
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State

_INPUTS: Final = (Q, V, TAU, DT, GROUND, FRICTION, LAW)


def _forms(*, whole: bool) -> Iterator[Form]:
    """The forms of the step: of the whole of it, or of the straight line around the solver."""
    source = "M, J and the drift; Stewart and Trinkle 1996"
    carried = "articulated bodies; unit forces are transformed to the root; Featherstone 2008, table 7.1"
    moments = "the first form with mass moments, for robots with followers"
    yield Form("composite", source, _traced(whole, articulated=False), degrees="independent")
    yield Form(
        "articulated", carried, _traced(whole, articulated=True, reduced=True), reduced=True, degrees="tree"
    )
    yield Form(
        "moments",
        moments,
        _traced(whole, articulated=False, reduced=True),
        reduced=True,
        degrees="independent",
        worth_trying=where_coupled,
    )


def _traced(whole: bool, *, articulated: bool, reduced: bool = False) -> Any:
    def trace(robot: Model | ReducedModel, x: State) -> Outputs:
        if reduced and isinstance(robot, Model):
            robot = reduce(robot)
        step: Step[Contacts] = Step(robot, x, OnArticulatedBodies if articulated else OnMatrices)
        if whole:
            impulses, residual = step.solved()
            return [*step.moved(impulses), [residual]]
        return [*step.moved(x.arrays[SOLVED]), *step.problem().values()]

    return trace


def _array(name: str, *shape: str | int) -> Argument:
    return Argument(name, "values", shape, "SI", f"an array of the solver: {name}")


_PROBLEM: Final = (
    _array(STRIPS, "nc", "nc"),
    _array(DRIVE, "nc"),
    _array(GRIP, "npoints"),
    _array(STEPS, "nc"),
    _array(SMOOTHING, 1),
)
"""The arrays that the solver reads."""

LINE: Final = Function(
    Signature(
        "contact_step_line",
        (*_INPUTS, _array(SOLVED, "nc")),
        (
            Q_NEXT,
            V_NEXT,
            IMPULSE,
            *_PROBLEM,
        ),
    ),
    "the straight line around the solver of contact_step",
    tuple(_forms(whole=False)),
    operations=lambda size: 1000 * size.bodies + 30 * size.carried,
    resistance=RESISTED,
)


def _operations(size: TreeSize) -> int:
    return LINE.operations(size) + 100 * size.forces**2


SOLVER: Final = Inner(lambda model: solver_of(model).looped(), lambda model: solver_of(model).sizes)

IMPLICIT: Final = Implicit(
    Inner(lambda model: adjoint(solver_of(model)), lambda model: adjoint_reads(solver_of(model))),
    lambda model, arrays: weights(solver_of(model), arrays),
    Inner(lambda model: tangent(solver_of(model)), lambda model: tangent_reads(solver_of(model))),
    lambda model, arrays: changes(solver_of(model), arrays),
)

CONTACT_STEP: Final = Function(
    Signature("contact_step", _INPUTS, (Q_NEXT, V_NEXT, IMPULSE, RESIDUAL)),
    "one time step with contacts that open, stick and slide by the law of Coulomb",
    tuple(_forms(whole=True)),
    operations=_operations,
    resistance=RESISTED,
    needs=(POINTS,),
    on_request=True,
    around=Around(resisting(LINE), (SOLVER,), IMPLICIT),
)


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
            *_INPUTS,
            _array(SOLVED, "nc"),
            *(_array(name, "nv", "nv") for name in (BY_Q, BY_V, BY_TAU)),
        ),
        (
            *_MATRICES,
            *_PROBLEM,
            _array(INVERSE, "nv", "nv"),
            _array(PUSHES, "nc", "nv"),
            *(_array(name, "nv", "nv") for name in (TORQUE_Q, TORQUE_V)),
            *(_array(name, "nc", "nv") for name in (TURNS, SPEEDS)),
        ),
    ),
    "the straight line around the loops of contact_step_derivatives",
    (Form("factored", _SOURCE, _line_of_derivatives, reduced=True, degrees="independent"),),
    operations=lambda size: 4000 * size.bodies + 300 * size.forces,
)

CONTACT_STEP_DERIVATIVES: Final = Function(
    Signature("contact_step_derivatives", _INPUTS, (*_MATRICES, _BY_FRICTION)),
    "derivatives of contact_step: d(q_next, v_next) = A d(q, v) + B dtau + (dt, 1) by_friction dfriction",
    (Form("factored", _SOURCE, _whole_derivatives, reduced=True, degrees="independent"),),
    operations=lambda size: _operations(size) + 3000 * size.bodies + 400 * size.forces,
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

ROWS = (CONTACT_STEP, CONTACT_STEP_DERIVATIVES)
