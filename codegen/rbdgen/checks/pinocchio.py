"""Pinocchio as an oracle: its model from the numbers in a manifest, its results in rbdgen's conventions.

Only `rbdgen check` needs this, and only where Pinocchio is installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from rbdgen.functions.function import Function


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


def reference(
    manifest: Mapping[str, Any], functions: Sequence[Function], inputs: Mapping[str, Any]
) -> dict[str, tuple[Any, ...]]:
    """The outputs of every function by Pinocchio at the states of `inputs`, arrays over the states."""
    model = model_of(manifest)
    return {function.name: _outputs(function, model, inputs) for function in functions}


def _outputs(function: Function, model: Any, inputs: Mapping[str, Any]) -> tuple[Any, ...]:
    data = model.createData()
    given = {x.name: (x.kind, inputs[x.name]) for x in function.signature.inputs}
    states = len(next(iter(inputs.values())))
    rows = []
    for k in range(states):
        state = {
            name: external_forces(values[k]) if kind == "external_forces" else values[k]
            for name, (kind, values) in given.items()
        }
        rows.append(outputs_of_state(function, model, data, state))
    return tuple(np.array(part) for part in zip(*rows, strict=True))


def outputs_of_state(function: Function, model: Any, data: Any, state: Mapping[str, Any]) -> list[Any]:
    """One array an output; Pinocchio's own would change with the next state."""
    result = function.pinocchio(pin, model, data, state)
    return [np.array(output, float) for output in (result if isinstance(result, tuple) else (result,))]


def external_forces(rows: Any, bodies: Sequence[int] | None = None) -> Any:
    """One force a joint, the universe first; `bodies`: the joint of every row, None for the order of rows."""
    forces = pin.StdVec_Force()
    forces.extend([pin.Force.Zero()] * (len(rows) + 1))
    for joint, row in zip(bodies or range(1, len(rows) + 1), rows, strict=True):
        forces[int(joint)] = pin.Force(row)
    return forces
