"""The rows of functions in world-aligned coordinates. Only robots with a floating base have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rbdgen.functions.arguments import Q, V, square
from rbdgen.functions.form import Form, cheap, flat
from rbdgen.functions.function import Call, Function, Identity, symmetric
from rbdgen.functions.needs import FLOATING
from rbdgen.functions.resistance import Added, torque
from rbdgen.functions.world_aligned.turned import (
    crba_world,
    crba_world_moments,
    nle_world,
    nle_world_classical,
)
from rbdgen.signature import Argument, Signature

_SOURCE = "Nakanishi et al., IJRR 2008, eq. 18-30"


def _turn(pin: Any, model: Any, data: Any, q: Any) -> Any:
    """The matrix T that rotates the base's part of a vector to world axes, from Pinocchio."""
    pin.forwardKinematics(model, data, q)
    T = np.eye(model.nv)
    T[:3, :3] = T[3:6, 3:6] = data.oMi[1].rotation
    return T


def _pinocchio_crba(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    T = _turn(pin, model, data, x["q"])
    return T @ symmetric(pin.crba(model, data, x["q"])) @ T.T


def _pinocchio_nle(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    T, a = _turn(pin, model, data, x["q"]), np.zeros(model.nv)
    a[:3] = np.cross(x["v"][:3], x["v"][3:6])
    return T @ pin.rnea(model, data, x["q"], x["v"], a) + x["resistance"].torque


def _with_base_gliding(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    faster = np.array(x["v"])
    faster[..., :3] += 1
    return call("nle_world", v=faster), call("nle_world")


CRBA_WORLD = Function(
    Signature(
        "crba_world",
        (Q,),
        (square("Mw", "kg m^2, kg m, kg", "M, the base's rows and columns in world axes", symmetric=True),),
    ),
    "M of a floating base in world-aligned coordinates",
    (
        Form("turned", _SOURCE, lambda model, x: [flat(crba_world(model, x.q, x.naming))]),
        cheap(
            "moments",
            "composite mass moments; those of the whole robot are rotated",
            lambda reduced, x: [flat(crba_world_moments(reduced, x))],
            can_use_limbs=True,
        ),
    ),
    operations=lambda size: 160 * size.bodies + 48 * size.ancestors,
    pinocchio=_pinocchio_crba,
    needs=(FLOATING,),
    identities=(
        Identity(
            "eigenvalues of Mw are those of M",
            ("crba", "crba_world"),
            lambda call, _: (np.linalg.eigvalsh(call("crba_world")), np.linalg.eigvalsh(call("crba"))),
        ),
    ),
)

NLE_WORLD = Function(
    Signature(
        "nle_world",
        (Q, V),
        (Argument("hw", "force", ("nv",), "N m, N", "C v + g, the base's force and moment in world axes"),),
    ),
    "nonlinear effects C v + g of a floating base in world-aligned coordinates",
    (
        Form("newton_euler", _SOURCE, lambda model, x: [nle_world(model, x.q, x.v, x.naming)]),
        cheap(
            "classical",
            "classical accelerations and mass moments, of a base without linear velocity",
            lambda reduced, x: [nle_world_classical(reduced, x)],
            can_use_limbs=True,
        ),
    ),
    operations=lambda size: 320 * size.bodies,
    pinocchio=_pinocchio_nle,
    needs=(FLOATING,),
    resistance=(Added("hw", torque),),
    identities=(
        Identity("hw does not depend on the linear velocity of the base", ("nle_world",), _with_base_gliding),
    ),
)

ROWS = (CRBA_WORLD, NLE_WORLD)
