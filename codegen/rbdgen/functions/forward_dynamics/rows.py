"""The rows of forward dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rbdgen.functions.arguments import FEXT, TAU, A, Q, V
from rbdgen.functions.articulated.embedded import forward_dynamics_embedded
from rbdgen.functions.articulated.step import forward_dynamics
from rbdgen.functions.form import Form, cheap, swept, swept_in_loops, where_coupled, where_factors_pay
from rbdgen.functions.forward_dynamics.along import acceleration_rates
from rbdgen.functions.forward_dynamics.articulated_body import aba
from rbdgen.functions.forward_dynamics.composite import composite_moments, forward_dynamics_composite
from rbdgen.functions.function import Call, Function, Identity
from rbdgen.functions.resistance import Added, torque
from rbdgen.signature import Signature


def _aba(external: bool) -> tuple[Form, ...]:
    sweeps = forward_dynamics(external)
    return (
        Form(
            "articulated",
            "Featherstone 2008, table 7.1",
            lambda model, x: [aba(model, x.q, x.v, x.tau, x.fext, x.naming)],
            degrees="tree",
        ),
        Form(
            "composite",
            "M a = tau - nle by a factor of M over independent joints; Featherstone 2008, section 6.5",
            lambda model, x: [forward_dynamics_composite(model, x.q, x.v, x.tau, x.fext, x.naming)],
            degrees="independent",
            worth_trying=where_coupled,
        ),
        swept(
            "bias",
            "articulated bodies, with bias forces of inverse dynamics at qdd = 0 and mass moments",
            ("a",),
            sweeps,
            "tree",
        ),
        cheap(
            "composite_moments",
            "M a = tau - nle, with mass moments",
            lambda reduced, x: [composite_moments(reduced, x.q, x.v, x.tau, x.fext, x.naming)],
            "independent",
            worth_trying=where_factors_pay,
        ),
        cheap(
            "embedded",
            "as bias, with embedded constraints of followers; Jain, Robot and Multibody Dynamics, 2011",
            lambda reduced, x: [forward_dynamics_embedded(reduced, x.q, x.v, x.tau, x.fext, x.naming)],
            "independent",
            worth_trying=where_coupled,
        ),
        swept_in_loops("the bias form in loops over bodies", ("a",), sweeps, "tree"),
    )


ALONG = cheap(
    "own_axes",
    "M^-1 times the changes of torques at constant a, in the bodies' own axes, with mass moments",
    lambda reduced, x: [acceleration_rates(reduced, x)],
    "tree",
    can_use_limbs=True,
)

RESISTED = (Added("tau", torque),)


def _solved(call: Call, x: Mapping[str, Any], bias: Any) -> Any:
    return np.linalg.solve(call("crba"), (x["tau"] - bias)[..., None])[..., 0]


ABA = Function(
    Signature("aba", (Q, V, TAU), (A,)),
    "forward dynamics, a = FD(q, v, tau)",
    _aba(external=False),
    operations=lambda size: 830 * size.bodies,
    pinocchio=lambda pin, model, data, x: pin.aba(
        model, data, x["q"], x["v"], x["tau"] - x["resistance"].torque
    ),
    resistance=RESISTED,
    identities=(
        Identity("FD(ID(a)) = a", ("rnea", "aba"), lambda call, x: (call("aba", tau=call("rnea")), x["a"])),
    ),
    projected=lambda call, x: _solved(call, x, call("nle")),
    inverse="rnea",
    along=ALONG,
)

ABA_FEXT = Function(
    Signature("aba_fext", (Q, V, TAU, FEXT), (A,)),
    "forward dynamics with external forces",
    _aba(external=True),
    operations=lambda size: 840 * size.bodies,
    pinocchio=lambda pin, model, data, x: pin.aba(
        model, data, x["q"], x["v"], x["tau"] - x["resistance"].torque, x["fext"]
    ),
    resistance=RESISTED,
    projected=lambda call, x: _solved(call, x, call("rnea_fext", a=0 * x["tau"])),
    inverse="rnea_fext",
    along=ALONG,
)

ROWS = (ABA, ABA_FEXT)
