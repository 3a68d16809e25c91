"""The rows of integration steps, with a form for every straight-line form of forward dynamics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from rbdgen.functions.arguments import TAU, Q, V
from rbdgen.functions.configurations.rows import Q_NEXT
from rbdgen.functions.derivatives import rows as derivatives
from rbdgen.functions.form import Form, Outputs, flat
from rbdgen.functions.forward_dynamics import rows as forward_dynamics
from rbdgen.functions.function import Function, Identity, Through
from rbdgen.functions.resistance import model_of
from rbdgen.functions.resisting import resisting
from rbdgen.functions.trajectories.steps import (
    ByState,
    Forward,
    Vector,
    runge_kutta_step,
    semi_implicit_derivatives,
    semi_implicit_step,
)
from rbdgen.model.model import Model
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State

DT = Argument("dt", "time_step", (), "s", "the time step")
V_NEXT = replace(V, name="v_next", meaning="joint velocities at the end")

_FORWARD: Final = resisting(forward_dynamics.ABA)
_DERIVATIVES: Final = resisting(derivatives.ABA_DERIVATIVES)


def _stepping(step: Callable[[Model, State, Forward], Outputs], method: str) -> Iterator[Form]:
    for form in _FORWARD.forms:
        if form.loops is None:

            def trace(robot: Any, x: State, form: Form = form) -> Outputs:
                def forward(state: State) -> Vector:
                    return _FORWARD.trace(form, robot, state)[0]

                return step(model_of(robot), x, forward)

            yield replace(form, source=f"{method}; {form.source}", trace=trace, swept=None)


def _differentiated() -> Iterator[Form]:
    """The forms of the derivatives of a step, one for every straight-line form of the derivatives of forward
    dynamics.

    The acceleration is computed by the first suitable form of forward dynamics, which shares subexpressions
    with its derivatives.
    """
    for form in _DERIVATIVES.forms:
        if form.loops is None:

            def trace(robot: Any, x: State, form: Form = form) -> Outputs:
                model = model_of(robot)
                nv = model.sizes["nv"]
                simple = next(f for f in _FORWARD.forms_for(model) if f.reduced == form.reduced)
                acceleration = _FORWARD.trace(simple, robot, x)[0]
                parts = (
                    [matrix[k : k + nv] for k in range(0, nv * nv, nv)]
                    for matrix in _DERIVATIVES.trace(form, robot, x)
                )
                matrices = semi_implicit_derivatives(model, x, acceleration, ByState(*parts))
                return [flat(matrix) for matrix in matrices]

            yield replace(form, trace=trace, swept=None)


def _step(name: str, step: Callable[[Model, State, Forward], Outputs], method: str, stages: int) -> Function:
    return Function(
        Signature(name, (Q, V, TAU, DT), (Q_NEXT, V_NEXT)),
        f"one time step of forward dynamics, {method}",
        tuple(_stepping(step, method)),
        operations=lambda size: stages * 900 * size.bodies,
        measure=(_FORWARD, None),
        through=Through(_FORWARD.name, step),
        identities=(
            Identity(
                "a step with dt = 0 keeps v",
                (name,),
                lambda call, x: (call(name, dt=0 * x["dt"])[1], x["v"]),
            ),
        ),
        on_request=True,
    )


STEP = _step("step", semi_implicit_step, "semi-implicit Euler method", 1)

STEP_RK4 = _step("step_rk4", runge_kutta_step, "fourth-order Runge-Kutta method", 4)

STEP_DERIVATIVES = Function(
    Signature(
        "step_derivatives",
        (Q, V, TAU, DT),
        (
            Argument(
                "A", "values", ("nx", "nx"), "1, s, 1/s", "derivative by (q, v), q in its tangent space"
            ),
            Argument("B", "values", ("nx", "nv"), "SI", "derivative by tau"),
        ),
    ),
    "derivatives of step: d(q_next, v_next) = A d(q, v) + B dtau",
    tuple(_differentiated()),
    operations=lambda size: 2400 * size.bodies + 90 * size.ancestors + 6 * size.products,
    on_request=True,
)

ROWS = (STEP, STEP_RK4, STEP_DERIVATIVES)
