"""The row of a time step with frictional contacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rbdgen.functions.arguments import TAU, Q, V
from rbdgen.functions.configurations.rows import Q_NEXT
from rbdgen.functions.form import Form, Outputs, where_coupled
from rbdgen.functions.forward_dynamics.rows import RESISTED
from rbdgen.functions.friction.arguments import FRICTION, GROUND, IMPULSE, LAW, RESIDUAL
from rbdgen.functions.friction.solver import DRIVE, GRIP, SMOOTHING, SOLVED, STEPS, STRIPS
from rbdgen.functions.friction.step import Step, solver_of
from rbdgen.functions.function import Function, Inner
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
        step = Step(robot, x, articulated=articulated)
        if whole:
            impulses, residual = step.solved()
            return [*step.moved(impulses), [residual]]
        return [*step.moved(x.arrays[SOLVED]), *step.problem().values()]

    return trace


def _array(name: str, *shape: str | int) -> Argument:
    return Argument(name, "values", shape, "SI", f"an array of the solver: {name}")


LINE: Final = Function(
    Signature(
        "contact_step_line",
        (*_INPUTS, _array(SOLVED, "nc")),
        (
            Q_NEXT,
            V_NEXT,
            IMPULSE,
            _array(STRIPS, "nc", "nc"),
            _array(DRIVE, "nc"),
            _array(GRIP, "npoints"),
            _array(STEPS, "nc"),
            _array(SMOOTHING, 1),
        ),
    ),
    "the straight line around the solver of contact_step",
    tuple(_forms(whole=False)),
    operations=lambda size: 1000 * size.bodies + 30 * size.carried,
    resistance=RESISTED,
)


def _operations(size: TreeSize) -> int:
    return LINE.operations(size) + 100 * size.forces**2


CONTACT_STEP: Final = Function(
    Signature("contact_step", _INPUTS, (Q_NEXT, V_NEXT, IMPULSE, RESIDUAL)),
    "one time step with contacts that open, stick and slide by the law of Coulomb",
    tuple(_forms(whole=True)),
    operations=_operations,
    resistance=RESISTED,
    needs=(POINTS,),
    on_request=True,
    inner=Inner(
        resisting(LINE), lambda model: solver_of(model).looped(), lambda model: solver_of(model).sizes
    ),
)

ROWS = (CONTACT_STEP,)
