"""Pinocchio as a reference: its model of a URDF or of given numbers, and its results for every function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from rbdgen.checks.pinocchio import (
    add_frame,
    add_rotors,
    configuration_of,
    external_forces,
    held_by,
    joint_of,
    outputs_of_state,
    ten_columns,
)
from rbdgen.functions.table import lookup
from rbdgen.model.build import Base
from rbdgen.model.frames import Frame
from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import Joint
from rbdgen.model.model import WORLD, Model
from rbdgen.signature import Kind

Array = NDArray[np.float64]
Inputs = Mapping[str, Array]


def model_of_urdf(text: str, base: Base = "fixed") -> Any:
    """Pinocchio's model of a URDF, except that continuous joints have one coordinate, as in rbdgen."""
    one_coordinate = text.replace('type="continuous"', 'type="revolute"')
    if base == "floating":
        return pin.buildModelFromXML(one_coordinate, pin.JointModelFreeFlyer())
    return pin.buildModelFromXML(one_coordinate)


def model_of_numbers(model: Model) -> Any:
    """Pinocchio's model with the placements, axes and inertias of this one."""
    result = pin.Model()
    result.name = model.name
    result.gravity.linear = np.array([float(x) for x in model.gravity])
    for body in model.bodies:
        parent = 0 if body.parent == WORLD else body.parent + 1
        R = np.array([[float(x) for x in row] for row in body.placement.rotation])
        p = np.array([float(x) for x in body.placement.translation])
        index = result.addJoint(parent, pinocchio_joint(body.joint), pin.SE3(R, p), body.joint.name)
        result.appendBodyToJoint(index, _inertia(body.inertia), pin.SE3.Identity())
    for frame in model.frames:
        R, p = frame.placement
        add_frame(result, frame.name, frame.body, [[float(x) for x in row] for row in R], [*map(float, p)])
    return result


def pinocchio_joint(joint: Joint) -> Any:
    """Pinocchio's joint of the same type and axis."""
    return joint_of(joint.type.name, [float(x) for x in joint.axis], float(getattr(joint.type, "pitch", 0)))


def _inertia(inertia: Inertia) -> Any:
    m = float(inertia.mass)
    center = np.array([float(x) for x in inertia.first_moment]) / (m or 1.0)
    J = np.array([[float(x) for x in row] for row in inertia.rotational])
    skew = pin.skew(center)
    return pin.Inertia(m, center, J + m * skew @ skew)


def resistance_of(model: Model) -> list[dict[str, Any]]:
    """The rows of joint resistance, as in a manifest."""
    return [
        {
            "joint": body.joint.name,
            "velocity_scale": body.joint.resistance.smoothing,
            **vars(body.joint.resistance),
        }
        for body in model.bodies
        if body.joint.resistance.acts
    ]


def contacts_of(model: Model) -> list[dict[str, Any]]:
    """The rows of contacts, as in a manifest."""
    return [
        {"name": contact.name, "rows": contact.rows, "ends": list(map(end_of, contact.ends))}
        for contact in model.contacts
    ]


def end_of(frame: Frame) -> dict[str, Any]:
    R, p = frame.placement
    return {
        "body": frame.body,
        "rotation": [[float(x) for x in row] for row in R],
        "translation": [float(x) for x in p],
    }


class PinocchioOracle:
    """Computes results in the order of a `Model` by a Pinocchio model of the same robot.

    Joints are matched by name.
    """

    def __init__(self, reference: Any, model: Model) -> None:
        self.reference = reference
        self.data = reference.createData()
        v: list[int] = []
        bodies: list[int] = []
        for body in model.bodies:
            index = reference.getJointId(body.joint.name)
            joint = reference.joints[index]
            v += range(joint.idx_v, joint.idx_v + joint.nv)
            if not body.hidden:
                bodies.append(index)
        if len(v) != reference.nv or model.nbodies != reference.njoints - 1:
            raise ValueError(f"{model.name}: Pinocchio has joints that the model lacks")
        self._joints = model.manifold.joints
        self._v, self._bodies = np.array(v), bodies
        self._resistance = resistance_of(model)
        joints = [reference.getJointId(body.joint.name) for body in model.bodies]
        self._contacts = held_by(contacts_of(model), joints)
        add_rotors(reference, self._resistance)

    def __call__(self, function: str, inputs: Inputs) -> list[Array]:
        """The outputs of a function, stacked over the states, which are the first axis of every input."""
        row = lookup(function)
        rows = []
        for k in range(len(next(iter(inputs.values())))):
            state = {x.name: self._theirs(x.kind, inputs[x.name][k]) for x in row.signature.inputs}
            given = self._resistance, self._contacts
            rows.append(outputs_of_state(row, self.reference, self.data, state, *given))
        outputs = map(np.stack, zip(*rows, strict=True))
        return [self._ours(x.kind, y) for x, y in zip(row.signature.outputs, outputs, strict=True)]

    def _theirs(self, kind: Kind, values: Array) -> Any:
        """One input in the order of Pinocchio's joints."""
        if kind == "external_forces":
            return external_forces(values.reshape(-1, 6), self._bodies, self.reference.njoints)
        if kind == "configuration":
            return configuration_of(self.reference, self._joints, values)
        if kind in ("nonnegative", "values"):
            return values
        result = np.empty(len(self._v))
        result[self._v] = values
        return result

    def _ours(self, kind: Kind, output: Array) -> Array:
        """One output at all states, in the order of the model's joints."""
        if kind in ("scalar", "values"):
            return output
        if kind in ("torque_coefficients", "energy_coefficients"):
            output = output[..., ten_columns(self._bodies)]
            return output[:, self._v] if kind == "torque_coefficients" else output
        if kind == "by_external_forces":
            return output[:, self._v][:, :, [joint - 1 for joint in self._bodies]]
        columns = output[..., self._v]
        return columns[:, self._v] if kind == "matrix" else columns
