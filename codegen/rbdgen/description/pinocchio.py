"""Reads a Pinocchio model. Everything comes from methods of the model itself; Pinocchio is not imported."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rbdgen.description.assembly import assembled
from rbdgen.description.free import FreeNames
from rbdgen.description.order import reordered
from rbdgen.description.quoting import quoted
from rbdgen.description.schema import (
    Description,
    Inertial,
    Joint,
    JointType,
    Limit,
    Link,
    Mimic,
    Origin,
    Place,
    Vector3,
)
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
"""The type of a joint by Pinocchio's name for it, without the prefix JointModel."""

_MIMIC = "Mimic"

_UNIVERSE = 0


def is_pinocchio(given: object) -> bool:
    """Whether this object is a Pinocchio model."""
    return hasattr(given, "jointPlacements")


def read_pinocchio(model: Any) -> Description:
    """The description of a model.

    A free-flyer that carries all other joints and is placed at the origin becomes the floating base. Every
    body frame of the model becomes a link. Pinocchio keeps one inertia per joint, which includes those of all
    fixed links; the first body frame that coincides with the joint's frame carries it.

    Raises DescriptionError for an unsupported type of joint, and if the degrees of freedom of a joint differ
    in damping, friction or armature.
    """
    path = f"Pinocchio's model {quoted(str(model.name))}"
    floating = _floats(model)
    first = 2 if floating else 1
    fixed = _fixed_frames(model)
    free = FreeNames({*map(str, model.names), *(str(frame.name) for frame in model.frames)})
    own = {str(frame.name) for frame in fixed}
    carriers = [_carrier(model, j, fixed, own, free) for j in range(len(model.joints))]
    root = 1 if floating else _UNIVERSE
    links = [Link(carriers[j], _inertial(model.inertias[j], j), j) for j in range(root, len(model.joints))]
    joints = [_joint(model, j, carriers, path) for j in range(first, len(model.joints))]
    for frame in fixed:
        if frame.name not in carriers and not (floating and frame.parentJoint == _UNIVERSE):
            links.append(Link(frame.name, None, frame.parentJoint))
            joints.append(_attachment(frame, carriers, free(f"{frame.name}_fixed")))
    warnings = (*_ignored(model, path, floating=floating), *reordered(joints, carriers[root], path))
    description = assembled(str(model.name) or "robot", links, joints, path, warnings)
    places = tuple(_places(model, carriers, floating=floating))
    x, y, z = map(float, model.gravity.linear)
    return replace(description, floating=floating, places=places, gravity=(x, y, z), order="file")


def _type(model: Any, joint: int) -> str:
    return str(model.joints[joint].shortname()).removeprefix("JointModel")


def _floats(model: Any) -> bool:
    """Whether the first joint is a floating base."""
    if len(model.joints) < 2 or _KINDS.get(_type(model, 1)) != "floating":
        return False
    beside = [j for j in range(2, len(model.joints)) if model.parents[j] == _UNIVERSE]
    return not beside and np.array_equal(model.jointPlacements[1].homogeneous, np.eye(4))


def _fixed_frames(model: Any) -> list[Any]:
    """The body frames, which are the links of a URDF."""
    return [frame for frame in model.frames if str(frame.type) == "BODY"]


def _places(model: Any, carriers: Sequence[str], *, floating: bool) -> Iterator[Place]:
    """All other frames, except the universe and the frames of joints."""
    for frame in list(model.frames)[1:]:
        if str(frame.type) not in ("BODY", "JOINT"):
            beside = floating and frame.parentJoint == _UNIVERSE
            carrier = None if beside else carriers[frame.parentJoint]
            yield Place(str(frame.name), carrier, _origin(frame.placement))


def _carrier(model: Any, joint: int, fixed: Sequence[Any], own: Collection[str], free: FreeNames) -> str:
    """The name of the link that coincides with a joint's frame.

    It is that of the first such body frame; if there is none, the name of the joint, made unique among `own`,
    the names of body frames.
    """
    for frame in fixed:
        if frame.parentJoint == joint and np.array_equal(frame.placement.homogeneous, np.eye(4)):
            return str(frame.name)
    name = str(model.names[joint])
    return free(name) if name in own else name


def _joint(model: Any, j: int, carriers: Sequence[str], path: str) -> Joint:
    name, kind, mimic = str(model.names[j]), _KINDS.get(_type(model, j)), None
    if _type(model, j) == _MIMIC:
        kind, mimic = _kind_of_follower(model, j, path), _mimic(model, j)
    if kind is None:
        what = f"joint {quoted(name)} is a {_type(model, j)}, which is not supported"
        raise DescriptionError(path, j, what, f"take joints of the types {', '.join((*_KINDS, _MIMIC))}")
    axis, pitch, second = _subspace(model, j, kind)
    return Joint(
        name,
        kind,
        carriers[model.parents[j]],
        carriers[j],
        _origin(model.jointPlacements[j]),
        axis,
        _limit(model, model.joints[j], kind),
        mimic=mimic,
        line=j,
        pitch=pitch,
        second_axis=second,
        **_resistance(model, j, kind, path),
    )


