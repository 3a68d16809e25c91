"""The rows of functions of frames, one row per function and convention. Only robots with chosen frames have
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rbdgen.functions.arguments import A, Q, V
from rbdgen.functions.form import Form, Outputs, cheap, flat
from rbdgen.functions.function import Call, Function, Identity
from rbdgen.functions.kinematics.columns import (
    CONVENTIONS,
    Convention,
    Path,
    columns,
    columns_from_root,
    columns_from_tip,
    jacobian,
)
from rbdgen.functions.kinematics.derivatives import (
    acceleration_derivatives,
    jacobian_derivatives,
    jacobian_rate,
    velocity_derivatives,
)
from rbdgen.functions.kinematics.motion import acceleration, classical_acceleration, drift, velocity
from rbdgen.functions.kinematics.outward import CLASSICAL, SPATIAL, Frames
from rbdgen.functions.kinematics.pinocchio import each_frame, frame_placement
from rbdgen.functions.kinematics.placement import FromRoot, in_world
from rbdgen.functions.needs import FRAMES
from rbdgen.model.reduce import ReducedModel
from rbdgen.model.tree_size import TreeSize
from rbdgen.signature import Argument, Signature
from rbdgen.spatial.ops import Motion, Transform
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import State

_SEEN: Mapping[Convention, str] = {
    "local": "in their own axes, at their origins",
    "world": "in world axes, at the world's origin",
    "aligned": "in world axes, at their origins",
}

_SOURCE = "Featherstone 2008, chapter 2, in world columns"

_RATE, _RATE_2 = "m/s, rad/s", "m/s^2, rad/s^2"

# ---- forms

OfFrame = Callable[[Path, State, int], Outputs]
"""Computes the part of every output that belongs to one frame, from its columns, the state and nv."""


def _by_columns(x: Convention, of_frame: OfFrame) -> list[Form]:
    """The textbook's form, and a cheaper one that starts in the axes of the result: the tip's or the
    root's."""

    def outputs(paths: list[Path], state: State, nv: int) -> Outputs:
        return _joined([of_frame(path, state, nv) for path in paths])

    def textbook(model: Any, state: State) -> Outputs:
        return outputs(columns(model, state.q, x, state.naming), state, model.nv)

    def short(reduced: ReducedModel, state: State) -> Outputs:
        if x == "local":
            return outputs(columns_from_tip(reduced, state.q, state.naming), state, reduced.nv)
        return outputs(columns_from_root(reduced, state.q, x, state.naming), state, reduced.nv)

    name = "from_tip" if x == "local" else "from_root"
    return [
        Form("by_columns", _SOURCE, textbook, former_name="columns"),
        cheap(name, "the same in body axes chosen by count", short),
    ]


def _outward(
    motions: Callable[[ReducedModel, State], list[Motion]], source: str = "bodies in their own axes"
) -> Form:
    return cheap("outward", source, lambda reduced, s: _joined([[_six(m)] for m in motions(reduced, s)]))


def _six(m: Motion) -> list[Scalar]:
    return [*m.linear, *m.angular]


def _placements(placements: Sequence[Transform]) -> Outputs:
    return _joined([[[x for row in R for x in row], [*p]] for R, p in placements])


def _joined(frames: Sequence[Outputs]) -> Outputs:
    """The outputs of all frames from those of each frame."""
    return [flat(parts) for parts in zip(*frames, strict=True)]


# ---- signatures


def _motion(name: str, unit: str, meaning: str, x: Convention) -> Argument:
    return Argument(name, "values", ("nf", 6), unit, f"{meaning} {_SEEN[x]}: linear, angular")


def _matrix(name: str, unit: str, meaning: str, x: Convention) -> Argument:
    return Argument(name, "columns", ("nf", 6, "nv"), unit, f"{meaning} {_SEEN[x]}: linear rows first")


def _placement() -> Function:
    return Function(
        Signature(
            "frame_placement",
            (Q,),
            (
                Argument("R", "values", ("nf", 3, 3), "1", "from each frame's axes to those of the world"),
                Argument("p", "values", ("nf", 3), "m", "each frame's origin in the world"),
            ),
        ),
        "placements of frames in the world",
        (
            Form("bodies", _SOURCE, lambda model, x: _placements(in_world(model, x.q, x.naming)[1])),
            cheap(
                "from_root",
                "the same in body axes chosen by count, row by row",
                lambda reduced, x: _placements(FromRoot.at(reduced, x.q, x.naming).placements()),
            ),
        ),
        operations=lambda size: 124 * size.carriers + 8 * size.frames,
        pinocchio=frame_placement,
    )


def _velocity(x: Convention) -> Function:
    return Function(
        Signature(f"frame_velocity_{x}", (Q, V), (_motion("V", _RATE, "velocities of frames", x),)),
        f"velocities of frames, {x}",
        (
            *_by_columns(x, lambda path, s, nv: [_six(velocity(path, s.v))]),
            _outward(lambda reduced, s: Frames(reduced, s, SPATIAL).velocities(x)),
        ),
        operations=_grows(x, local=(124, 109), world=(153, 2), aligned=(140, 21)),
        pinocchio=each_frame(x, lambda seen, k: seen.asked("getFrameVelocity", k).vector),
    )


