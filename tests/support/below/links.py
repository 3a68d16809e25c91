"""The poses of links by rotation matrices, from the description of a chain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from support.below.types import Array

from rbdgen.description.schema import Joint
from rbdgen.model.build import Robot


def poses(robot: Robot, q: Array) -> tuple[Array, Array]:
    """R (states, links, 3, 3) and p (states, links, 3) of the moving links in the world, along the chain."""
    joints = list(robot.model.manifold.joints)
    R, p = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    found: list[tuple[Array, Array]] = []
    if robot.base == "floating":
        base, *joints = joints
        own = q[:, base.idx_q : base.idx_q + base.nq]
        R, p = rotation(own[:, 3:]), own[:, :3]
        found.append((R, p))
    position: dict[str, Array] = {}
    for joint in robot.description.joints:
        R, p = R @ turned(joint.origin.rpy), p + R @ np.array(joint.origin.xyz)
        for kind, axis in parts(joint):
            if joint.mimic is not None:
                own = joint.mimic.multiplier * position[joint.mimic.joint] + joint.mimic.offset
            else:
                place, *joints = joints
                own = q[:, place.idx_q : place.idx_q + place.nq]
            position[joint.name] = own
            turn, slide = moved(kind, axis, joint.pitch, own)
            p, R = p + (R @ slide[..., None])[..., 0], R @ turn
        found.append((R, p))
    return np.stack([R for R, _ in found], axis=1), np.stack([p for _, p in found], axis=1)


def parts(joint: Joint) -> list[tuple[str, Array]]:
    """The types and axes of joints in series that form a joint: a universal joint is two revolute ones."""
    if joint.type == "universal":
        return [("revolute", np.array(joint.axis)), ("revolute", np.array(joint.second_axis))]
    return [(joint.type, np.array(joint.axis))]


def moved(kind: str, axis: Array, pitch: float, q: Array) -> tuple[Array, Array]:
    """The rotation and the displacement, in the axes before it, of a joint at a position."""
    still = np.zeros((len(q), 3))
    if kind in ("revolute", "continuous", "helical"):
        return about(axis, q[:, 0]), (pitch * q if kind == "helical" else 0 * q) * axis
    if kind == "prismatic":
        return np.broadcast_to(np.eye(3), (len(q), 3, 3)), q * axis
    if kind == "planar":
        return about(np.array([0.0, 0, 1]), q[:, 2]), still + np.pad(q[:, :2], ((0, 0), (0, 1)))
    if kind == "spherical":
        return rotation(q), still
    assert kind == "floating", kind
    return rotation(q[:, 3:]), q[:, :3]


def about(axis: Array, angle: Array) -> Array:
    """The rotation matrices about a unit axis by angles in rad, by Rodrigues' formula."""
    K = crossed(axis)
    return np.asarray(
        np.eye(3) + np.sin(angle)[:, None, None] * K + (1 - np.cos(angle))[:, None, None] * (K @ K)
    )


def rotation(quaternion: Array) -> Array:
    """The rotation matrix of a unit quaternion x y z w."""
    u, w = quaternion[:, :3], quaternion[:, 3]
    K = crossed(u)
    return np.asarray(np.eye(3) + 2 * w[:, None, None] * K + 2 * K @ K)


def turned(rpy: Sequence[float]) -> Array:
    """The rotation about the fixed x, then y, then z axis."""
    x, y, z = (about(e, np.array([angle]))[0] for e, angle in zip(np.eye(3), rpy, strict=True))
    return np.asarray(z @ y @ x)


def crossed(v: Array) -> Array:
    """The matrix of v x."""
    return np.cross(v[..., None, :], np.eye(3)).swapaxes(-1, -2)


def axial(S: Array) -> Array:
    """The axial vector of the skew-symmetric part of a matrix."""
    return (
        np.stack([S[..., 2, 1] - S[..., 1, 2], S[..., 0, 2] - S[..., 2, 0], S[..., 1, 0] - S[..., 0, 1]], -1)
        / 2
    )
