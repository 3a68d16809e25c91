"""The functions of inverse dynamics."""

from __future__ import annotations

from rbdgen.functions.function import FEXT, TAU, A, Form, Function, Identity, Q, V, swept, swept_in_loops
from rbdgen.functions.inverse_dynamics.classical import inverse_dynamics
from rbdgen.functions.inverse_dynamics.newton_euler import gravity_torque, nonlinear_effects, rnea
from rbdgen.signature import Signature


def _rnea(external: bool) -> tuple[Form, ...]:
    sweeps = inverse_dynamics(external=external)
    return (
        Form(
            "newton_euler",
            "Featherstone 2008, table 5.1",
            lambda model, x: [rnea(model, x.q, x.v, x.a, x.fext, x.naming)],
        ),
        swept("classical", "classical accelerations, mass moments; Luh, Walker, Paul 1980", ("tau",), sweeps),
        swept_in_loops("the classical form in loops over bodies", ("tau",), sweeps),
    )


_NONLINEAR = inverse_dynamics(accelerated=False)
_AT_REST = inverse_dynamics(moving=False, accelerated=False)

ROWS = (
    Function(
        Signature("rnea", (Q, V, A), (TAU,)),
        "inverse dynamics, tau = ID(q, v, a)",
        _rnea(external=False),
        operations=lambda size: 340 * size.bodies,
        pinocchio=lambda pin, model, data, x: pin.rnea(model, data, x["q"], x["v"], x["a"]),
    ),
    Function(
        Signature("nle", (Q, V), (TAU,)),
        "nonlinear effects, C(q, v) v + g(q)",
        (
            Form(
                "newton_euler",
                "Featherstone 2008, table 5.1 at qdd = 0",
                lambda model, x: [nonlinear_effects(model, x.q, x.v, x.naming)],
            ),
            swept("classical", "as RNEA's, at qdd = 0", ("tau",), _NONLINEAR),
            swept_in_loops("as RNEA's, at qdd = 0", ("tau",), _NONLINEAR),
        ),
        operations=lambda size: 320 * size.bodies,
        pinocchio=lambda pin, model, data, x: pin.nonLinearEffects(model, data, x["q"], x["v"]),
        identities=(
            Identity(
                "ID(q, v, 0) = nle",
                ("rnea", "nle"),
                lambda call, x: (call("rnea", a=0 * x["a"]), call("nle")),
            ),
        ),
    ),
    Function(
        Signature("gravity", (Q,), (TAU,)),
        "gravity torques, g(q)",
        (
            Form(
                "newton_euler",
                "Featherstone 2008, table 5.1 at rest",
                lambda model, x: [gravity_torque(model, x.q, x.naming)],
            ),
            swept("classical", "as RNEA's, at rest", ("tau",), _AT_REST),
            swept_in_loops("as RNEA's, at rest", ("tau",), _AT_REST),
        ),
        operations=lambda size: 145 * size.bodies,
        pinocchio=lambda pin, model, data, x: pin.computeGeneralizedGravity(model, data, x["q"]),
    ),
)

WITH_FORCES = Function(
    Signature("rnea_fext", (Q, V, A, FEXT), (TAU,)),
    "inverse dynamics with external forces",
    _rnea(external=True),
    operations=lambda size: 350 * size.bodies,
    pinocchio=lambda pin, model, data, x: pin.rnea(model, data, x["q"], x["v"], x["a"], x["fext"]),
)
