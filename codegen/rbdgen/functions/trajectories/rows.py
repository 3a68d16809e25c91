"""The rows of integration steps, with a form for every straight-line form of forward dynamics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from rbdgen.functions.arguments import TAU, A, Q, V
from rbdgen.functions.configurations.rows import Q_NEXT
from rbdgen.functions.derivatives import rows as derivatives
from rbdgen.functions.form import Form, Outputs, flat, nowhere
from rbdgen.functions.forward_dynamics import rows as forward_dynamics
from rbdgen.functions.function import Around, Called, Function, Identity, Through
from rbdgen.functions.inner import Inner
from rbdgen.functions.resistance import model_of
from rbdgen.functions.resisting import resisting
from rbdgen.functions.trajectories.columns import START_Q, START_V, StateSpace
from rbdgen.functions.trajectories.steps import (
    ByState,
    Forward,
    Vector,
    moving,
    runge_kutta_step,
    semi_implicit_derivatives,
    semi_implicit_step,
    time_step,
    turn,
)
from rbdgen.model.model import Model
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State

DT = Argument("dt", "time_step", (), "s", "the time step")
V_NEXT = replace(V, name="v_next", meaning="joint velocities at the end")

_FORWARD: Final = resisting(forward_dynamics.ABA)
_DERIVATIVES: Final = resisting(derivatives.ABA_AND_DERIVATIVES)

STAGES: Final = 4
"""The number of stages of the Runge-Kutta method."""


def _calling(first: Form, what: str) -> Form:
    """The form that runs the chosen program of another function. For a trace, that is the first form."""
    return replace(first, name="calls", source=what, worth_trying=nowhere, degrees="independent", calls=True)


def _stepping(step: Callable[[Model, State, Forward], Outputs], method: str) -> Iterator[Form]:
    forms = []
    for form in _FORWARD.forms:
        if form.loops is None:

            def trace(robot: Any, x: State, form: Form = form) -> Outputs:
                def forward(state: State) -> Vector:
                    return _FORWARD.trace(form, robot, state)[0]

                return step(model_of(robot), x, forward)

            forms.append(replace(form, source=f"{method}; {form.source}", trace=trace, swept=None))
    yield from forms
    yield _calling(_of_all_robots(forms), f"{method}, around the chosen program of {_FORWARD.name}")


def _of_all_robots(forms: Sequence[Form]) -> Form:
    """The first form that supports robots on which joints follow others."""
    return next(form for form in forms if form.degrees == "independent")


def _line(name: str, inputs: tuple[Argument, ...], outputs: tuple[Argument, ...], trace: Any) -> Function:
    """The straight line around the programs of other functions."""
    form = Form("line", "the line around other functions", trace, degrees="independent")
    return Function(
        Signature(f"{name}_line", (Q, V, TAU, DT, *inputs), outputs),
        f"the straight line around the programs that {name} calls",
        (form,),
        operations=lambda size: 100 * size.bodies,
    )


def _euler_line(robot: Any, x: State) -> Outputs:
    model = model_of(robot)
    return semi_implicit_step(model, x, lambda state: state.a[: model.sizes["nv"]])


def _runge_kutta_line(robot: Any, x: State) -> Outputs:
    """The step, and the states at which the accelerations are needed."""
    model = model_of(robot)
    nq, nv = model.sizes["nq"], model.sizes["nv"]
    states: list[State] = []

    def forward(state: State) -> Vector:
        states.append(state)
        return x.arrays[f"a{len(states)}"]

    ends = runge_kutta_step(model, x, forward)
    return [*ends, *(values for s in states[1:] for values in (s.positions[:nq], s.v[:nv]))]


def _stage(name: str, stage: int, size: str) -> Argument:
    return Argument(f"{name}{stage}", "values", (size,), "SI", f"{name} of stage {stage}")


_EULER: Final = Around(_line("step", (A,), (Q_NEXT, V_NEXT), _euler_line), (Called(_FORWARD),))

_RUNGE_KUTTA: Final = Around(
    _line(
        "step_rk4",
        tuple(_stage("a", k, "nv") for k in range(1, STAGES + 1)),
        (
            Q_NEXT,
            V_NEXT,
            *(x for k in range(2, STAGES + 1) for x in (_stage("q", k, "nq"), _stage("v", k, "nv"))),
        ),
        _runge_kutta_line,
    ),
    tuple(
        Called(_FORWARD, tuple((x, f"{x}{k}") for x in ("aqv" if k > 1 else "a")))
        for k in range(1, STAGES + 1)
    ),
)


def _differentiated() -> Iterator[Form]:
    """The forms of the derivatives of a step, one for every straight-line form of the derivatives of forward
    dynamics, which also gives the acceleration.
    """
    forms = []
    for form in _DERIVATIVES.forms:
        if form.loops is None:

            def trace(robot: Any, x: State, form: Form = form) -> Outputs:
                model = model_of(robot)
                nv = model.sizes["nv"]
                acceleration, *matrices = _DERIVATIVES.trace(form, robot, x)
                parts = ([matrix[k : k + nv] for k in range(0, nv * nv, nv)] for matrix in matrices)
                found = semi_implicit_derivatives(model, x, acceleration, ByState(*parts))
                return [flat(matrix) for matrix in found]

            forms.append(replace(form, trace=trace, swept=None))
    yield from forms
    yield _calling(_of_all_robots(forms), f"around the chosen program of {_DERIVATIVES.name}")


def _line_of_derivatives(robot: Any, x: State) -> Outputs:
    """The arrays that the loops of `columns.py` read."""
    model = model_of(robot)
    u = turn(model, x, x.a[: model.sizes["nv"]])
    return list(map(StateSpace(model).rows_of, moving(model, u, time_step(x), x.elementary)))


_COLUMNS: Final = Around(
    _line(
        "step_derivatives",
        (A,),
        (
            Argument(START_Q, "values", ("nturns", "nv"), "SI", "the rows of J_q of joints that turn"),
            Argument(START_V, "values", ("nturns", "nv"), "SI", "the rows of h J_v of joints that turn"),
        ),
        _line_of_derivatives,
    ),
    (
        Called(_DERIVATIVES),
        Inner(lambda model: StateSpace(model).looped(), lambda model: StateSpace(model).reads),
    ),
)


def _step(
    name: str,
    step: Callable[[Model, State, Forward], Outputs],
    method: str,
    stages: int,
    calls: Around,
) -> Function:
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
        calls=calls,
        on_request=True,
    )


STEP = _step("step", semi_implicit_step, "semi-implicit Euler method", 1, _EULER)

STEP_RK4 = _step("step_rk4", runge_kutta_step, "fourth-order Runge-Kutta method", STAGES, _RUNGE_KUTTA)

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
    calls=_COLUMNS,
    on_request=True,
)

ROWS = (STEP, STEP_RK4, STEP_DERIVATIVES)
