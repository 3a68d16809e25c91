"""Reads URDF: from text to a `Description`, or one error that names the line.

The defaults of missing elements are those of urdfdom, the parser that Pinocchio uses: the identity for
<origin>, 1 0 0 for <axis>, no damping and no friction for <dynamics>, no mass for <inertial>. This reader is
stricter than urdfdom in that it refuses files in which urdfdom would guess: repeated elements, numbers with
trailing characters, NaN. It is more lenient in that it accepts a moving joint without <limit>, because
limits do not enter the dynamics.
"""

from __future__ import annotations

import hashlib
import math
import os

from lxml import etree

from rbdgen.description.document import Document, line_of, parse, read_bytes
from rbdgen.description.form import require_urdf
from rbdgen.description.ignored import first_of, ignored_warnings
from rbdgen.description.quoting import quoted
from rbdgen.description.ros2_control import with_followers
from rbdgen.description.schema import (
    Description,
    Inertial,
    Joint,
    JointType,
    Limit,
    Link,
    Mimic,
    Origin,
    Vector3,
)
from rbdgen.description.soundness import inertia_warnings, missing_inertial_warnings, unit
from rbdgen.description.transmissions import with_rotors
from rbdgen.description.tree import find_root

UNIT_TOLERANCE = 1e-6
"""The largest error of the length of an axis without a warning; an axis with six digits passes."""

_TYPES: tuple[JointType, ...] = ("revolute", "continuous", "prismatic", "fixed", "planar", "floating")

_INSTEAD = {
    "spherical": "URDF has none: write three revolute joints in series, or the robot in Python or MJCF",
    "universal": "URDF has none: write two revolute joints in series",
    "helical": "URDF has none: write the robot in Python",
}


def read_urdf(path: str | os.PathLike[str]) -> Description:
    """Reads a URDF file of at most 20 MB.

    Raises DescriptionError, whose message is `FILE:LINE: what is wrong; what to do`, for every file that
    cannot be read or does not describe one tree of joints of the types that URDF has.
    """
    name = os.fspath(path)
    return parse_urdf(read_bytes(name), name)


def parse_urdf(data: bytes | str, path: str = "<string>") -> Description:
    """Reads a URDF from the contents of its file; `path` only appears in messages and in the result."""
    raw = data.encode(errors="surrogatepass") if isinstance(data, str) else data
    document = parse(raw, path)
    require_urdf(document)
    return describe(document, raw)


def describe(document: Document, raw: bytes) -> Description:
    """The description of a document that is known to be a URDF; `raw` has the bytes of the file."""

    name = document.attribute(document.root, "name")
    link_elements = document.children(document.root, "link")
    if not link_elements:
        raise document.error(line_of(document.root), f"robot {quoted(name)} has no links", "add a <link>")
    links = tuple(_link(document, element) for element in link_elements)
    joint_elements = document.children(document.root, "joint")
    read = with_rotors(document, [_joint(document, element) for element in joint_elements])
    joints, of_control = with_followers(document, read)
    return Description(
        name=name,
        links=links,
        joints=joints,
        root=find_root(document.path, links, joints),
        path=document.path,
        sha256=hashlib.sha256(raw).hexdigest(),
        warnings=(
            *_axis_warnings(document, joint_elements, joints),
            *first_of(iter(of_control)),
            *inertia_warnings(document.path, links),
            *_missing_inertial_warnings(document, link_elements, links, joints),
            *ignored_warnings(document, joint_elements, joints),
        ),
    )


def _link(document: Document, element: etree._Element) -> Link:
    name = document.attribute(element, "name")
    inertial = document.child(element, "inertial")
    return Link(name, None if inertial is None else _inertial(document, inertial), line_of(element))


