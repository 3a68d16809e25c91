"""The rows of functions of frames in operational space, one row per function and convention."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from rbdgen.functions.arguments import Q, V
from rbdgen.functions.form import Form, Outputs, cheap
from rbdgen.functions.function import Call, Function, Identity, symmetric
from rbdgen.functions.kinematics.columns import CONVENTIONS, Convention
from rbdgen.functions.kinematics.pinocchio import Seen
from rbdgen.functions.needs import FRAMES
from rbdgen.functions.operational.frames import frame_bias, frame_inertia, frame_mobility
from rbdgen.model.tree_size import TreeSize
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State

_SOURCE = "CRBA, L^T D L and J in columns; Khatib 1987; Featherstone 2008, section 8.5"

_SEEN: Mapping[Convention, str] = {
    "local": "in the frames' own axes",
    "world": "in world axes, at the world's origin",
    "aligned": "in world axes, at the frames' origins",
}

_ACCELERATION: Mapping[Convention, str] = {
    "local": "frame_acceleration_local",
    "world": "frame_acceleration_world",
    "aligned": "frame_classical_acceleration_aligned",
}
"""The acceleration A of J a + drift = A."""

SOFTNESS = Argument(
    "mu",
    "nonnegative",
    (1,),
    "1/kg, 1/(kg m^2)",
    "added to the diagonal of J M^-1 J^T; 0 if the rows of J are independent, otherwise such as 1e-8",
    default=0.0,
)

# ---- numerically


def _mobility(M: Any, J: Any) -> Any:
    """J M^-1 J^T for a stacked J."""
    return J @ np.linalg.solve(M, np.swapaxes(J, -1, -2))


def _solved(G: Any, mu: Any, right: Any) -> Any:
    """(G + mu)^-1 times a matrix."""
    return np.linalg.solve(G + mu[..., None] * np.eye(G.shape[-1]), right)


def _stacked(J: Any) -> Any:
    """J of all frames as one matrix."""
    return J.reshape(*J.shape[:-3], -1, J.shape[-1])


def _by_frames(G: Any) -> Any:
    n = G.shape[-1] // 6
    return G.reshape(*G.shape[:-2], n, 6, n, 6)


Solve = Callable[[Any, Any, Any, Any, Any], Any]
"""Computes an output from M, the stacked J, h, the stacked drift and mu. h and drift are None without v."""


def _of_mobility(M: Any, J: Any, h: Any, drift: Any, mu: Any) -> Any:
    del h, drift, mu
    return _by_frames(_mobility(M, J))


def _of_inertia(M: Any, J: Any, h: Any, drift: Any, mu: Any) -> Any:
    del h, drift
    return _by_frames(_solved(_mobility(M, J), mu, np.eye(J.shape[-2])))


def _of_bias(M: Any, J: Any, h: Any, drift: Any, mu: Any) -> Any:
    falling = J @ np.linalg.solve(M, h[..., None]) - drift[..., None]
    found = _solved(_mobility(M, J), mu, falling)[..., 0]
    return found.reshape(*found.shape[:-1], -1, 6)


def _of_pinocchio(x: Convention, of: Solve) -> Callable[[Any, Any, Any, Mapping[str, Any]], Any]:
    def reference(pin: Any, model: Any, data: Any, given: Mapping[str, Any]) -> Any:
        seen = Seen(pin, model, data, given, x)
        J = np.vstack([seen.columns("getFrameJacobian", k) for k in seen.frames])
        dJ = np.vstack([seen.columns("getFrameJacobianTimeVariation", k) for k in seen.frames])
        M, mu = symmetric(pin.crba(model, data, given["q"])), given.get("mu")
        if "v" not in given:
            return of(M, J, None, None, mu)
        h = pin.nonLinearEffects(model, data, given["q"], given["v"]) + given["resistance"].torque
        return of(M, J, h, dJ @ given["v"], mu)

    return reference


def _of_functions(x: Convention, of: Solve) -> Callable[[Call, Mapping[str, Any]], Any]:
    def projected(call: Call, given: Mapping[str, Any]) -> Any:
        M, J, mu = call("crba"), _stacked(call(f"frame_jacobian_{x}")), given.get("mu")
        if "v" not in given:
            return of(M, J, None, None, mu)
        drift = call(f"frame_drift_{x}")
        return of(M, J, call("nle"), drift.reshape(len(drift), -1), mu)

    return projected


# ---- rows


def _forms(x: Convention, of: Callable[[Any, State, Convention], Outputs]) -> tuple[Form, ...]:
    return (
        Form("by_columns", _SOURCE, lambda model, s: of(model, s, x), degrees="independent"),
        cheap(
            "moments",
            "the same with mass moments, in body axes chosen by count",
            lambda reduced, s: of(reduced, s, x),
            "independent",
        ),
    )


class _Cost(NamedTuple):
    """The operations for J, J M^-1 J^T and h, which each convention shares among frames in its own way."""

    frame: int
    """For every body that moves a frame, of J and its products."""
    pair: int
    """For every pair of bodies that move one frame."""
    bias_body: int
    """For every body, of h."""
    bias_frame: int
    """For every body that moves a frame, of the drift."""


_COST: Mapping[Convention, _Cost] = {
    "local": _Cost(102, 21, 153, 122),
    "world": _Cost(104, 0, 267, 8),
    "aligned": _Cost(66, 11, 205, 74),
}


def _operations(x: Convention, *, solves: int = 0, bias: bool = False) -> Callable[[TreeSize], int]:
    """An estimate for a function that takes `solves` operations for the inverse or the solution of a matrix
    6 x 6.
    """
    cost = _COST[x]

    def estimate(size: TreeSize) -> int:
        M = 160 * size.bodies + 48 * size.ancestors + size.factor
        G = cost.frame * size.frames + cost.pair * size.frame_pairs + solves * size.frame_solves
        return M + G + (cost.bias_body * size.bodies + cost.bias_frame * size.frames if bias else 0)

    return estimate


def _matrix(name: str, unit: str, meaning: str, x: Convention) -> Argument:
    meaning = f"{meaning}, {_SEEN[x]}: [f, i, g, j] is row i of frame f, column j of frame g"
    return Argument(name, "values", ("nf", 6, "nf", 6), unit, meaning)


def _mobility_row(x: Convention) -> Function:
    name = f"frame_mobility_{x}"

    def of_J(call: Call, _: object) -> tuple[Any, Any]:
        J = _stacked(call(f"frame_jacobian_{x}"))
        return _by_frames(J @ call("minv") @ np.swapaxes(J, -1, -2)), call(name)

    return Function(
        Signature(
            name,
            (Q,),
            (_matrix("G", "1/kg, 1/(kg m), 1/(kg m^2)", "J M^-1 J^T", x),),
        ),
        f"accelerations of frames per unit force on them, J M^-1 J^T, {x}",
        _forms(x, frame_mobility),
        operations=_operations(x),
        pinocchio=_of_pinocchio(x, _of_mobility),
        projected=_of_functions(x, _of_mobility),
        identities=(Identity(f"J Minv J^T = G, {x}", ("minv", f"frame_jacobian_{x}", name), of_J),),
        needs=(FRAMES,),
    )


def _inertia_row(x: Convention) -> Function:
    name = f"frame_inertia_{x}"

    def inverse(call: Call, given: Mapping[str, Any]) -> tuple[Any, Any]:
        G, Lambda = (_square(call(each)) for each in (f"frame_mobility_{x}", name))
        n = G.shape[-1]
        product = (G + given["mu"][..., None] * np.eye(n)) @ Lambda
        return product, np.broadcast_to(np.eye(n), product.shape)

    return Function(
        Signature(
            name,
            (Q, SOFTNESS),
            (_matrix("Lambda", "kg, kg m, kg m^2", "(J M^-1 J^T + mu 1)^-1", x),),
        ),
        f"operational-space inertia of frames, Lambda = (J M^-1 J^T)^-1, {x}",
        _forms(x, frame_inertia),
        operations=_operations(x, solves=216),
        pinocchio=_of_pinocchio(x, _of_inertia),
        projected=_of_functions(x, _of_inertia),
        identities=(Identity(f"(G + mu) Lambda = 1, {x}", (f"frame_mobility_{x}", name), inverse),),
        needs=(FRAMES,),
    )


def _bias_row(x: Convention) -> Function:
    name = f"frame_bias_{x}"

    def falling(call: Call, given: Mapping[str, Any]) -> tuple[Any, Any]:
        """Both sides of (G + mu) bias = -A for the accelerations A of frames without torques."""
        G = _square(call(f"frame_mobility_{x}"))
        G = G + given["mu"][..., None] * np.eye(G.shape[-1])
        a = call("aba", tau=0 * given["tau"])
        A = call(_ACCELERATION[x], a=a)
        bias = call(name)
        return (G @ bias.reshape(len(bias), -1, 1))[..., 0].reshape(bias.shape), -A

    return Function(
        Signature(
            name,
            (Q, V, SOFTNESS),
            (
                Argument(
                    "bias",
                    "values",
                    ("nf", 6),
                    "N, N m",
                    f"Lambda (J M^-1 h - dJ/dt v) with h of nle, {_SEEN[x]}: force, moment",
                ),
            ),
        ),
        f"operational-space bias forces of frames: Lambda A + bias = F, {x}",
        _forms(x, frame_bias),
        operations=_operations(x, solves=72, bias=True),
        pinocchio=_of_pinocchio(x, _of_bias),
        projected=_of_functions(x, _of_bias),
        identities=(
            Identity(
                f"(G + mu) bias = -A for FD(q, v, 0), {x}",
                ("aba", _ACCELERATION[x], f"frame_mobility_{x}", name),
                falling,
            ),
        ),
        needs=(FRAMES,),
    )


def _square(G: Any) -> Any:
    n = G.shape[-1] * G.shape[-2]
    return G.reshape(*G.shape[:-4], n, n)


def _rows() -> Iterator[Function]:
    for row in (_mobility_row, _inertia_row, _bias_row):
        yield from map(row, CONVENTIONS)


ROWS = tuple(_rows())
