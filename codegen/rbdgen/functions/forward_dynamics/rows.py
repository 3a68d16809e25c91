"""The functions of forward dynamics."""

from __future__ import annotations

from rbdgen.functions.forward_dynamics.articulated_body import aba
from rbdgen.functions.forward_dynamics.bias import forward_dynamics
from rbdgen.functions.function import FEXT, TAU, A, Form, Function, Identity, Q, V, swept, swept_in_loops
from rbdgen.functions.resistance import Added, torque
from rbdgen.signature import Signature


def _aba(external: bool) -> tuple[Form, ...]:
    sweeps = forward_dynamics(external)
    return (
        Form(
            "articulated",
            "Featherstone 2008, table 7.1",
            lambda model, x: [aba(model, x.q, x.v, x.tau, x.fext, x.naming)],
        ),
        swept("bias", "bias forces of inverse dynamics at qdd = 0, mass moments", ("a",), sweeps),
        swept_in_loops("the bias form in loops over bodies", ("a",), sweeps),
    )


RESISTED = (Added("tau", torque),)

ROWS = (
    Function(
        Signature("aba", (Q, V, TAU), (A,)),
        "forward dynamics, a = FD(q, v, tau)",
        _aba(external=False),
        operations=lambda size: 830 * size.bodies,
        pinocchio=lambda pin, model, data, x: pin.aba(
            model, data, x["q"], x["v"], x["tau"] - x["resistance"].torque
        ),
        resistance=RESISTED,
        identities=(
            Identity(
                "FD(ID(a)) = a", ("rnea", "aba"), lambda call, x: (call("aba", tau=call("rnea")), x["a"])
            ),
        ),
    ),
)

WITH_FORCES = Function(
    Signature("aba_fext", (Q, V, TAU, FEXT), (A,)),
    "forward dynamics with external forces",
    _aba(external=True),
    operations=lambda size: 840 * size.bodies,
    pinocchio=lambda pin, model, data, x: pin.aba(
        model, data, x["q"], x["v"], x["tau"] - x["resistance"].torque, x["fext"]
    ),
    resistance=RESISTED,
)