def _inertial(document: Document, element: etree._Element) -> Inertial:
    mass_element = document.required_child(element, "mass", 'write <mass value="..."/>, or delete <inertial>')
    mass = document.number(mass_element, "value")
    if mass < 0.0:
        what = f"mass of link {quoted(_owner(element))} is {mass:g} kg, less than zero"
        raise document.error(line_of(mass_element), what, "write a mass of zero or more")
    inertia = document.required_child(
        element, "inertia", "write <inertia> with its six numbers, or delete <inertial>"
    )
    ixx, ixy, ixz, iyy, iyz, izz = (
        document.number(inertia, component) for component in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    return Inertial(origin_of(document, element), mass, ixx, ixy, ixz, iyy, iyz, izz, line_of(element))


def _joint(document: Document, element: etree._Element) -> Joint:
    name = document.attribute(element, "name")
    joint_type = _joint_type(document, element, name)
    parent = document.required_child(element, "parent", 'write <parent link="..."/>')
    child = document.required_child(element, "child", 'write <child link="..."/>')
    dynamics = document.child(element, "dynamics")
    mimic = document.child(element, "mimic")
    return Joint(
        name=name,
        type=joint_type,
        parent=document.attribute(parent, "link"),
        child=document.attribute(child, "link"),
        origin=origin_of(document, element),
        axis=_direction(document, element, joint_type),
        limit=_limit(document, element, joint_type),
        damping=0.0 if dynamics is None else document.number(dynamics, "damping", 0.0),
        friction=0.0 if dynamics is None else document.number(dynamics, "friction", 0.0),
        mimic=None if mimic is None or joint_type == "fixed" else _mimic(document, mimic),
        line=line_of(element),
    )


def _joint_type(document: Document, element: etree._Element, name: str) -> JointType:
    found = document.attribute(element, "type")
    for known in _TYPES:
        if found == known:
            return known
    what_to_do = _INSTEAD.get(found, f"use one of {', '.join(_TYPES)}")
    what = f"joint {quoted(name)} is of type {quoted(found)}, which is not supported"
    raise document.error(line_of(element), what, what_to_do)


def origin_of(document: Document, element: etree._Element) -> Origin:
    """The pose in <origin> of an element; the identity if it has none."""
    origin = document.child(element, "origin")
    if origin is None:
        return Origin()
    if "quat_xyzw" in origin.attrib:
        what = f"origin of {quoted(_owner(origin))} is given by quat_xyzw, which is not supported"
        raise document.error(line_of(origin), what, "write the rotation as rpy")
    return Origin(
        xyz=document.vector(origin, "xyz") if "xyz" in origin.attrib else (0.0, 0.0, 0.0),
        rpy=document.vector(origin, "rpy") if "rpy" in origin.attrib else (0.0, 0.0, 0.0),
    )


def _direction(document: Document, element: etree._Element, joint_type: JointType) -> Vector3:
    """The axis of a joint, of unit length; for a planar joint the normal of its plane, which is always z."""
    if joint_type == "planar":
        return _normal(document, element)
    return (1.0, 0.0, 0.0) if joint_type in ("fixed", "floating") else unit(*_axis(document, element))


def _normal(document: Document, element: etree._Element) -> Vector3:
    """The normal of a planar joint, whose plane is the x-y plane of the joint's frame.

    Other programs ignore the axis and use that plane, so any other axis raises DescriptionError.
    """
    axis = document.child(element, "axis")
    if axis is not None and any(abs(x) > UNIT_TOLERANCE for x in unit(*_axis(document, element))[:2]):
        what = f"planar joint {quoted(_owner(axis))} has an axis that is not its frame's z"
        raise document.error(line_of(axis), what, "turn <origin> instead, so that z is the plane's normal")
    return 0.0, 0.0, 1.0


def _axis(document: Document, element: etree._Element) -> Vector3:
    """The axis as the file gives it; 1 0 0 by default."""
    axis = document.child(element, "axis")
    if axis is None:
        return 1.0, 0.0, 0.0
    xyz = document.vector(axis, "xyz")
    if math.hypot(*xyz) < 1e-9:
        what = f"axis of joint {quoted(_owner(axis))} has zero length"
        raise document.error(line_of(axis), what, 'write a direction, such as xyz="0 0 1"')
    return xyz


def _limit(document: Document, element: etree._Element, joint_type: JointType) -> Limit | None:
    limit = document.child(element, "limit")
    if limit is None:
        return None
    bounded = joint_type in ("revolute", "prismatic")
    return Limit(
        lower=document.number(limit, "lower", 0.0) if bounded else None,
        upper=document.number(limit, "upper", 0.0) if bounded else None,
        effort=document.optional_number(limit, "effort"),
        velocity=document.optional_number(limit, "velocity"),
    )


def _mimic(document: Document, element: etree._Element) -> Mimic:
    return Mimic(
        joint=document.attribute(element, "joint"),
        multiplier=document.number(element, "multiplier", 1.0),
        offset=document.number(element, "offset", 0.0),
    )


def _owner(element: etree._Element) -> str:
    """The name of the link or joint that an element belongs to."""
    return next(name for owner in element.iterancestors() if (name := owner.get("name")) is not None)


def _axis_warnings(
    document: Document, elements: list[etree._Element], joints: tuple[Joint, ...]
) -> list[str]:
    warnings = []
    for element, joint in zip(elements, joints, strict=True):
        turns = joint.type in ("revolute", "continuous", "prismatic")
        length = math.hypot(*_axis(document, element)) if turns else 1.0
        if abs(length - 1.0) > UNIT_TOLERANCE:
            what = f"axis of joint {quoted(joint.name)} has length {length:.9g}; normalised"
            warnings.append(document.warning(joint.line, what))
    return warnings


def _missing_inertial_warnings(
    document: Document, elements: list[etree._Element], links: tuple[Link, ...], joints: tuple[Joint, ...]
) -> list[str]:
    """One warning for all links that look like bodies but have no <inertial>.

    A link without geometry that does not move on its own is a mere frame (world, tool0) and needs none.
    """
    moved = {joint.child for joint in joints if joint.type != "fixed"}
    missing = [
        link
        for element, link in zip(elements, links, strict=True)
        if link.inertial is None
        and (
            link.name in moved
            or document.children(element, "visual")
            or document.children(element, "collision")
        )
    ]
    return missing_inertial_warnings(document.path, missing)
