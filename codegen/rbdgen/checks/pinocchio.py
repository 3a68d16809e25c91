"""Pinocchio as an oracle: its model from the numbers in a manifest, its results in rbdgen's conventions.

Only `rbdgen check` needs this, and only where Pinocchio is installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pinocchio as pin


def model_of(manifest: Mapping[str, Any]) -> Any:
    """The manifest's bodies as a Pinocchio model."""
    model = pin.Model()
    model.gravity.linear = np.array(manifest["gravity"])
    for body in manifest["bodies"]:
        joint = _joint(body["kind"], np.array(body["axis"]))
        rotation, translation = np.array(body["rotation"]), np.array(body["translation"])
        index = model.addJoint(body["parent"] + 1, joint, pin.SE3(rotation, translation), body["joint"])
        model.appendBodyToJoint(index, _inertia(body), pin.SE3.Identity())
    return model


def _joint(kind: str, axis: Any) -> Any:
    if kind == "floating":
        return pin.JointModelFreeFlyer()
    return (
        pin.JointModelRevoluteUnaligned(axis)
        if kind == "revolute"
        else pin.JointModelPrismaticUnaligned(axis)
    )


def _inertia(body: Mapping[str, Any]) -> Any:
    mass, h = body["mass"], np.array(body["first_moment"])
    about_origin = np.array(body["rotational_inertia"])
    if mass == 0:
        return pin.Inertia(0.0, np.zeros(3), about_origin)
    c = h / mass
    return pin.Inertia(mass, c, about_origin + mass * pin.skew(c) @ pin.skew(c))


def reference(manifest: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What Pinocchio gives for every function at the states of `inputs`, arrays over the states."""
    model = model_of(manifest)
    data = model.createData()
    rows = [
        dict(_state(model, data, {name: array[k] for name, array in inputs.items()}))
        for k in range(len(inputs["q"]))
    ]
    results: dict[str, Any] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if isinstance(values[0], tuple):
            results[name] = tuple(np.array(part) for part in zip(*values, strict=True))
        else:
            results[name] = np.array(values)
    return results


def _state(model: Any, data: Any, x: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    q, v, a, tau = x["q"], x["v"], x["a"], x["tau"]
    fext = pin.StdVec_Force()
    fext.append(pin.Force.Zero())
    for row in x["fext"]:
        fext.append(pin.Force(row[:3], row[3:]))
    yield "rnea", pin.rnea(model, data, q, v, a).copy()
    yield "rnea_fext", pin.rnea(model, data, q, v, a, fext).copy()
    yield "nle", pin.nonLinearEffects(model, data, q, v).copy()
    yield "gravity", pin.computeGeneralizedGravity(model, data, q).copy()
    yield "aba", pin.aba(model, data, q, v, tau).copy()
    yield "aba_fext", pin.aba(model, data, q, v, tau, fext).copy()
    yield "crba", _mirrored(pin.crba(model, data, q))
    yield "minv", _mirrored(pin.computeMinverse(model, data, q))
    pin.computeRNEADerivatives(model, data, q, v, a)
    yield "rnea_derivatives", (data.dtau_dq.copy(), data.dtau_dv.copy(), _mirrored(data.M))
    pin.computeABADerivatives(model, data, q, v, tau)
    yield "aba_derivatives", (data.ddq_dq.copy(), data.ddq_dv.copy(), _mirrored(data.Minv))


def _mirrored(upper: Any) -> Any:
    return np.triu(upper) + np.triu(upper, 1).T
