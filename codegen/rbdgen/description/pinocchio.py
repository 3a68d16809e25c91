"""A Pinocchio model as a description. Everything is asked of the model itself; Pinocchio is not imported."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rbdgen.description.assembly import assembled
from rbdgen.description.order import reordered
from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Description, Inertial, Joint, JointType, Limit, Link, Origin
from rbdgen.errors import DescriptionError
from rbdgen.spatial.rpy import rpy_from_rotation

_REVOLUTE = ("RX", "RY", "RZ", "RevoluteUnaligned")
_CONTINUOUS = ("RUBX", "RUBY", "RUBZ", "RevoluteUnboundedUnaligned")
_PRISMATIC = ("PX", "PY", "PZ", "PrismaticUnaligned")
_KINDS: dict[str, JointType] = {
    **dict.fromkeys(_REVOLUTE, "revolute"),
    **dict.fromkeys(_CONTINUOUS, "continuous"),
    **dict.fromkeys(_PRISMATIC, "prismatic"),
}
"""Type of a joint by what Pinocchio calls it, without JointModel in front."""

_FREE = "FreeFlyer"
_UNIVERSE = 0


def read_pinocchio(model: Any) -> Description:
    """The description of a model of revolute, continuous and prismatic joints, its first one free or not.

    A link is a body frame of the model; the first at a joint's own frame carries the inertia of the joint,
    which holds that of all fixed links. Raises DescriptionError for another type of joint, by name.
    """
    path = f"Pinocchio's model {quoted(str(model.name))}"
    floating = len(model.joints) > 1 and _type(model, 1) == _FREE
    first = 2 if floating else 1
    if floating:
        _check_floating(model, path)
    fixed = _fixed_frames(model)
    carriers = [_carrier(model, j, fixed) for j in range(len(model.joints))]
    root = 1 if floating else _UNIVERSE
    links = [Link(carriers[j], _inertial(model.inertias[j], j), j) for j in range(root, len(model.joints))]
    joints = [_joint(model, j, carriers, path) for j in range(first, len(model.joints))]
    for frame in fixed:
        if frame.name not in carriers and not (floating and frame.parentJoint == _UNIVERSE):
            links.append(Link(frame.name, None, frame.parentJoint))
            joints.append(_attachment(frame, carriers))
    warnings = (*_ignored(model, path), *reordered(joints, carriers[root], path))
    description = assembled(str(model.name) or "robot", links, joints, path, warnings)
    return replace(description, floating=floating)


def _type(model: Any, joint: int) -> str:
    return str(model.joints[joint].shortname()).removeprefix("JointModel")


def _check_floating(model: Any, path: str) -> None:
    placement = model.jointPlacements[1]
    moved = np.array(placement.homogeneous) - np.eye(4)
    if np.abs(moved).max() > 0:
        what = "its free-flyer does not start at the world's origin"
        raise DescriptionError(path, None, what, "place that joint at the identity")
    beside = [j for j in range(2, len(model.joints)) if model.parents[j] == _UNIVERSE]
    if beside:
        what = f"joint {quoted(model.names[beside[0]])} is at the world beside the free-flyer"
        raise DescriptionError(path, None, what, "give the parts of the robot one root")


def _fixed_frames(model: Any) -> list[Any]:
    """The body frames: what URDF calls links."""
    return [frame for frame in model.frames if str(frame.type) == "BODY"]


def _carrier(model: Any, joint: int, fixed: Sequence[Any]) -> str:
    """The name of the link that stands in the joint's own frame."""
    for frame in fixed:
        if frame.parentJoint == joint and np.array_equal(frame.placement.homogeneous, np.eye(4)):
            return str(frame.name)
    return str(model.names[joint])


def _joint(model: Any, j: int, carriers: Sequence[str], path: str) -> Joint:
    name, kind = str(model.names[j]), _KINDS.get(_type(model, j))
    if kind is None:
        what = f"joint {quoted(name)} is a {_type(model, j)}, which is not supported"
        instead = "take revolute, continuous and prismatic joints, and a free-flyer as the first one"
        raise DescriptionError(path, j, what, instead)
    joint = model.joints[j]
    data = joint.createData()
    joint.calc(data, np.zeros(model.nq))
    subspace = np.array(data.S).ravel()  # linear, angular; constant
    x, y, z = map(float, subspace[:3] if kind == "prismatic" else subspace[3:])
    return Joint(
        name,
        kind,
        carriers[model.parents[j]],
        carriers[j],
        _origin(model.jointPlacements[j]),
        (x, y, z),
        _limit(model, joint, kind),
        0.0,
        0.0,
        None,
        j,
    )


def _attachment(frame: Any, carriers: Sequence[str]) -> Joint:
    """A further link on a body: a mere frame, as its inertia is already the body's."""
    parent, origin = carriers[frame.parentJoint], _origin(frame.placement)
    axis = (1.0, 0.0, 0.0)
    name = f"{frame.name}_fixed"
    return Joint(name, "fixed", parent, frame.name, origin, axis, None, 0.0, 0.0, None, frame.parentJoint)


def _origin(placement: Any) -> Origin:
    x, y, z = map(float, placement.translation)
    return Origin((x, y, z), rpy_from_rotation(placement.rotation))


def _inertial(inertia: Any, line: int) -> Inertial | None:
    J = np.array(inertia.inertia)  # about the centre of mass
    if inertia.mass == 0 and not J.any():
        return None
    x, y, z = map(float, inertia.lever)
    ixx, ixy, ixz, iyy, iyz, izz = (float(J[i, k]) for i in range(3) for k in range(i, 3))
    return Inertial(Origin((x, y, z)), float(inertia.mass), ixx, ixy, ixz, iyy, iyz, izz, line)


def _limit(model: Any, joint: Any, kind: JointType) -> Limit:
    def finite(values: Any, at: int) -> float | None:
        return float(values[at]) if math.isfinite(values[at]) else None

    bounded = kind != "continuous"
    return Limit(
        finite(model.lowerPositionLimit, joint.idx_q) if bounded else None,
        finite(model.upperPositionLimit, joint.idx_q) if bounded else None,
        finite(model.effortLimit, joint.idx_v),
        finite(model.velocityLimit, joint.idx_v),
    )


def _ignored(model: Any, path: str) -> Iterator[str]:
    """Settings that change the dynamics, or a simulation's, and are not read."""
    for what in ("armature", "damping", "friction"):
        values = np.array(getattr(model, what, np.zeros(model.nv)))
        if values.any():
            joint = next(j for j in model.joints if j.nv > 0 and values[j.idx_v : j.idx_v + j.nv].any())
            told = f"joint {quoted(model.names[joint.id])} and others have {what}"
            yield f"{path}: {told}; ignored: add these torques yourself"