def _mimic(model: Any, j: int) -> Mimic:
    primary = list(model.mimicked_joints)[list(model.mimicking_joints).index(j)]
    follower = model.joints[j].extract()
    return Mimic(str(model.names[primary]), float(follower.scaling), float(follower.offset))


def _kind_of_follower(model: Any, j: int, path: str) -> JointType:
    """The type of a mimic joint, found from its motion subspace, which is `scaling` times the primary
    joint's.

    Raises DescriptionError for a helical one: Pinocchio's position of it includes the translation along its
    axis, but its velocity does not. Also raises it for a scaling of 0, which leaves no axis.
    """
    data = model.joints[j].createData()
    model.joints[j].calc(data, np.full(model.nq, 0.7))
    motion = np.array(data.S).ravel()
    turns, slides = motion[3:].any(), motion[:3].any()
    if turns == slides or (turns and data.M.translation.any()):
        what = "helical" if turns else "of scaling 0, so that its axis is lost"
        said = f"joint {quoted(str(model.names[j]))} is a mimic joint {what}"
        raise DescriptionError(path, j, said, "take revolute and prismatic ones, a fixed one for scaling 0")
    return "revolute" if turns else "prismatic"


def _columns(model: Any, j: int) -> list[list[float]]:
    """The columns of the joint's motion subspace at q = 0, each linear, then angular."""
    data = model.joints[j].createData()
    model.joints[j].calc(data, np.zeros(model.nq))
    found: list[list[float]] = np.array(data.S).reshape(6, -1).T.tolist()
    return found


def _resistance(model: Any, j: int, kind: JointType, path: str) -> dict[str, Any]:
    """The damping, friction and armature of a joint, the same for all its degrees of freedom.

    A joint that follows another has none of its own. As in Pinocchio's functions, `armature` is used and
    `rotorInertia` is ignored. Raises DescriptionError if the degrees of freedom differ.
    """
    joint, found = model.joints[j], {}
    for what in ("damping", "friction", "armature"):
        values = np.array(getattr(model, what))[joint.idx_v : joint.idx_v + joint.nv].tolist()
        found[what] = max(values, key=abs, default=0.0)
        if kind in ("spherical", "universal") and len({*values}) > 1:
            label = f"joint {quoted(str(model.names[j]))}"
            told = f"{label} has {what} that differs between its degrees of freedom"
            raise DescriptionError(path, j, told, "make it the same for all")
    return found


def _subspace(model: Any, j: int, kind: JointType) -> tuple[Vector3, float, Vector3]:
    """The axis, pitch and second axis of a joint, found from its motion subspace at q = 0."""
    if kind in ("planar", "spherical", "floating"):
        return (0.0, 0.0, 1.0) if kind == "planar" else (1.0, 0.0, 0.0), 0.0, (0.0, 0.0, 0.0)
    columns = _columns(model, j)
    if _type(model, j) == _MIMIC:
        columns = [[x / model.joints[j].extract().scaling for x in columns[0]]]
    x, y, z = columns[0][:3] if kind == "prismatic" else columns[0][3:]
    pitch = float(np.dot(columns[0][:3], columns[0][3:]))
    a, b, c = columns[1][3:] if kind == "universal" else (0.0, 0.0, 0.0)
    return (x, y, z), pitch, (a, b, c)


def _attachment(frame: Any, carriers: Sequence[str], name: str) -> Joint:
    """A fixed joint for another link of the same body; the link has no inertia, as the body's includes it."""
    parent, origin = carriers[frame.parentJoint], _origin(frame.placement)
    axis = (1.0, 0.0, 0.0)
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
    """The limits of a joint of one coordinate; None for others. A joint that follows another has none."""
    if joint.nv != 1:
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


def _ignored(model: Any, path: str, *, floating: bool) -> Iterator[str]:
    """Warnings of data that would change the dynamics and that is not read."""
    if floating:
        for what in ("damping", "friction", "armature"):
            if np.any(np.array(getattr(model, what, ()))[:6]):
                told = f"joint {quoted(str(model.names[1]))} has {what}"
                yield f"{path}: {told}; ignored: a floating base has none"
    rotors = np.array(model.rotorInertia) * np.array(model.rotorGearRatio) ** 2
    upper, lower = (np.array(getattr(model, f"{side}DryFrictionLimit", ())) for side in ("upper", "lower"))
    for joint in list(model.joints)[2 if floating else 1 :]:
        own, name = slice(joint.idx_v, joint.idx_v + joint.nv), quoted(str(model.names[joint.id]))
        if np.any(rotors[own]) and not np.any(np.array(model.armature)[own]):
            yield f"{path}: joint {name} has a rotor, but no armature; ignored, as Pinocchio's functions do"
        if not np.array_equal(upper[own], -lower[own]):
            yield f"{path}: joint {name} has a different friction backward; ignored: the forward one is used"
