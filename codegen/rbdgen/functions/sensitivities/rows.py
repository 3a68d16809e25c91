"""The rows of derivatives of inverse and forward dynamics by parameters that stay inputs.

The traced outputs are differentiated in reverse, through the parameter table. Differentiating ABA itself
takes fewer operations than the product -M^-1 dID/dp.
"""

from __future__ import annotations

from rbdgen.functions.arguments import TAU, A, Q, V
from rbdgen.functions.form import Outputs, cheap
from rbdgen.functions.forward_dynamics import rows as forward_dynamics
from rbdgen.functions.function import Function
from rbdgen.functions.inverse_dynamics import rows as inverse_dynamics
from rbdgen.functions.resisting import resisting
from rbdgen.model.reduce import ReducedModel
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State

P = Argument("p", "parameters", ("np",), "SI", "parameters of the robot, from which table was computed")


def _differentiated(function: Function, reduced: ReducedModel, x: State) -> Outputs:
    """The derivatives of a function's only output with respect to the parameters, row-major, with one row per
    element of the output. They are those of its first cheap straight-line form for the robot.
    """
    row = resisting(function)
    form = next(form for form in row.forms_for(reduced.model) if form.reduced and form.loops is None)
    (output,) = row.trace(form, reduced, x)
    return [[y for value in output for y in x.by_parameters(value)]]


RNEA_DPARAMS = Function(
    Signature(
        "rnea_dparams",
        (Q, V, A, P),
        (Argument("dtau_dp", "values", ("nv", "np"), "N m, N per unit", "dID/dp"),),
    ),
    "derivatives of inverse dynamics by parameters that stay inputs",
    (
        cheap(
            "reverse",
            "reverse differentiation of RNEA",
            lambda reduced, x: _differentiated(inverse_dynamics.RNEA, reduced, x),
            degrees="independent",
        ),
    ),
    operations=lambda size: 296 * size.ancestors + 400 * size.bodies,
    on_request=True,
)

ABA_DPARAMS = Function(
    Signature(
        "aba_dparams",
        (Q, V, TAU, P),
        (Argument("da_dp", "values", ("nv", "np"), "rad/s^2, m/s^2 per unit", "dFD/dp"),),
    ),
    "derivatives of forward dynamics by parameters that stay inputs",
    (
        cheap(
            "reverse",
            "reverse differentiation of ABA",
            lambda reduced, x: _differentiated(forward_dynamics.ABA, reduced, x),
            degrees="independent",
        ),
    ),
    operations=lambda size: 600 * size.connected + 1500 * size.bodies,
    on_request=True,
)

ROWS = (RNEA_DPARAMS, ABA_DPARAMS)