def _acceleration(x: Convention) -> Function:
    return Function(
        Signature(
            f"frame_acceleration_{x}",
            (Q, V, A),
            (_motion("A", _RATE_2, "spatial accelerations of frames", x),),
        ),
        f"spatial accelerations of frames, {x}, without gravity",
        (
            *_by_columns(x, lambda path, s, nv: [_six(acceleration(path, s.v, s.a, s.naming))]),
            _outward(lambda reduced, s: Frames(reduced, s, SPATIAL).accelerations(x)),
        ),
        operations=_grows(x, local=(120, 152), world=(191, 4), aligned=(151, 49)),
        pinocchio=each_frame(x, lambda seen, k: seen.asked("getFrameAcceleration", k).vector),
    )


def _classical(x: Convention) -> Function:
    def outward(reduced: ReducedModel, s: State) -> list[Motion]:
        if x == "world":
            return Frames(reduced, s, SPATIAL).classical_from_spatial(x)
        return Frames(reduced, s, CLASSICAL).classical(x)

    return Function(
        Signature(
            f"frame_classical_acceleration_{x}",
            (Q, V, A),
            (_motion("A", _RATE_2, "classical accelerations of frames", x),),
        ),
        f"classical accelerations of frames, {x}, without gravity",
        (
            *_by_columns(x, lambda path, s, nv: [_six(classical_acceleration(path, s.v, s.a, s.naming))]),
            _outward(outward, "bodies in their own axes; Luh, Walker and Paul 1980"),
        ),
        operations=_grows(x, local=(121, 154), world=(194, 4), aligned=(153, 50)),
        pinocchio=each_frame(x, lambda seen, k: seen.asked("getFrameClassicalAcceleration", k).vector),
    )


def _jacobian(x: Convention) -> Function:
    return Function(
        Signature(f"frame_jacobian_{x}", (Q,), (_matrix("J", "m, 1", "J v: velocities of frames", x),)),
        f"Jacobians of frames, {x}",
        tuple(_by_columns(x, lambda path, s, nv: [jacobian(path, nv)])),
        operations=_grows(x, local=(124, 98), world=(142, 2), aligned=(135, 15)),
        pinocchio=each_frame(x, lambda seen, k: seen.columns("getFrameJacobian", k)),
        identities=(
            Identity(
                f"J v = V, {x}",
                (f"frame_velocity_{x}", f"frame_jacobian_{x}"),
                lambda call, given: (
                    _times(call(f"frame_jacobian_{x}"), given["v"]),
                    call(f"frame_velocity_{x}"),
                ),
            ),
        ),
    )


def _jacobian_rate(x: Convention) -> Function:
    return Function(
        Signature(
            f"frame_jacobian_rate_{x}",
            (Q, V),
            (_matrix("dJ", "m/s, 1/s", "rates of the Jacobians of frames", x),),
        ),
        f"rates of the Jacobians of frames, {x}",
        tuple(_by_columns(x, lambda path, s, nv: [jacobian_rate(path, s.v, x, nv, s.naming)])),
        operations=_grows(x, local=(120, 134), world=(183, 2), aligned=(147, 40)),
        pinocchio=each_frame(x, lambda seen, k: seen.columns("getFrameJacobianTimeVariation", k)),
    )


def _drift(x: Convention) -> Function:
    accelerated = "frame_classical_acceleration" if x == "aligned" else "frame_acceleration"
    names = f"{accelerated}_{x}", f"frame_jacobian_{x}", f"frame_drift_{x}"

    def outward(reduced: ReducedModel, s: State) -> list[Motion]:
        if x == "aligned":
            return Frames(reduced, s, CLASSICAL).classical(x)
        return Frames(reduced, s, SPATIAL).accelerations(x)

    def with_drift(call: Call, given: Mapping[str, Any]) -> tuple[Any, Any]:
        return _times(call(names[1]), given["a"]) + call(names[2]), call(names[0])

    return Function(
        Signature(
            names[2], (Q, V), (_motion("drift", _RATE_2, "rates of the velocities of frames at a = 0", x),)
        ),
        f"dJ/dt v of frames, {x}",
        (
            *_by_columns(x, lambda path, s, nv: [_six(drift(path, s.v, x, s.naming))]),
            _outward(outward),
        ),
        operations=_grows(x, local=(120, 140), world=(179, 4), aligned=(147, 44)),
        pinocchio=each_frame(x, lambda seen, k: seen.columns("getFrameJacobianTimeVariation", k) @ seen.v),
        identities=(
            Identity(
                f"dJ/dt v = drift, {x}",
                (f"frame_jacobian_rate_{x}", names[2]),
                lambda call, given: (_times(call(f"frame_jacobian_rate_{x}"), given["v"]), call(names[2])),
            ),
            Identity(f"J a + drift = {accelerated}_{x}", names, with_drift),
        ),
    )


