"""Pinocchio as a reference: its model of a URDF or of given numbers, and its answer for every function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from rbdgen.model.build import Base
from rbdgen.model.inertia import Inertia
from rbdgen.model.joints import JointKind
from rbdgen.model.model import WORLD, Body, Model

Array = NDArray[np.float64]
Inputs = Mapping[str, Array]


def model_of_urdf(text: str, base: Base = "fixed") -> Any:
    """Pinocchio's own reading of a URDF, but for continuous joints: they get one coordinate, as here."""
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
        index = result.addJoint(parent, _joint(body), pin.SE3(R, p), body.joint.name)
        result.appendBodyToJoint(index, _inertia(body.inertia), pin.SE3.Identity())
    return result


def _joint(body: Body) -> Any:
    axis = np.array([float(x) for x in body.joint.axis])
    if body.joint.kind is JointKind.FLOATING:
        return pin.JointModelFreeFlyer()
    if body.joint.kind is JointKind.REVOLUTE:
        return pin.JointModelRevoluteUnaligned(axis)
    return pin.JointModelPrismaticUnaligned(axis)


def _inertia(inertia: Inertia) -> Any:
    m = float(inertia.mass)
    center = np.array([float(x) for x in inertia.first_moment]) / (m or 1.0)
    J = np.array([[float(x) for x in row] for row in inertia.rotational])
    skew = pin.skew(center)
    return pin.Inertia(m, center, J + m * skew @ skew)


class PinocchioOracle:
    """Answers in the order of a `Model` from a Pinocchio model of the same robot, joints matched by name."""

    def __init__(self, reference: Any, model: Model) -> None:
        self.reference = reference
        self.data = reference.createData()
        q: list[int] = []
        v: list[int] = []
        bodies: list[int] = []
        for body in model.bodies:
            index = reference.getJointId(body.joint.name)
            joint = reference.joints[index]
            q += range(joint.idx_q, joint.idx_q + joint.nq)
            v += range(joint.idx_v, joint.idx_v + joint.nv)
            bodies.append(index)
        if len(q) != reference.nq or len(bodies) != reference.njoints - 1:
            raise ValueError(f"{model.name}: Pinocchio has joints that the model lacks")
        self._q, self._v, self._bodies = np.array(q), np.array(v), np.array(bodies)

    def __call__(self, function: str, inputs: Inputs) -> list[Array]:
        """Outputs of a function of the catalogue, stacked over the states (first axis of every input)."""
        answer = _FUNCTIONS[function]
        count = len(inputs["q"])
        rows = [answer(self, {name: x[k] for name, x in inputs.items()}) for k in range(count)]
        return [self._ours(np.stack(outputs)) for outputs in zip(*rows, strict=True)]

    def _ours(self, output: Array) -> Array:
        output = output[:, self._v]
        return output if output.ndim == 2 else output[:, :, self._v]

    def q(self, x: Inputs) -> Array:
        q = np.empty(self.reference.nq)
        q[self._q] = x["q"]
        return q

    def dofs(self, vector: Array) -> Array:
        v = np.empty(self.reference.nv)
        v[self._v] = vector
        return v

    def forces(self, fext: Array) -> Any:
        """One force a joint, the universe first."""
        result = pin.StdVec_Force()
        result.extend([pin.Force.Zero()] * self.reference.njoints)
        for index, row in zip(self._bodies, fext.reshape(-1, 6), strict=True):
            result[int(index)] = pin.Force(row)
        return result


def _rnea(o: PinocchioOracle, x: Inputs) -> tuple[Array, ...]:
    return (pin.rnea(o.reference, o.data, o.q(x), o.dofs(x["v"]), o.dofs(x["a"])).copy(),)


def _rnea_fext(o: PinocchioOracle, x: Inputs) -> tuple[Array, ...]:
    forces = o.forces(x["fext"])
    return (pin.rnea(o.reference, o.data, o.q(x), o.dofs(x["v"]), o.dofs(x["a"]), forces).copy(),)


def _nle(o: PinocchioOracle, x: Inputs) -> tuple[Array, ...]:
    return (pin.nonLinearEffects(o.reference, o.data, o.q(x), o.dofs(x["v"])).copy(),)


def _gravity(o: PinocchioOracle, x: Inputs) -> tuple[Array, ...]:
    return (pin.computeGeneralizedGravity(o.reference, o.data, o.q(x)).copy(),)


def _aba(o: PinocchioOracle, x: Inputs) -> tuple[Array, ...]:
    return (pin.aba(o.reference, o.data, o.q(x), o.dofs(x["v"]), o.dofs(x["tau"])).copy(),)


def _aba_fext(o: PinocchioOracle, x: Inputs) -> tuple[Array, ...]:
    forces = o.forces(x["fext"])
    return (pin.aba(o.reference, o.data, o.q(x), o.dofs(x["v"]), o.dofs(x["tau"]), forces).copy(),)


def _crba(o: PinocchioOracle, x: Inputs) -> tuple[Array, ...]:
    return (symmetric(pin.crba(o.reference, o.data, o.q(x))),)


def _minv(o: PinocchioOracle, x: Inputs) -> tuple[Array, ...]:
    return (symmetric(pin.computeMinverse(o.reference, o.data, o.q(x))),)


def _rnea_derivatives(o: PinocchioOracle, x: Inputs) -> tuple[Array, ...]:
    pin.computeRNEADerivatives(o.reference, o.data, o.q(x), o.dofs(x["v"]), o.dofs(x["a"]))
    return o.data.dtau_dq.copy(), o.data.dtau_dv.copy(), symmetric(o.data.M)


def _aba_derivatives(o: PinocchioOracle, x: Inputs) -> tuple[Array, ...]:
    pin.computeABADerivatives(o.reference, o.data, o.q(x), o.dofs(x["v"]), o.dofs(x["tau"]))
    return o.data.ddq_dq.copy(), o.data.ddq_dv.copy(), symmetric(o.data.Minv)


def symmetric(upper: Array) -> Array:
    """The full matrix of which Pinocchio fills the upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T


_FUNCTIONS: Mapping[str, Callable[[PinocchioOracle, Inputs], tuple[Array, ...]]] = {
    "rnea": _rnea,
    "nle": _nle,
    "gravity": _gravity,
    "aba": _aba,
    "crba": _crba,
    "minv": _minv,
    "rnea_derivatives": _rnea_derivatives,
    "aba_derivatives": _aba_derivatives,
    "rnea_fext": _rnea_fext,
    "aba_fext": _aba_fext,
}
