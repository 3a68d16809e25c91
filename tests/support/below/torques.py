"""Computes torques, regressors and energies as sums of the Newton-Euler equations over the links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from support.below.evaluated import Below
from support.below.frames import frames, times, velocity
from support.below.links import parts
from support.below.types import Array

from rbdgen.description.schema import Joint
from rbdgen.model.build import Robot
from rbdgen.model.inertial_parameters import ENTRIES


class Solid:
    """The ten inertial parameters of a link about its frame."""

    def __init__(self, ten: Array) -> None:
        self.mass, self.first, self.J = ten[0], ten[1:4], np.zeros((3, 3))
        for (i, j), value in zip(ENTRIES, ten[4:], strict=True):
            self.J[i, j] = self.J[j, i] = value


def tens(robot: Robot) -> list[Array]:
    """The ten parameters of the moving links, in order."""
    moving = {x.link for x in robot.attachments if x.body >= 0}
    found = []
    for link in robot.description.links:
        if link.name not in moving:
            continue
        x = link.inertial
        assert x is not None
        assert x.origin.rpy == (0, 0, 0)
        J = np.array([[x.ixx, x.ixy, x.ixz], [x.ixy, x.iyy, x.iyz], [x.ixz, x.iyz, x.izz]])
        c = np.array(x.origin.xyz)
        J = J + x.mass * (c @ c * np.eye(3) - np.outer(c, c))
        found.append(np.array([x.mass, *(x.mass * c), *(J[i, j] for i, j in ENTRIES)]))
    return found


def wrench(solid: Solid, V: Array, A: Array, up: Array) -> Array:
    """The wrench on a link for local spatial V and A, in its frame; `up` is minus gravity in its axes."""
    v, w = V[..., :3], V[..., 3:]
    dv, dw = A[..., :3] + np.cross(w, v) + up, A[..., 3:]
    h, J = solid.first, solid.J
    force = solid.mass * dv + np.cross(dw, h) + np.cross(w, np.cross(w, h))
    moment = dw @ J + np.cross(w, w @ J) + np.cross(h, dv)
    return np.concatenate([force, moment], axis=-1)


def local_motions(f: Below, a: Array) -> tuple[Array, Array, Array, Array]:
    """V, A and minus gravity (states, links, ...), and the Jacobians, all in the axes of the links."""
    R, _ = frames(f)
    up = -np.array([float(x) for x in f.model.gravity]) @ R
    A = np.asarray(f("frame_acceleration_local", a=a))
    return np.asarray(f("frame_velocity_local")), A, up, np.asarray(f("frame_jacobian_local"))


def torques(f: Below, links: Sequence[Array]) -> Array:
    """The torques for these links, without joint resistance."""
    V, A, up, J = local_motions(f, f.inputs["a"])
    wrenches = [wrench(Solid(ten), V[:, k], A[:, k], up[:, k]) for k, ten in enumerate(links)]
    return np.asarray(np.einsum("slik,sli->sk", J, np.stack(wrenches, axis=1)))


def regressor(f: Below) -> Array:
    """The regressor Y, which is computed column by column."""
    count = len(tens(f.robot))
    columns = []
    for k in range(10 * count):
        unit = np.eye(10 * count)[k].reshape(count, 10)
        columns.append(torques(f, list(unit)))
    return np.stack(columns, axis=-1)


def energies(f: Below, links: Sequence[Array]) -> tuple[Array, Array]:
    """The kinetic and potential energy of links, without springs and rotors."""
    R, p = frames(f)
    V, g = velocity(f, "local"), np.array([float(x) for x in f.model.gravity])
    T, U = np.zeros(len(p)), np.zeros(len(p))
    for k, ten in enumerate(links):
        solid, v, w = Solid(ten), V[:, k, :3], V[:, k, 3:]
        own = np.einsum("si,ij,sj->s", w, solid.J, w) + solid.mass * (v * v).sum(-1)
        T += own / 2 + (v * np.cross(w, solid.first)).sum(-1)
        U -= (solid.mass * p[:, k] + times(R[:, k], np.broadcast_to(solid.first, p[:, k].shape))) @ g
    return T, U


def energy_regressor(f: Below, which: int) -> Array:
    count = len(tens(f.robot))
    units = np.eye(10 * count).reshape(-1, count, 10)
    return np.stack([energies(f, list(unit))[which] for unit in units], axis=-1)


class Joints:
    """The joint resistance of every degree of freedom."""

    def __init__(self, f: Below) -> None:
        self.f, x = f, f.inputs
        zero = np.zeros((len(x["q"]), f.model.sizes["nv"]))
        self.torque, self.spring, self.rotors = zero.copy(), zero.copy(), zero.copy()
        self.kinetic, self.potential = zero[:, 0].copy(), zero[:, 0].copy()
        places = list(f.model.manifold.joints)[1 if f.robot.base == "floating" else 0 :]
        known: dict[str, Any] = {}
        for joint in f.robot.description.joints:
            for _ in parts(joint):
                k, c = (1.0, 0.0) if joint.mimic is None else (joint.mimic.multiplier, joint.mimic.offset)
                if joint.mimic is None:
                    known[joint.name], *places = places
                self._add(joint, known[joint.mimic.joint if joint.mimic else joint.name], k, c)

    def _add(self, joint: Joint, place: Any, k: float, c: float) -> None:
        x, use = self.f.inputs, self.f.robot.dissipation
        for at in range(place.idx_v, place.idx_v + place.nv):
            v, a = (k * x[name][:, at] if name in x else 0.0 for name in "va")
            damping = joint.damping if use.damping else 0.0
            speed = np.sqrt(v * v + use.friction[1] ** 2) if isinstance(use.friction, tuple) else abs(v)
            way = v / speed if joint.friction and use.friction else 0.0
            stretch = k * x["q"][:, place.idx_q] + c - joint.spring_reference
            pull = joint.stiffness * stretch
            self.spring[:, at] += k * pull
            self.torque[:, at] += k * (damping * v + joint.friction * way + pull)
            self.rotors[:, at] += k * joint.armature * a
            self.kinetic += joint.armature * v * v / 2
            self.potential += pull * stretch / 2


def rnea(f: Below) -> Array:
    joints = Joints(f)
    return torques(f, tens(f.robot)) + joints.torque + joints.rotors


def pushed(f: Below) -> Array:
    """J^T fext for forces in the links' frames."""
    J, fext = np.asarray(f("frame_jacobian_local")), f.inputs["fext"]
    return np.asarray(np.einsum("slik,sli->sk", J, fext.reshape(len(J), -1, 6)))
