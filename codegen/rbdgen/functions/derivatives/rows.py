"""The derivatives of inverse and of forward dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rbdgen.functions.derivatives.columns import aba_derivatives_columns
from rbdgen.functions.derivatives.factored import aba_derivatives_factored
from rbdgen.functions.derivatives.forward import aba_derivatives, aba_derivatives_looped
from rbdgen.functions.derivatives.local import rnea_derivatives_local
from rbdgen.functions.derivatives.one_frame import OUTPUTS, derivatives, rnea_derivatives
from rbdgen.functions.function import (
    TAU,
    A,
    Call,
    Form,
    Function,
    Identity,
    Q,
    V,
    cheap,
    flat,
    in_loops,
    square,
    swept_in_loops,
    symmetric,
)
from rbdgen.functions.resistance import Added, by_acceleration, by_position, by_velocity, less, slopes
from rbdgen.signature import Signature


def _pinocchio_rnea_derivatives(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    pin.computeRNEADerivatives(model, data, x["q"], x["v"], x["a"])
    by_q, by_v = x["resistance"].slopes
    return data.dtau_dq + np.diag(by_q), data.dtau_dv + np.diag(by_v), symmetric(data.M)


def _pinocchio_aba_derivatives(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    pin.computeABADerivatives(model, data, x["q"], x["v"], x["tau"] - x["resistance"].torque)
    by_q, by_v = x["resistance"].slopes
    Minv = symmetric(data.Minv)
    return data.ddq_dq - Minv * by_q, data.ddq_dv - Minv * by_v, Minv


def _by_inverse_dynamics(call: Call, _: object) -> Any:
    by_q, by_v, M = call("rnea_derivatives", a=call("aba"))
    Minv = np.linalg.inv(M)
    return -Minv @ by_q, -Minv @ by_v, Minv


ROWS = (
    Function(
        Signature(
            "rnea_derivatives",
            (Q, V, A),
            (
                square("dtau_dq", "N m/rad, N/m", "dID/dq, in the tangent space of q"),
                square("dtau_dv", "N m s/rad, N s/m", "dID/dv"),
                square("dtau_da", "kg m^2, kg m, kg", "dID/da = M", symmetric=True),
            ),
        ),
        "analytical derivatives of inverse dynamics",
        (
            Form(
                "one_frame",
                "Singh, Russell, Wensing, RA-L 2022",
                lambda model, x: list(map(flat, rnea_derivatives(model, x.q, x.v, x.a, x.naming)[:3])),
            ),
            cheap(
                "local",
                "the same in the bodies' own axes, mass moments",
                lambda reduced, x: list(
                    map(flat, rnea_derivatives_local(reduced, x.q, x.v, x.a, naming=x.naming)[:3])
                ),
            ),
            swept_in_loops("one_frame in loops over bodies and pairs of freedoms", OUTPUTS, derivatives()),
        ),
        operations=lambda size: 760 * size.bodies + 69 * size.ancestors,
        pinocchio=_pinocchio_rnea_derivatives,
        identities=(
            Identity(
                "dID/da = M",
                ("rnea_derivatives", "crba"),
                lambda call, _: (call("rnea_derivatives")[2], call("crba")),
            ),
        ),
        resistance=(
            Added("dtau_dq", by_position),
            Added("dtau_dv", by_velocity),
            Added("dtau_da", by_acceleration),
        ),
        derivative_of="rnea",
    ),
    Function(
        Signature(
            "aba_derivatives",
            (Q, V, TAU),
            (
                square("da_dq", "1/s^2, m/s^2/rad", "dFD/dq, in the tangent space of q"),
                square("da_dv", "1/s, m/s/rad", "dFD/dv"),
                square("da_dtau", "1/(kg m^2), 1/(kg m), 1/kg", "dFD/dtau = M^-1", symmetric=True),
            ),
        ),
        "analytical derivatives of forward dynamics",
        (
            Form(
                "product",
                "Carpentier and Mansard, RSS 2018, eq. 24",
                lambda model, x: list(
                    map(flat, aba_derivatives(model, x.q, x.v, less(model, x), x.naming, slopes(model, x)))
                ),
                over="independent",
            ),
            cheap(
                "factor_factor",
                "eq. 24 on mass moments: qdd by the factor form, columns by the factor",
                lambda reduced, x: list(
                    map(
                        flat,
                        aba_derivatives_factored(
                            reduced,
                            x.q,
                            x.v,
                            less(reduced.model, x),
                            naming=x.naming,
                            resistance=slopes(reduced.model, x),
                        ),
                    )
                ),
                "independent",
            ),
            in_loops(
                "eq. 24 on mass moments, one sparse product W D^-1 W^T run for every column",
                aba_derivatives_columns,
                "columns",
                compact=False,
                over="independent",
            ),
            in_loops(
                "eq. 24 of the looped forms of aba, rnea_derivatives and minv",
                aba_derivatives_looped,
                over="tree",
            ),
        ),
        operations=lambda size: (
            1450 * size.bodies + 69 * size.ancestors + 2 * size.factor + size.inverse + 4 * size.products
        ),
        pinocchio=_pinocchio_aba_derivatives,
        identities=(
            Identity(
                "dFD/dtau = Minv",
                ("aba_derivatives", "minv"),
                lambda call, _: (call("aba_derivatives")[2], call("minv")),
            ),
        ),
        derivative_of="aba",
        projected=_by_inverse_dynamics,
    ),
)
