"""Computes closed loops on floats, by rbdgen and by Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from support.pinocchio_oracle import model_of_numbers

from rbdgen.checks.pinocchio import configuration_of
from rbdgen.functions.closed_loops.relative_motion import loop_drift, loop_jacobian, loop_position
from rbdgen.model.build import Robot
from rbdgen.model.model import WORLD, Model
from rbdgen.sweeps.inputs import coordinates

Array = NDArray[np.float64]


def position(model: Model, q: Array) -> Array:
    return np.array(loop_position(model, coordinates(model, list(q), np.cos, np.sin)), float)


def jacobian(model: Model, q: Array) -> Array:
    return np.array(loop_jacobian(model, coordinates(model, list(q), np.cos, np.sin)), float)


def drift(model: Model, q: Array, v: Array) -> Array:
    return np.array(loop_drift(model, coordinates(model, list(q), np.cos, np.sin), list(v)), float)


class Oracle:
    """Pinocchio's model and data at a state, and the frames of a loop."""

    def __init__(self, model: Model, q: Array, v: Array) -> None:
        self.model = model_of_numbers(model)
        self.data = self.model.createData()
        self.q = configuration_of(self.model, model.manifold.joints, q)
        pin.forwardKinematics(self.model, self.data, self.q, v, 0 * v)
        pin.computeJointJacobians(self.model, self.data, self.q)
        joints = [body.joint.name for body in model.bodies]
        (loop,) = model.loops
        self.frames = []
        for anchor in (loop.first, loop.second):
            R, p = anchor.placement
            joint = 0 if anchor.body == WORLD else self.model.getJointId(joints[anchor.body])
            self.frames.append(
                (joint, pin.SE3(np.array([[*row] for row in R], float), np.array([*p], float)))
            )

    def jacobian(self, kind: str) -> Array:
        anchored = {"frame": pin.FrameAnchorConstraintModel, "point": pin.PointAnchorConstraintModel}[kind]
        constraint = anchored(self.model, *self.frames[0], *self.frames[1])
        data = constraint.createData()
        constraint.calc(self.model, self.data, data)
        return np.array(constraint.jacobian(self.model, self.data, data))

    def frame_drift(self) -> Array:
        """X_1^-1 (a_2 - a_1 - v_1 x (v_2 - v_1)) in world coordinates, at an acceleration of 0."""
        at = [self.data.oMi[joint] for joint, _ in self.frames]
        v1, v2 = (X.act(self.data.v[joint]) for X, (joint, _) in zip(at, self.frames, strict=True))
        a1, a2 = (X.act(self.data.a[joint]) for X, (joint, _) in zip(at, self.frames, strict=True))
        total = a2 - a1 - v1.cross(v2 - v1)
        return np.array((at[0] * self.frames[0][1]).actInv(total).vector)


def acceleration_with_closed_loop(robot: Robot, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
    """Accelerations from [[M, J^T], [J, 0]] with rbdgen's rows, and from Pinocchio's constraint of these
    frames."""
    model = robot.model
    oracle = Oracle(model, q, v)
    M = pin.crba(oracle.model, oracle.data, oracle.q)
    M = np.triu(M) + np.triu(M, 1).T
    J = jacobian(model, q)
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    right = np.r_[tau - pin.nle(oracle.model, oracle.data, oracle.q, v), -drift(model, q, v)]
    ours = np.linalg.lstsq(K, right, rcond=1e-11)[0][: model.nv]
    three = model.loops[0].kind == "point"
    (one, in_one), (two, in_two) = oracle.frames
    constraints, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    contact = pin.ContactType.CONTACT_3D if three else pin.ContactType.CONTACT_6D
    constraints.append(pin.RigidConstraintModel(contact, oracle.model, one, in_one, two, in_two, pin.LOCAL))
    datas.append(constraints[0].createData())
    data = oracle.model.createData()
    pin.initConstraintDynamics(oracle.model, data, constraints, datas)
    settings = pin.ProximalSettings(1e-14, 1e-14, 1000)
    theirs = pin.constraintDynamics(oracle.model, data, oracle.q, v, tau, constraints, datas, settings)
    return ours, np.array(theirs)
