"""MuJoCo as a second reference, which reads the URDF itself; results are in rbdgen's coordinates.

In MuJoCo the linear velocity of a free body is in world axes and the angular velocity in body axes, its
acceleration is the rate of these, and its quaternion is w x y z. In rbdgen both parts are in base axes, and
the linear acceleration is spatial, without w x v: v_mujoco = T v with T = diag(R, 1), a_mujoco = T (a + [w x
v, 0]).
"""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from rbdgen.model.build import BASE_JOINT, Base
from rbdgen.model.model import Model

Array = NDArray[np.float64]


class MujocoOracle:
    """Computes functions for one state at a time, without contacts, limits, damping and friction."""

    def __init__(self, urdf: str, model: Model, base: Base) -> None:
        spec = mujoco.MjSpec.from_string(urdf)
        if base == "floating":
            spec.body(model.bodies[0].name).add_freejoint(name=BASE_JOINT)
        self.mj = spec.compile()
        self.mj.dof_damping[:] = self.mj.dof_frictionloss[:] = self.mj.dof_armature[:] = 0.0
        self.mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.mj.opt.gravity[:] = [float(x) for x in model.gravity]
        self.data = mujoco.MjData(self.mj)
        self.floating = base == "floating"
        q: list[int] = []
        v: list[int] = []
        for body in model.bodies:
            joint = self.mj.joint(body.joint.name)
            q += range(int(joint.qposadr[0]), int(joint.qposadr[0]) + body.joint.nq)
            v += range(int(joint.dofadr[0]), int(joint.dofadr[0]) + body.joint.nv)
        self._q, self._v = np.array(q), np.array(v)

    def _place(self, q: Array, v: Array) -> Array:
        """Sets position and velocity, and returns T, in rbdgen's order of degrees of freedom."""
        T = np.eye(len(v))
        qpos = q.copy()
        if self.floating:
            qpos[3:7] = q[[6, 3, 4, 5]]
            R = np.empty(9)
            mujoco.mju_quat2Mat(R, qpos[3:7])
            T[:3, :3] = R.reshape(3, 3)
        self.data.qpos[self._q] = qpos
        self.data.qvel[self._v] = T @ v
        return T

    def _turning(self, v: Array) -> Array:
        """[w x v, 0]: the classical acceleration of a free body minus its spatial one."""
        extra = np.zeros_like(v)
        if self.floating:
            extra[:3] = np.cross(v[3:6], v[:3])
        return extra

    def aba(self, q: Array, v: Array, tau: Array) -> Array:
        T = self._place(q, v)
        self.data.qfrc_applied[self._v] = T @ tau
        mujoco.mj_forward(self.mj, self.data)
        a: Array = T.T @ self.data.qacc[self._v] - self._turning(v)
        return a

    def rnea(self, q: Array, v: Array, a: Array) -> Array:
        T = self._place(q, v)
        self.data.qacc[self._v] = T @ (a + self._turning(v))
        mujoco.mj_inverse(self.mj, self.data)
        tau: Array = T.T @ self.data.qfrc_inverse[self._v]
        return tau

    def crba(self, q: Array) -> Array:
        T = self._place(q, np.zeros(len(self._v)))
        M: Array = T.T @ self._own_crba() @ T
        return M

    def crba_world(self, q: Array) -> Array:
        turn = self._turned_too(self._place(q, np.zeros(len(self._v))))
        M: Array = turn @ self._own_crba() @ turn.T
        return M

    def nle_world(self, q: Array, v: Array) -> Array:
        turn = self._turned_too(self._place(q, v))
        mujoco.mj_forward(self.mj, self.data)
        bias: Array = turn @ self.data.qfrc_bias[self._v]
        return bias

    def _own_crba(self) -> Array:
        """M at the current state, in MuJoCo's coordinates."""
        mujoco.mj_forward(self.mj, self.data)
        columns = np.zeros((self.mj.nv, self.mj.nv))
        for unit, column in zip(np.eye(self.mj.nv), columns, strict=True):
            mujoco.mj_mulM(self.mj, self.data, column, unit)
        M: Array = columns.T[np.ix_(self._v, self._v)]
        return M

    def _turned_too(self, T: Array) -> Array:
        """The matrix from MuJoCo's coordinates to those with the angular part in world axes as well."""
        turn = np.eye(len(T))
        turn[3:6, 3:6] = T[:3, :3]
        return turn
