"""The rows of functions of configurations: integration and difference on their manifold, and derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from rbdgen.functions.arguments import Q, V, square
from rbdgen.functions.configurations.manifold import (
    difference,
    difference_derivatives,
    filled,
    integrate_derivatives,
    integrated,
)
from rbdgen.functions.form import Form, Outputs
from rbdgen.functions.function import Function, Identity
from rbdgen.functions.resistance import model_of
from rbdgen.model.model import Model
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State

_SOURCE: Final = "the joints' own exponential maps; Sola, Deray, Atchuthan, 2018"

Q_NEXT = Argument(
    "q_next", "configuration", ("nq",), "rad, m", "joint positions at the end, with unit quaternions"
)
Q0 = replace(Q, name="q0", meaning=f"start: {Q.meaning}")
Q1 = replace(Q, name="q1", meaning=f"end: {Q.meaning}")


def _form(outputs: Callable[[Model, State], Outputs]) -> tuple[Form, ...]:
    def trace(robot: Any, x: State) -> Outputs:
        return outputs(model_of(robot), x)

    return (Form("exponential", _SOURCE, trace, degrees="independent"),)


def _ends(x: State) -> tuple[Any, Any]:
    """q0 and q1."""
    return x.positions, next(iter(x.arrays.values()))


def _difference_derivatives(model: Model, x: State) -> Outputs:
    nv = model.sizes["nv"]
    return [filled(each, nv) for each in difference_derivatives(model, *_ends(x), x.elementary)]


def _integrate_derivatives(model: Model, x: State) -> Outputs:
    nv = model.sizes["nv"]
    return [filled(each, nv) for each in integrate_derivatives(model, x.v, x.elementary)]


def _slower(x: Any) -> Any:
    """The velocities, reduced so that no joint turns by more than half a turn in one second."""
    return x["v"] / 8


INTEGRATE = Function(
    Signature("integrate", (Q, V), (Q_NEXT,)),
    "configuration after one second at constant velocity v; pass v dt for a time step dt",
    _form(lambda model, x: [integrated(model, x.positions, x.v, x.elementary)]),
    operations=lambda size: 60 * size.bodies,
    on_request=True,
)

DIFFERENCE = Function(
    Signature("difference", (Q0, Q1), (replace(V, meaning="velocities that lead to q1 in one second"),)),
    "velocity that leads from q0 to q1 in one second; attitudes turn the shorter way",
    _form(lambda model, x: [difference(model, *_ends(x), x.elementary)]),
    operations=lambda size: 80 * size.bodies,
    identities=(
        Identity(
            "difference(q, integrate(q, v)) = v",
            ("integrate", "difference"),
            lambda call, x: (
                call("difference", q0=x["q"], q1=call("integrate", v=_slower(x))),
                _slower(x),
            ),
        ),
    ),
    on_request=True,
)

INTEGRATE_DERIVATIVES = Function(
    Signature(
        "integrate_derivatives",
        (Q, V),
        (
            square("dnext_dq", "1, m/rad", "derivative of q_next by q, both in the tangent space"),
            square("dnext_dv", "s, m s/rad", "derivative of q_next by v, in the tangent space"),
        ),
    ),
    "derivatives of integrate in the tangent space",
    _form(_integrate_derivatives),
    operations=lambda size: 200 * size.bodies,
    on_request=True,
)

DIFFERENCE_DERIVATIVES = Function(
    Signature(
        "difference_derivatives",
        (Q0, Q1),
        (
            square("dv_dq0", "1/s, m/(rad s)", "derivative of v by q0, in the tangent space"),
            square("dv_dq1", "1/s, m/(rad s)", "derivative of v by q1, in the tangent space"),
        ),
    ),
    "derivatives of difference in the tangent space",
    _form(_difference_derivatives),
    operations=lambda size: 250 * size.bodies,
    identities=(
        Identity(
            "the derivatives of integrate and difference are inverse matrices",
            ("integrate_derivatives", "difference_derivatives"),
            lambda call, x: (
                call("difference_derivatives", q0=x["q"], q1=call("integrate", v=_slower(x)))[1]
                @ call("integrate_derivatives", v=_slower(x))[1],
                call("integrate_derivatives", v=0 * x["v"])[1],
            ),
        ),
    ),
    on_request=True,
)

ROWS = (INTEGRATE, DIFFERENCE, INTEGRATE_DERIVATIVES, DIFFERENCE_DERIVATIVES)

MOVES: Final = tuple(
    row.name for row in (INTEGRATE, DIFFERENCE, INTEGRATE_DERIVATIVES, DIFFERENCE_DERIVATIVES)
)
"""The names of the functions that move on the manifold of q, which solvers need where q is no vector."""
