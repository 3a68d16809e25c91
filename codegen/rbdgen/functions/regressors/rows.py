"""The rows of the regressors: the matrices of functions that are linear in the inertial parameters pi."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rbdgen.functions.arguments import A, Q, V
from rbdgen.functions.form import Form, Outputs, cheap, flat
from rbdgen.functions.function import Function
from rbdgen.functions.inverse_dynamics import rows as inverse_dynamics
from rbdgen.functions.regressors import bodies, moments
from rbdgen.functions.regressors.base import base_parameters
from rbdgen.functions.resisting import resisting
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State

_TEXTBOOK = "the equations of motion for unit inertias; Atkeson, An, Hollerbach 1986"
_CHEAP = "the same with classical accelerations, in body axes chosen by count"

_PARAMETERS = "columns: m, m c, Ixx Ixy Iyy Ixz Iyz Izz of every body about its joint's origin"


def _pinocchio_regressor(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    """Pinocchio's regressor as a matrix; for a single degree of freedom Pinocchio returns a vector."""
    Y = pin.computeJointTorqueRegressor(model, data, x["q"], x["v"], x["a"])
    return np.reshape(Y, (model.nv, -1))


REGRESSOR = Function(
    Signature(
        "regressor",
        (Q, V, A),
        (
            Argument(
                "Y",
                "torque_coefficients",
                ("nv", "ninertial"),
                "N m, N per unit",
                f"tau = Y pi; {_PARAMETERS}",
            ),
        ),
    ),
    "regressor of inverse dynamics, tau = Y(q, v, a) pi",
    (
        Form("bodies", _TEXTBOOK, lambda model, x: [flat(bodies.regressor(model, x.q, x.v, x.a, x.naming))]),
        cheap(
            "moments",
            _CHEAP,
            lambda reduced, x: [flat(moments.regressor(reduced, x))],
            can_use_limbs=True,
        ),
    ),
    operations=lambda size: 296 * size.ancestors - 95 * size.bodies,
    measure=(resisting(inverse_dynamics.RNEA), "classical"),
    of_joint_frames=True,
    pinocchio=_pinocchio_regressor,
)

KINETIC_REGRESSOR = Function(
    Signature(
        "kinetic_regressor",
        (Q, V),
        (Argument("K", "energy_coefficients", ("ninertial",), "J per unit", f"T = K pi; {_PARAMETERS}"),),
    ),
    "regressor of the kinetic energy of bodies, T = K(q, v) pi",
    (
        Form("bodies", _TEXTBOOK, lambda model, x: [bodies.kinetic_regressor(model, x.q, x.v, x.naming)]),
        cheap(
            "moments",
            _CHEAP,
            lambda reduced, x: [moments.kinetic_regressor(reduced, x)],
            can_use_limbs=True,
        ),
    ),
    operations=lambda size: 126 * size.bodies,
    pinocchio=lambda pin, model, data, x: np.ravel(
        pin.computeKineticEnergyRegressor(model, data, x["q"], x["v"])
    ),
)

POTENTIAL_REGRESSOR = Function(
    Signature(
        "potential_regressor",
        (Q,),
        (Argument("P", "energy_coefficients", ("ninertial",), "J per unit", f"U = P pi; {_PARAMETERS}"),),
    ),
    "regressor of the potential energy of bodies, U = P(q) pi",
    (
        Form("bodies", _TEXTBOOK, lambda model, x: [bodies.potential_regressor(model, x.q, x.naming)]),
        cheap("moments", _CHEAP, lambda reduced, x: [moments.potential_regressor(reduced, x)]),
    ),
    operations=lambda size: 86 * size.bodies,
    pinocchio=lambda pin, model, data, x: np.ravel(pin.computePotentialEnergyRegressor(model, data, x["q"])),
)


def _base_columns(model: Model, Y: Any) -> Outputs:
    """Yb: the columns of Y that belong to the base parameters, over the independent degrees of freedom."""
    columns = base_parameters(model).columns
    return [[row[k] for row in model.coupling.folded_rows(Y) for k in columns]]


def _cheap_base(reduced: ReducedModel, x: State) -> Outputs:
    return _base_columns(reduced.model, moments.regressor(reduced, x))


REGRESSOR_BASE = Function(
    Signature(
        "regressor_base",
        (Q, V, A),
        (
            Argument(
                "Yb",
                "values",
                ("nv", "nbase"),
                "N m, N per unit",
                "tau = Yb (R pi); base_parameters of the manifest has R and the names of the columns",
            ),
        ),
    ),
    "regressor of the base parameters, tau = Yb(q, v, a) (R pi)",
    (
        Form(
            "bodies",
            _TEXTBOOK,
            lambda model, x: _base_columns(model, bodies.regressor(model, x.q, x.v, x.a, x.naming)),
            degrees="independent",
        ),
        cheap("moments", _CHEAP, _cheap_base, degrees="independent"),
    ),
    operations=lambda size: 296 * size.ancestors - 95 * size.bodies,
    of_joint_frames=True,
    basis=base_parameters,
)

ROWS = (REGRESSOR, KINETIC_REGRESSOR, POTENTIAL_REGRESSOR, REGRESSOR_BASE)
