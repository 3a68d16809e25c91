"""The rows of functions of a free base that is eliminated. Only robots with a floating base and joints have
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rbdgen.functions.arguments import Q, V
from rbdgen.functions.contacts.inverse_rows import A_BASE, A_JOINTS, TAU_JOINTS
from rbdgen.functions.form import Form, Outputs, cheap, where_coupled
from rbdgen.functions.free_base.eliminated import (
    at_rest,
    crba_free_base,
    crba_free_base_about_com,
    rnea_free_base,
    rnea_free_base_released,
)
from rbdgen.functions.function import Call, Function, Identity, products, symmetric
from rbdgen.functions.needs import FLOATING_WITH_JOINTS
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.sweep import BASE

_SOURCE = "Schur complement of the base's block of M; Nakanishi, Mistry, Schaal, ICRA 2007, eq. 4"
_RELEASED = "inverse dynamics for a base at rest, then the base's acceleration from the composite inertia"
_ON_MOMENTS = "the first form with mass moments, for robots with followers"

# ---- numerically


def _schur(M: Any) -> tuple[Any, Any]:
    """M_jb M_bb^-1 and Mbar."""
    onto = M[..., BASE:, :BASE] @ np.linalg.inv(M[..., :BASE, :BASE])
    return onto, M[..., BASE:, BASE:] - onto @ M[..., :BASE, BASE:]


def _inverse_dynamics(M: Any, h: Any, a_joints: Any) -> tuple[Any, Any]:
    """tau and a_base."""
    onto, Mbar = _schur(M)
    tau = products(Mbar, a_joints) + h[..., BASE:] - products(onto, h[..., :BASE])
    f = h[..., :BASE] + products(M[..., :BASE, BASE:], a_joints)
    return tau, -np.linalg.solve(M[..., :BASE, :BASE], f[..., None])[..., 0]


def _of_pinocchio(pin: Any, model: Any, data: Any, x: Mapping[str, Any], a_joints: Any) -> tuple[Any, Any]:
    M = symmetric(pin.crba(model, data, x["q"]))
    h = pin.nonLinearEffects(model, data, x["q"], x["v"]) + x["resistance"].torque
    return _inverse_dynamics(M, h, a_joints)


def _nle_of_pinocchio(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    return _of_pinocchio(pin, model, data, x, 0 * x["v"][BASE:])[0]


def _nle_of_functions(call: Call, _: object) -> Any:
    h = call("nle")
    return _inverse_dynamics(call("crba"), h, 0 * h[..., BASE:])[0]


# ---- identities


def _inverse_block(call: Call, _: object) -> tuple[Any, Any]:
    product = call("crba_free_base") @ call("minv")[..., BASE:, BASE:]
    return product, np.broadcast_to(np.eye(product.shape[-1]), product.shape)


def _forward(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """Both sides of Mbar a_j + hbar = tau for the accelerations at torques that leave the base alone."""
    tau = np.array(x["tau"])
    tau[..., :BASE] = 0
    a_joints = call("aba", tau=tau)[..., BASE:]
    left = products(call("crba_free_base"), a_joints) + call("nle_free_base")
    return left, tau[..., BASE:]


def _inverse(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    tau = products(call("crba_free_base"), x["a_joints"]) + call("nle_free_base")
    return tau, call("rnea_free_base")[0]


# ---- rows

CRBA_FREE_BASE = Function(
    Signature(
        "crba_free_base",
        (Q,),
        (
            Argument(
                "Mbar",
                "values",
                ("njoints", "njoints"),
                "kg m^2, kg m, kg",
                "M_jj - M_jb M_bb^-1 M_bj; j are the joints, b is the base",
                (0, 1),
            ),
        ),
    ),
    "joint-space inertia matrix of the joints if the base is free: Mbar a_j + hbar = tau",
    (
        Form("block", _SOURCE, crba_free_base, degrees="independent"),
        cheap(
            "about_com",
            "the same with mass moments, about the centre of mass",
            crba_free_base_about_com,
            "independent",
            can_use_limbs=True,
        ),
    ),
    operations=lambda size: 160 * size.bodies + 60 * size.ancestors,
    pinocchio=lambda pin, model, data, x: _schur(symmetric(pin.crba(model, data, x["q"])))[1],
    projected=lambda call, _: _schur(call("crba"))[1],
    identities=(
        Identity("Mbar times the joints' block of Minv = 1", ("minv", "crba_free_base"), _inverse_block),
    ),
    needs=(FLOATING_WITH_JOINTS,),
)


def _without_acceleration(trace: Callable[[Any, State], Outputs]) -> Callable[[Any, State], Outputs]:
    return lambda robot, x: trace(robot, at_rest(robot, x))[:1]


NLE_FREE_BASE = Function(
    Signature(
        "nle_free_base",
        (Q, V),
        (
            Argument(
                "hbar", "values", ("njoints",), "N m, N", "h_j - M_jb M_bb^-1 h_b with h = C v + g of nle"
            ),
        ),
    ),
    "nonlinear effects on the joints if the base is free: Mbar a_j + hbar = tau",
    (
        Form("block", _SOURCE, _without_acceleration(rnea_free_base), degrees="independent"),
        cheap(
            "released", _RELEASED, _without_acceleration(rnea_free_base_released), "tree", can_use_limbs=True
        ),
        cheap(
            "moments",
            _ON_MOMENTS,
            _without_acceleration(rnea_free_base),
            "independent",
            worth_trying=where_coupled,
        ),
    ),
    operations=lambda size: 480 * size.bodies + 48 * size.ancestors,
    pinocchio=_nle_of_pinocchio,
    projected=_nle_of_functions,
    identities=(
        Identity(
            "Mbar a_j + hbar = tau for a = FD(q, v, [0; tau])",
            ("aba", "crba_free_base", "nle_free_base"),
            _forward,
        ),
    ),
    needs=(FLOATING_WITH_JOINTS,),
)

RNEA_FREE_BASE = Function(
    Signature("rnea_free_base", (Q, V, A_JOINTS), (TAU_JOINTS, A_BASE)),
    "joint torques and base acceleration for given accelerations of the joints, without contacts",
    (
        Form("block", f"{_SOURCE}, and 10-11", rnea_free_base, degrees="independent"),
        cheap("released", _RELEASED, rnea_free_base_released, "tree", can_use_limbs=True),
        cheap("moments", _ON_MOMENTS, rnea_free_base, "independent", worth_trying=where_coupled),
    ),
    operations=lambda size: 500 * size.bodies + 48 * size.ancestors,
    pinocchio=lambda pin, model, data, x: _of_pinocchio(pin, model, data, x, x["a_joints"]),
    projected=lambda call, x: _inverse_dynamics(call("crba"), call("nle"), x["a_joints"]),
    identities=(
        Identity(
            "Mbar a_j + hbar = tau",
            ("crba_free_base", "nle_free_base", "rnea_free_base"),
            _inverse,
        ),
    ),
    needs=(FLOATING_WITH_JOINTS,),
)

ROWS = (CRBA_FREE_BASE, NLE_FREE_BASE, RNEA_FREE_BASE)
