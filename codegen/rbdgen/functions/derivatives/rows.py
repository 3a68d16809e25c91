"""The rows of the derivatives of inverse and forward dynamics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rbdgen.functions.arguments import FEXT, TAU, A, Q, V, square
from rbdgen.functions.derivatives.by_forces import (
    aba_fext_derivatives_columns,
    motions_by_rates,
    motions_by_rates_local,
    unit_rates,
)
from rbdgen.functions.derivatives.columns import aba_derivatives_columns
from rbdgen.functions.derivatives.factored import aba_and_derivatives_factored
from rbdgen.functions.derivatives.forward import aba_and_derivatives, aba_derivatives_looped
from rbdgen.functions.derivatives.forward_vectors import aba_derivatives_vectors
from rbdgen.functions.derivatives.in_limbs import aba_derivatives_in_limbs, limbs_and_columns_fill
from rbdgen.functions.derivatives.local import derivatives_in_own_axes, rnea_derivatives_local
from rbdgen.functions.derivatives.one_frame import OUTPUTS, TORQUES, derivatives, rnea_derivatives
from rbdgen.functions.form import Form, Outputs, cheap, flat, in_loops, swept, swept_in_lanes, swept_in_loops
from rbdgen.functions.function import Call, Function, Identity, symmetric
from rbdgen.functions.inverse_dynamics.rows import RESISTED as TORQUES_RESISTED
from rbdgen.functions.resistance import Added, by_acceleration, by_position, by_velocity, less, slopes
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.signature import Argument, Signature
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.freedoms import freedoms_fill
from rbdgen.sweeps.inputs import State

_ONE_FRAME = "Singh, Russell, Wensing, RA-L 2022"
_LOCAL = "the same in the bodies' own axes, with mass moments"
_PRODUCT = "Carpentier and Mansard, RSS 2018, eq. 24"
_FACTOR = "eq. 24 with mass moments; accelerations and columns by the factor of M"
_COLUMNS = "eq. 24 with mass moments; one sparse product with W D^-1 W^T runs for every column"
_JACOBIANS = "-J^T by sweeps at unit rates"
_RESPONSES = "M^-1 J^T by sweeps at rates M^-1 e_i"


def _one_frame(model: Model, x: State) -> Outputs:
    *derivatives, tau = rnea_derivatives(model, x.q, x.v, x.a, x.fext, x.naming)
    return [tau, *map(flat, derivatives)]


def _local(reduced: ReducedModel, x: State) -> Outputs:
    return list(map(flat, rnea_derivatives_local(reduced, x.q, x.v, x.a, x.fext, x.naming)[:3]))


def _product(model: Model, x: State) -> Outputs:
    tau, resistance = less(model, x), slopes(model, x)
    a, found = aba_and_derivatives(model, x.q, x.v, tau, x.fext, x.naming, resistance)
    return [a, *map(flat, found)]


def _factor_factor(reduced: ReducedModel, x: State) -> Outputs:
    a, found = aba_and_derivatives_factored(reduced, x)
    return [a, *map(flat, found)]


def _one_frame_fext(model: Model, x: State) -> Outputs:
    by_fext = motions_by_rates(model, x.q, unit_rates(model.nv, -1), x.naming)
    return [*_one_frame(model, x)[1:], flat(by_fext)]


def _local_fext(reduced: ReducedModel, x: State) -> Outputs:
    by_fext = motions_by_rates_local(reduced, x.q, unit_rates(reduced.nv, -1), x.naming)
    return [*_local(reduced, x), flat(by_fext)]


def _product_fext(model: Model, x: State) -> Outputs:
    _, *found = _product(model, x)
    rates = list(map(model.coupling.extended, _rows(found[-1], model)))
    return [*found, flat(motions_by_rates(model, x.q, rates, x.naming))]


def _factored_fext(reduced: ReducedModel, x: State) -> Outputs:
    _, *found = _factor_factor(reduced, x)
    rates = list(map(reduced.model.coupling.extended, _rows(found[-1], reduced.model)))
    return [*found, flat(motions_by_rates_local(reduced, x.q, rates, x.naming))]


def _rows(matrix: Sequence[Scalar], model: Model) -> list[Sequence[Scalar]]:
    """The rows of a matrix over the independent degrees of freedom."""
    nv = model.coupling.independent
    return [matrix[k : k + nv] for k in range(0, nv * nv, nv)]


def _pinocchio_rnea_derivatives(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    pin.computeRNEADerivatives(model, data, x["q"], x["v"], x["a"], *_forces(x))
    by_q, by_v = x["resistance"].slopes
    return data.dtau_dq + np.diag(by_q), data.dtau_dv + np.diag(by_v), symmetric(data.M)


def _pinocchio_rnea_and_derivatives(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    derivatives = _pinocchio_rnea_derivatives(pin, model, data, x)
    return data.tau + x["resistance"].torque, *derivatives


def _pinocchio_aba_derivatives(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    pin.computeABADerivatives(model, data, x["q"], x["v"], x["tau"] - x["resistance"].torque, *_forces(x))
    by_q, by_v = x["resistance"].slopes
    Minv = symmetric(data.Minv)
    return data.ddq_dq - Minv * by_q, data.ddq_dv - Minv * by_v, Minv


def _pinocchio_aba_and_derivatives(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    derivatives = _pinocchio_aba_derivatives(pin, model, data, x)
    return data.ddq.copy(), *derivatives


def _forces(x: Mapping[str, Any]) -> tuple[Any, ...]:
    return (x["fext"],) if "fext" in x else ()


def _pinocchio_jacobians(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    """J^T of every joint, nv x joints x 6.

    If the robot has one degree of freedom, Pinocchio returns J as a vector.
    """
    pin.computeJointJacobians(model, data, x["q"])
    Js = (pin.getJointJacobian(model, data, k, pin.LOCAL) for k in range(1, model.njoints))
    return np.stack([np.reshape(J, (6, model.nv)).T for J in Js], axis=1)


def _pinocchio_rnea_fext_derivatives(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    JT = _pinocchio_jacobians(pin, model, data, x)
    return *_pinocchio_rnea_derivatives(pin, model, data, x), -JT


def _pinocchio_aba_fext_derivatives(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    JT = _pinocchio_jacobians(pin, model, data, x)
    *others, Minv = _pinocchio_aba_derivatives(pin, model, data, x)
    return *others, Minv, np.tensordot(Minv, JT, 1)


def _by_inverse_dynamics(call: Call, _: object) -> Any:
    by_q, by_v, M = call("rnea_derivatives", a=call("aba"))
    Minv = np.linalg.inv(M)
    return -Minv @ by_q, -Minv @ by_v, Minv


def _by_inverse_dynamics_with_forces(call: Call, _: object) -> Any:
    by_q, by_v, M, by_fext = call("rnea_fext_derivatives", a=call("aba_fext"))
    Minv = np.linalg.inv(M)
    return -Minv @ by_q, -Minv @ by_v, Minv, -np.einsum("kij,kjbc->kibc", Minv, by_fext)


def _balance(call: Call, _: object) -> Any:
    """Both sides of M da/du = -dID/du at a = FD, for u = q, v and fext."""
    *by_state, M, by_fext = call("rnea_fext_derivatives", a=call("aba_fext"))
    da_dq, da_dv, _, da_dfext = call("aba_fext_derivatives")
    sides = M @ da_dq, M @ da_dv, np.einsum("kij,kjbc->kibc", M, da_dfext)
    return sides, tuple(-change for change in (*by_state, by_fext))


def _by_forces(name: str, unit: str, meaning: str) -> Argument:
    return Argument(name, "by_external_forces", ("nv", "nbodies", 6), unit, meaning)


BY_INVERSE_DYNAMICS = (
    square("dtau_dq", "N m/rad, N/m", "dID/dq, in the tangent space of q"),
    square("dtau_dv", "N m s/rad, N s/m", "dID/dv"),
    square("dtau_da", "kg m^2, kg m, kg", "dID/da = M", symmetric=True),
)

BY_FORWARD_DYNAMICS = (
    square("da_dq", "1/s^2, m/s^2/rad", "dFD/dq, in the tangent space of q"),
    square("da_dv", "1/s, m/s/rad", "dFD/dv"),
    square("da_dtau", "1/(kg m^2), 1/(kg m), 1/kg", "dFD/dtau = M^-1", symmetric=True),
)

RESISTED = (
    Added("dtau_dq", by_position),
    Added("dtau_dv", by_velocity),
    Added("dtau_da", by_acceleration),
)


def _of_inverse_dynamics(*, values: bool) -> tuple[Form, ...]:
    """The forms of the derivatives of inverse dynamics; with `values`, the torques come first."""
    outputs = ("tau", *OUTPUTS) if values else OUTPUTS
    torques = (TORQUES,) if values else ()
    loops = "one_frame in loops over bodies and pairs of degrees of freedom"
    lanes = swept_in_lanes(
        "one_frame, with degrees of freedom as SIMD lanes", OUTPUTS, derivatives(by_own_motion=True)
    )
    return (
        Form("one_frame", _ONE_FRAME, lambda model, x: _one_frame(model, x)[0 if values else 1 :]),
        swept("local", _LOCAL, outputs, derivatives_in_own_axes()),
        swept_in_loops(loops, outputs, (*derivatives(), *torques)),
        *(() if values else (lanes,)),
    )


RNEA_DERIVATIVES = Function(
    Signature("rnea_derivatives", (Q, V, A), BY_INVERSE_DYNAMICS),
    "analytical derivatives of inverse dynamics",
    _of_inverse_dynamics(values=False),
    operations=lambda size: 760 * size.bodies + 69 * size.ancestors,
    pinocchio=_pinocchio_rnea_derivatives,
    identities=(
        Identity(
            "dID/da = M",
            ("rnea_derivatives", "crba"),
            lambda call, _: (call("rnea_derivatives")[2], call("crba")),
        ),
    ),
    resistance=RESISTED,
    derivative_of="rnea",
)

RNEA_AND_DERIVATIVES = replace(
    RNEA_DERIVATIVES,
    signature=Signature("rnea_and_derivatives", (Q, V, A), (TAU, *BY_INVERSE_DYNAMICS)),
    summary="inverse dynamics and its analytical derivatives, in one call",
    forms=_of_inverse_dynamics(values=True),
    pinocchio=_pinocchio_rnea_and_derivatives,
    identities=(
        Identity(
            "tau and its derivatives are those of rnea and rnea_derivatives",
            ("rnea", "rnea_derivatives", "rnea_and_derivatives"),
            lambda call, _: (call("rnea_and_derivatives"), (call("rnea"), *call("rnea_derivatives"))),
        ),
    ),
    resistance=(*TORQUES_RESISTED, *RESISTED),
    derivative_of=None,
    on_request=True,
)


def _of_forward_dynamics(*, values: bool) -> tuple[Form, ...]:
    """The forms of the derivatives of forward dynamics; with `values`, the accelerations come first."""
    first = 0 if values else 1
    return (
        Form("product", _PRODUCT, lambda model, x: _product(model, x)[first:], degrees="independent"),
        cheap("factor_factor", _FACTOR, lambda reduced, x: _factor_factor(reduced, x)[first:], "independent"),
        in_loops(
            _COLUMNS,
            partial(aba_derivatives_columns, values=values),
            "columns",
            for_size=False,
            degrees="independent",
        ),
        in_loops(
            "eq. 24, with degrees of freedom, then columns, as SIMD lanes",
            partial(aba_derivatives_vectors, values=values),
            "freedoms",
            for_size=False,
            degrees="tree",
            worth_trying=freedoms_fill,
            former_name="vectors",
        ),
        in_loops(
            "eq. 24, with columns as SIMD lanes; what comes before the last product may have limbs as lanes",
            partial(aba_derivatives_in_limbs, values=values),
            "halves",
            for_size=False,
            degrees="tree",
            worth_trying=limbs_and_columns_fill,
            can_use_limbs=True,
        ),
        in_loops(
            "eq. 24, from the looped forms of aba, rnea_derivatives and minv",
            partial(aba_derivatives_looped, values=values),
            degrees="tree",
        ),
    )


ABA_DERIVATIVES = Function(
    Signature("aba_derivatives", (Q, V, TAU), BY_FORWARD_DYNAMICS),
    "analytical derivatives of forward dynamics",
    _of_forward_dynamics(values=False),
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
)

ABA_AND_DERIVATIVES = replace(
    ABA_DERIVATIVES,
    signature=Signature("aba_and_derivatives", (Q, V, TAU), (A, *BY_FORWARD_DYNAMICS)),
    summary="forward dynamics and its analytical derivatives, in one call",
    forms=_of_forward_dynamics(values=True),
    pinocchio=_pinocchio_aba_and_derivatives,
    identities=(
        Identity(
            "a and its derivatives are those of aba and aba_derivatives",
            ("aba", "aba_derivatives", "aba_and_derivatives"),
            lambda call, _: (call("aba_and_derivatives"), (call("aba"), *call("aba_derivatives"))),
        ),
    ),
    derivative_of=None,
    projected=lambda call, x: (call("aba"), *_by_inverse_dynamics(call, x)),
    on_request=True,
)

RNEA_FEXT_DERIVATIVES = Function(
    Signature(
        "rnea_fext_derivatives",
        (Q, V, A, FEXT),
        (*BY_INVERSE_DYNAMICS, _by_forces("dtau_dfext", "m, 1", "dID/dfext = -J^T of every body")),
    ),
    "analytical derivatives of rnea_fext, also by fext",
    (
        Form("one_frame", f"{_ONE_FRAME}; {_JACOBIANS}", _one_frame_fext),
        cheap("local", _LOCAL, _local_fext),
    ),
    operations=lambda size: 750 * size.bodies + 112 * size.ancestors,
    pinocchio=_pinocchio_rnea_fext_derivatives,
    identities=(
        Identity(
            "rnea_fext_derivatives at fext = 0 are rnea_derivatives",
            ("rnea_derivatives", "rnea_fext_derivatives"),
            lambda call, x: (
                call("rnea_fext_derivatives", fext=0 * x["fext"])[:3],
                call("rnea_derivatives"),
            ),
        ),
        Identity(
            "ID is linear in fext",
            ("rnea", "rnea_fext", "rnea_fext_derivatives"),
            lambda call, x: (
                np.einsum("kibc,kbc->ki", call("rnea_fext_derivatives")[3], x["fext"]),
                call("rnea_fext") - call("rnea"),
            ),
        ),
    ),
    resistance=RESISTED,
    derivative_of="rnea_fext",
)

ABA_FEXT_DERIVATIVES = Function(
    Signature(
        "aba_fext_derivatives",
        (Q, V, TAU, FEXT),
        (
            *BY_FORWARD_DYNAMICS,
            _by_forces("da_dfext", "1/kg, 1/(kg m), 1/(kg m^2)", "dFD/dfext = M^-1 J^T of every body"),
        ),
    ),
    "analytical derivatives of aba_fext, also by fext",
    (
        Form("product", f"{_PRODUCT}; {_RESPONSES}", _product_fext, degrees="independent"),
        cheap("factor_factor", _FACTOR, _factored_fext, "independent"),
        in_loops(
            f"{_COLUMNS}, and a sweep for every row of M^-1",
            aba_fext_derivatives_columns,
            "columns",
            for_size=False,
            degrees="independent",
        ),
    ),
    operations=lambda size: (
        1490 * size.bodies
        + 69 * size.ancestors
        + 2 * size.factor
        + size.inverse
        + 4 * size.products
        + 48 * size.connected
    ),
    pinocchio=_pinocchio_aba_fext_derivatives,
    identities=(
        Identity(
            "M dFD = -dID at a = FD",
            ("rnea_fext_derivatives", "aba_fext", "aba_fext_derivatives"),
            _balance,
        ),
    ),
    derivative_of="aba_fext",
    projected=_by_inverse_dynamics_with_forces,
)

ROWS = (
    RNEA_DERIVATIVES,
    RNEA_AND_DERIVATIVES,
    ABA_DERIVATIVES,
    ABA_AND_DERIVATIVES,
    RNEA_FEXT_DERIVATIVES,
    ABA_FEXT_DERIVATIVES,
)