def _jacobian_derivatives(x: Convention) -> Function:
    name = f"frame_jacobian_derivatives_{x}"

    def along_motion(call: Call, given: Mapping[str, Any]) -> tuple[Any, Any]:
        return call(name) @ given["v"], call(f"frame_jacobian_rate_{x}")

    return Function(
        Signature(
            name,
            (Q,),
            (
                Argument(
                    "dJ_dq",
                    "columns",
                    ("nf", 6, "nv", "nv"),
                    "m, 1",
                    f"[f, i, j, k]: derivative of J[f, i, j] along q_k, {_SEEN[x]}: linear rows first",
                ),
            ),
        ),
        f"derivatives of the Jacobians of frames (kinematic Hessians), {x}",
        tuple(_by_columns(x, lambda path, s, nv: [jacobian_derivatives(path, x, nv)])),
        operations=_JACOBIAN_DERIVATIVES[x],
        pinocchio=each_frame(x, lambda seen, k: seen.jacobian_derivatives(k)),
        identities=(
            Identity(
                f"sum over k of dJ/dq_k v_k = dJ/dt, {x}", (f"frame_jacobian_rate_{x}", name), along_motion
            ),
        ),
        derivative_of=f"frame_jacobian_{x}",
        on_request=True,
    )


def _velocity_derivatives(x: Convention) -> Function:
    name = f"frame_velocity_derivatives_{x}"
    return Function(
        Signature(
            name,
            (Q, V),
            (
                _matrix("dv_dq", "m/s, 1/s", "derivatives of velocities of frames along q", x),
                _matrix("dv_dv", "m, 1", "derivatives of velocities of frames by v", x),
            ),
        ),
        f"derivatives of the velocities of frames, {x}",
        tuple(_by_columns(x, lambda path, s, nv: velocity_derivatives(path, s.v, x, nv, s.naming))),
        operations=_grows(x, local=(120, 134), world=(167, 18), aligned=(144, 47)),
        pinocchio=each_frame(x, lambda seen, k: seen.velocity_derivatives(k)),
        identities=(
            Identity(
                f"dV/dv = J, {x}",
                (f"frame_jacobian_{x}", name),
                lambda call, _: (call(name).dv_dv, call(f"frame_jacobian_{x}")),
            ),
        ),
        derivative_of=f"frame_velocity_{x}",
    )


def _acceleration_derivatives(x: Convention) -> Function:
    name = f"frame_acceleration_derivatives_{x}"

    def homogeneous(call: Call, given: Mapping[str, Any]) -> tuple[Any, Any]:
        d = call(name)
        twice = _times(d.da_dv, given["v"]) + 2 * _times(d.da_da, given["a"])
        return twice, 2 * call(f"frame_acceleration_{x}")

    return Function(
        Signature(
            name,
            (Q, V, A),
            (
                _matrix("da_dq", "m/s^2, 1/s^2", "derivatives of spatial accelerations of frames along q", x),
                _matrix("da_dv", "m/s, 1/s", "derivatives of spatial accelerations of frames by v", x),
                _matrix("da_da", "m, 1", "derivatives of spatial accelerations of frames by a", x),
            ),
        ),
        f"derivatives of the spatial accelerations of frames, {x}",
        tuple(_by_columns(x, lambda path, s, nv: acceleration_derivatives(path, s.v, s.a, x, nv, s.naming))),
        operations=_grows(x, local=(103, 269), world=(257, 55), aligned=(165, 150)),
        pinocchio=each_frame(x, lambda seen, k: seen.acceleration_derivatives(k)),
        identities=(
            Identity(f"dA/dv v + 2 dA/da a = 2 A, {x}", (f"frame_acceleration_{x}", name), homogeneous),
        ),
        derivative_of=f"frame_acceleration_{x}",
    )


def _times(J: Any, v: Any) -> Any:
    """The products J v for all states and frames."""
    return np.einsum("...fij,...j->...fi", J, v)


def _grows(x: Convention, **terms: tuple[int, int]) -> Callable[[TreeSize], int]:
    """An estimate of the number of operations.

    `terms` gives, for each convention, the operations of every body that moves a frame, and those of every
    pair of a frame and a body that moves it.
    """
    carrier, frame = terms[x]
    return lambda size: carrier * size.carriers + frame * size.frames


_JACOBIAN_DERIVATIVES: Mapping[Convention, Callable[[TreeSize], int]] = {
    "local": lambda size: 121 * size.carriers + 89 * size.frames + 14 * size.frame_pairs,
    "world": lambda size: 116 * size.carriers + 17 * size.carrier_pairs,
    "aligned": lambda size: 136 * size.carriers + 5 * size.carrier_pairs + 7 * size.frame_pairs,
}


def _rows() -> Iterator[Function]:
    yield _placement()
    for row in (
        _velocity,
        _acceleration,
        _classical,
        _jacobian,
        _jacobian_rate,
        _drift,
        _jacobian_derivatives,
        _velocity_derivatives,
        _acceleration_derivatives,
    ):
        yield from map(row, CONVENTIONS)


ROWS = tuple(replace(row, needs=(FRAMES,)) for row in _rows())
