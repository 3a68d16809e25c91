"""Pinocchio's results for frames in rbdgen's terms. The frames are those that were added to its model.

Pinocchio's derivatives of aligned velocities keep the point fixed, whereas ours follow the frame's origin.
Its derivatives of accelerations with respect to q are wrong in world and aligned coordinates if a joint with
several degrees of freedom is below another joint (Pinocchio 4.1); the local ones, rotated, are used instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rbdgen.functions.kinematics.columns import Convention

_NAMES: Mapping[Convention, str] = {
    "local": "LOCAL",
    "world": "WORLD",
    "aligned": "LOCAL_WORLD_ALIGNED",
}

Reference = Callable[[Any, Any, Any, Mapping[str, Any]], Any]

OfFrame = Callable[["Seen", int], Any]


class Seen:
    """Pinocchio's model at a state, and the coordinates in which results are asked for."""

    def __init__(self, pin: Any, model: Any, data: Any, x: Mapping[str, Any], convention: Convention) -> None:
        self.pin, self.model, self.data, self.convention = pin, model, data, convention
        q, still = x["q"], np.zeros(model.nv)
        self.v, self.a = x.get("v", still), x.get("a", still)
        pin.computeJointJacobiansTimeVariation(model, data, q, self.v)
        pin.computeForwardKinematicsDerivatives(model, data, q, self.v, self.a)
        pin.updateFramePlacements(model, data)
        self.coordinates = getattr(pin.ReferenceFrame, _NAMES[convention])

    @property
    def frames(self) -> list[int]:
        operational = self.pin.FrameType.OP_FRAME
        return [k for k, frame in enumerate(self.model.frames) if frame.type == operational]

    def asked(self, name: str, frame: int) -> Any:
        """The result of Pinocchio's function of this name."""
        return getattr(self.pin, name)(self.model, self.data, frame, self.coordinates)

    def columns(self, name: str, frame: int) -> Any:
        """The result of Pinocchio's function of this name as an array (6, nv). Pinocchio returns a vector if
        nv is 1.
        """
        return self.asked(name, frame).reshape(6, -1)

    def jacobian_derivatives(self, frame: int) -> Any:
        """dJ/dq, (6, nv, nv), from the Hessian of the joint in world coordinates, where no point moves."""
        pin, world = self.pin, self.pin.ReferenceFrame.WORLD
        pin.computeJointKinematicHessians(self.model, self.data)
        joint, n = self.model.frames[frame].parentJoint, self.model.nv
        given = np.array(pin.getJointKinematicHessian(self.model, self.data, joint, world))
        found = given.ravel().reshape(6, n, n, order="F")  # its bindings take columns for rows
        J = pin.getFrameJacobian(self.model, self.data, frame, world).reshape(6, n)
        T = self.data.oMf[frame]
        if self.convention == "local":
            moved = [pin.Motion(S).action @ J for S in J.T]
            return np.einsum("ab,bjk->ajk", T.toActionMatrixInverse(), found - np.stack(moved, axis=-1))
        if self.convention == "aligned":
            p = T.translation
            moved_point = J[:3] + np.cross(J[3:], p, axis=0)
            found[:3] += np.cross(found[3:], p[:, None, None], axis=0)
            found[:3] += np.cross(J[3:, :, None], moved_point[:, None, :], axis=0)
        return found

    def velocity_derivatives(self, frame: int) -> tuple[Any, Any]:
        found = self.asked("getFrameVelocityDerivatives", frame)
        by_q, by_v = (part.reshape(6, -1) for part in found)
        if self.convention == "aligned":
            w = self.asked("getFrameVelocity", frame).angular
            by_q = by_q + np.vstack([np.cross(w, by_v[:3].T).T, np.zeros((3, self.model.nv))])
        return by_q, by_v

    def acceleration_derivatives(self, frame: int) -> tuple[Any, Any, Any]:
        local = self.pin.ReferenceFrame.LOCAL
        found = self.pin.getFrameAccelerationDerivatives(self.model, self.data, frame, local)
        by_q, by_v, by_a = (part.reshape(6, -1) for part in found[-3:])
        if self.convention == "local":
            return by_q, by_v, by_a
        placement = self.data.oMf[frame]
        if self.convention == "aligned":
            X = np.kron(np.eye(2), placement.rotation)
        else:
            X = placement.toActionMatrix()
        by_q, by_v, by_a = X @ by_q, X @ by_v, X @ by_a
        a = self.asked("getFrameAcceleration", frame)
        turned = [self._turned(S, a) for S in by_a.T]
        return by_q + np.array(turned).T, by_v, by_a

    def _turned(self, S: Any, a: Any) -> Any:
        """S x a. If coordinates follow the frame's origin, only the rotation in S counts."""
        if self.convention == "world":
            return self.pin.Motion(S).cross(a).vector
        return np.concatenate([np.cross(S[3:], a.linear), np.cross(S[3:], a.angular)])


def frame_placement(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    """R (nf, 3, 3) and p (nf, 3) of the frames in the world."""
    seen = Seen(pin, model, data, x, "world")
    placements = [data.oMf[k] for k in seen.frames]
    return np.array([T.rotation for T in placements]), np.array([T.translation for T in placements])


def each_frame(convention: Convention, of_frame: OfFrame) -> Reference:
    """Make a reference that stacks the results of all frames. If `of_frame` returns a tuple, each of its
    elements is stacked.
    """

    def reference(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
        seen = Seen(pin, model, data, x, convention)
        found = [of_frame(seen, k) for k in seen.frames]
        if isinstance(found[0], tuple):
            return tuple(np.array(part) for part in zip(*found, strict=True))
        return np.array(found)

    return reference
