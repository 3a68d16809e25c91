"""The row of the Coriolis matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rbdgen.functions.arguments import Q, V, square
from rbdgen.functions.coriolis.local import CORIOLIS_MATRIX
from rbdgen.functions.coriolis.one_frame import coriolis, coriolis_sweeps
from rbdgen.functions.form import Form, flat, swept, swept_in_lanes, swept_in_loops
from rbdgen.functions.function import Call, Function, Identity, products
from rbdgen.signature import Signature


def _times_v(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """Both sides of C v = nle - gravity. Friction is odd in v and cancels in the mean of v and -v; springs
    are part of gravity.
    """
    even = (call("nle") + call("nle", v=-x["v"])) / 2
    return products(call("coriolis"), x["v"]), even - call("gravity")


def _momentum(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """Both sides of (C + C^T) v = dp + nle, where dp = C^T v - nle + C v. Resistance cancels."""
    C = call("coriolis")
    return products(C + np.swapaxes(C, -1, -2), x["v"]), call("joint_momentum")[1] + call("nle")


def _rate_of_M(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """Both sides of (C + C^T) a = dM/dt a. The right one is the derivative of M along v, applied to a. It is
    computed from the part of dID/dq that depends on a.
    """
    C, (by_q, *_), (still, *_) = (
        call("coriolis"),
        call("rnea_derivatives"),
        call("rnea_derivatives", a=0 * x["a"]),
    )
    return products(C + np.swapaxes(C, -1, -2), x["a"]), products(by_q - still, x["v"])


CORIOLIS = Function(
    Signature("coriolis", (Q, V), (square("C", "N m s/rad, N s/m, N s", "the Coriolis matrix"),)),
    "Coriolis matrix: C v = nle - g, dM/dt = C + C^T",
    (
        Form(
            "one_frame",
            "Echeandia and Wensing, 2021",
            lambda model, x: [flat(coriolis(model, x.q, x.v, x.naming))],
        ),
        swept(
            "local", "the same in the bodies' own axes, with mass moments", {"C": "dtau_dv"}, CORIOLIS_MATRIX
        ),
        swept_in_loops(
            "one_frame in loops over bodies and pairs of degrees of freedom", ("C",), coriolis_sweeps()
        ),
        swept_in_lanes(
            "one_frame, with degrees of freedom as SIMD lanes", ("C",), coriolis_sweeps(by_own_motion=True)
        ),
    ),
    operations=lambda size: 460 * size.bodies + 31 * size.ancestors,
    pinocchio=lambda pin, model, data, x: pin.computeCoriolisMatrix(model, data, x["q"], x["v"]),
    identities=(
        Identity("C v = nle - gravity, without friction", ("coriolis", "nle", "gravity"), _times_v),
        Identity("dM/dt v = dp + nle", ("nle", "joint_momentum", "coriolis"), _momentum),
        Identity("dM/dt = C + C^T", ("coriolis", "rnea_derivatives"), _rate_of_M),
    ),
)

ROWS = (CORIOLIS,)
