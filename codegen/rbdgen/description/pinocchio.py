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
from rbdgen.description.schema import Description, Inertial, Joint, JointType, Limit, Link, Origin, Vector3
from rbdgen.errors import DescriptionError
from rbdgen.spatial.rpy import rpy_from_rotation

_KINDS: dict[str, JointType] = {
    **dict.fromkeys(("RX", "RY", "RZ", "RevoluteUnaligned"), "revolute"),
    **dict.fromkeys(("RUBX", "RUBY", "RUBZ", "RevoluteUnboundedUnaligned"), "continuous"),
    **dict.fromkeys(("PX", "PY", "PZ", "PrismaticUnaligned"), "prismatic"),
    **dict.fromkeys(("HX", "HY", "HZ", "HelicalUnaligned"), "helical"),
    "Planar": "planar",
    "Spherical": "spherical",
    "Universal": "universal",
    "FreeFlyer": "floating",
}
"""Type of a joint by what Pinocchio calls it, without JointModel in front."""

_UNIVERSE = 0


def read_pinocchio(model: Any) -> Description:
    """The description of a model; a free-flyer that carries all else and starts at the origin is the base.

    A link is a body frame of the model; the first at a joint's own frame carries the inertia of the joint,
    which holds that of all fixed links. Raises DescriptionError for another type of joint, by name.
    """
    path = f"Pinocchio's model {quoted(str(model.name))}"
    floating = _floats(model)
    first = 2 if floating else 1
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


def _floats(model: Any) -> bool:
    """Whether the first joint is a floating base."""
    if len(model.joints) < 2 or _KINDS.get(_type(model, 1)) != "floating":
        return False
    beside = [j for j in range(2, len(model.joints)) if model.parents[j] == _UNIVERSE]
    return not beside and np.array_equal(model.jointPlacements[1].homogeneous, np.eye(4))


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
        raise DescriptionError(path, j, what, f"take joints of the types {', '.join(_KINDS)}")
    axis, pitch, second = _subspace(model, j, kind)
    return Joint(
        name,
        kind,
        carriers[model.parents[j]],
        carriers[j],
        _origin(model.jointPlacements[j]),
        axis,
        _limit(model, model.joints[j], kind),
        0.0,
        0.0,
        None,
        j,
        pitch,
        second,
    )


def _subspace(model: Any, j: int, kind: JointType) -> tuple[Vector3, float, Vector3]:
    """Axis, pitch and second axis, as the joint's motion at q = 0 tells them."""
    if kind in ("planar", "spherical", "floating"):
        return (0.0, 0.0, 1.0) if kind == "planar" else (1.0, 0.0, 0.0), 0.0, (0.0, 0.0, 0.0)
    data = model.joints[j].createData()
    model.joints[j].calc(data, np.zeros(model.nq))
    columns = np.array(data.S).reshape(6, -1).T.tolist()  # each linear, angular
    x, y, z = columns[0][:3] if kind == "prismatic" else columns[0][3:]
    pitch = float(np.dot(columns[0][:3], columns[0][3:]))
    a, b, c = columns[1][3:] if kind == "universal" else (0.0, 0.0, 0.0)
    return (x, y, z), pitch, (a, b, c)


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


def _limit(model: Any, joint: Any, kind: JointType) -> Limit | None:
    """Of a joint of one coordinate."""
    if joint.nv > 1:
        return None

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
