"""Warns of everything in a URDF that would affect the dynamics and that rbdgen does not read.

Gears, motors and springs would change the torques. Elements and attributes that URDF does not define give
warnings too: with `<orgin>` for `<origin>`, a joint is in the wrong place. `model` warns of damping and
friction. There is no warning of data that never enter the dynamics: geometry, materials, contacts, sensors,
limits, safety controllers, calibration, and plugins that are not known to change how bodies move.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from lxml import etree

from rbdgen.description.document import Document, describe_element, line_of
from rbdgen.description.quoting import escaped, quoted
from rbdgen.description.schema import Joint
from rbdgen.description.transmissions import joint_driven, rotor_elements
from rbdgen.wording import both


class _Known(NamedTuple):
    """The children and attributes that an element may have."""

    children: frozenset[str]
    attributes: frozenset[str]


def _known(children: str, attributes: str) -> _Known:
    return _Known(frozenset(children.split()), frozenset(attributes.split()))


# The elements whose children and attributes are checked.
_URDF = {
    "robot": _known("link joint material transmission gazebo sensor ros2_control", "name version"),
    "link": _known("inertial visual collision material contact", "name"),
    "joint": _known(
        "parent child origin axis limit dynamics mimic safety_controller calibration", "name type"
    ),
    "inertial": _known("origin mass inertia", ""),
    "origin": _known("", "xyz rpy"),
    "axis": _known("", "xyz"),
    "parent": _known("", "link"),
    "child": _known("", "link"),
    "mimic": _known("", "joint multiplier offset"),
    "mass": _known("", "value"),
    "inertia": _known("", "ixx ixy ixz iyy iyz izz"),
}

# Settings that change the dynamics, with the values for which they have no effect.
_GEARS: Mapping[str, Sequence[float]] = {
    "mechanicalReduction": (1, -1),
    "mechanical_reduction": (1, -1),
    "gear_ratio": (1, -1),
    "rotor_inertia": (0,),
    "motorInertia": (0,),
    "motor_inertia": (0,),
}
_GAZEBO: Mapping[str, Sequence[float | None]] = {
    # of the model
    "static": (0,),
    "joint": (),  # closes a chain
    "link": (),
    "model": (),
    "include": (),
    # of a link
    "turnGravityOff": (0,),
    "gravity": (1,),
    "kinematic": (0,),
    "enable_wind": (0,),
    "dampingFactor": (0,),
    "velocity_decay": (0, None),
    "inertial": (0, None),  # its attribute auto
    "mass": (),
    "inertia": (),
    "density": (),
    "fluid_added_mass": (0, None),
    # of a joint
    "implicitSpringDamper": (0,),
    "implicit_spring_damper": (0,),
    "cfmDamping": (0,),
    "cfm_damping": (0,),
    "springStiffness": (0,),
    "spring_stiffness": (0,),
    "springReference": (0,),
    "spring_reference": (0,),
    "damping": (0,),
    "friction": (0,),
    "max_force": (0,),
    "mimic": (),
    "gearbox_ratio": (),
    "thread_pitch": (),
    "screw_thread_pitch": (),
}
"""The values for which an element of SDFormat, or of the <gazebo> block of a URDF, has no effect.

`None` stands for a text that is no number, and an empty tuple for an element that always has an effect."""

_OPAQUE = frozenset(
    """
    audio_sink audio_source battery collision gripper light material particle_emitter plugin projector sensor
    visual
    """.split()  # noqa: SIM905  (a list would take a screen)
)
"""Elements inside <gazebo> that do not change the dynamics, whatever they contain."""

_PLUGIN = re.compile(
    "added.?mass|buoyan|fluid|hydrodynamic|lift.?drag|mimic|spring|underwater|uuv|wind", re.IGNORECASE
)
"""Matches the names of plugins that change the dynamics of bodies or couple joints."""

MOST = 1000
"""The largest number of warnings of one kind. Without it, a file of millions of elements would fill the
memory with warnings."""

_XML = "{http://www.w3.org/XML/1998/namespace}"


def ignored_warnings(
    document: Document, elements: Sequence[etree._Element], joints: Sequence[Joint]
) -> list[str]:
    """The warnings of a URDF, at most MOST of each kind and one more that says that there are others.

    `elements` are the XML elements of `joints`.
    """
    kinds = (
        _dynamics(document, elements, joints),
        _transmissions(document, joints),
        _gazebo(document, joints),
        _unknown(document, document.root, "robot"),
    )
    return [warning for kind in kinds for warning in first_of(kind)]


def first_of(warnings: Iterator[str]) -> Iterator[str]:
    """At most MOST of the warnings; if there are more, another one follows and says so."""
    yield from islice(warnings, MOST)
    if (more := next(warnings, None)) is not None:
        yield f"{more}, and so is more below it"


def _dynamics(
    document: Document, elements: Sequence[etree._Element], joints: Sequence[Joint]
) -> Iterator[str]:
    for element, joint in zip(elements, joints, strict=True):
        dynamics = document.child(element, "dynamics")
        if dynamics is None or joint.type == "fixed":
            continue
        values = [
            f"{escaped(name, 20)} {escaped(value, 20)}"
            for name, value in ((str(name), str(value)) for name, value in dynamics.items())
            if name not in ("damping", "friction") and not name.startswith(_XML) and _number(value) != 0
        ]
        values += [
            f"{escaped(etree.QName(inner).localname, 20)} {escaped(_value(inner), 20)}"
            for inner in dynamics.iterchildren("*")
            if _number(_value(inner)) != 0
        ]
        if values:
            what = f"<dynamics> of joint {quoted(joint.name)} has {_listed(values)}"
            yield document.warning(line_of(dynamics), f"{what}; ignored: add these torques yourself")


def _transmissions(document: Document, joints: Sequence[Joint]) -> Iterator[str]:
    """Warnings of the settings of transmissions, except for the rotors that `transmissions.py` reads."""
    owners = [document.root, *document.children(document.root, "ros2_control")]
    for element in (found for owner in owners for found in document.children(owner, "transmission")):
        read: set[etree._Element] = set()
        if element.getparent() is document.root and joint_driven(document, element, joints) is not None:
            for actuator in document.children(element, "actuator"):
                read |= {*rotor_elements(actuator).values()}
        if values := _settings((inner for inner in element.iter("*") if inner not in read), _GEARS):
            what = f"{describe_element(element)} has {_listed(values)}"
            what_was_done = f"ignored: torques are those at the joint; pass {both('armature')} for rotors"
            yield document.warning(line_of(element), f"{what}; {what_was_done}")


def _gazebo(document: Document, joints: Sequence[Joint]) -> Iterator[str]:
    followers = {joint.name for joint in joints if joint.mimic is not None}
    for element in document.children(document.root, "gazebo"):
        values = [*_settings(_inside(element), _GAZEBO), *_plugins(element, followers)]
        if values:
            reference = element.get("reference")
            of = "" if reference is None else f" of {quoted(reference)}"
            what = f"<gazebo>{of} has {_listed(values)}"
            yield document.warning(line_of(element), f"{what}; ignored: settings of Gazebo are not read")


def _inside(element: etree._Element) -> Iterator[etree._Element]:
    """All elements inside this one, except for those of `_OPAQUE` and their contents."""
    stack = list(element.iterchildren("*", reversed=True))
    while stack:
        inner = stack.pop()
        if etree.QName(inner).localname not in _OPAQUE:
            yield inner
            stack.extend(inner.iterchildren("*", reversed=True))


def _plugins(element: etree._Element, followers: Collection[str]) -> Iterator[str]:
    """The plugins that change the dynamics, except those that move a joint of `followers`."""
    for plugin in element.iter("{*}plugin"):
        name = f"{plugin.get('name', '')} {plugin.get('filename', '')}"
        moved = plugin.findtext("{*}mimicJoint", "").strip()
        if _PLUGIN.search(name) and moved not in followers:
            yield f"plugin {escaped(name.strip(), 40)}"


def _settings(elements: Iterator[etree._Element], neutral: Mapping[str, Sequence[float | None]]) -> list[str]:
    """The name and value of every setting among these elements that has an effect.

    A setting has an effect unless its value, and those of all elements inside it, are among its values in
    `neutral`.
    """
    found = []
    for element in elements:
        name = etree.QName(element).localname
        if name in neutral:
            value = _value(element)
            held = [element] if name == "inertial" else [x for x in element.iter("*") if len(x) == 0]
            if any(_number(_value(inner)) not in neutral[name] for inner in held):
                found.append(f"{name} {escaped(value, 20)}".rstrip())
    return found


def _value(element: etree._Element) -> str:
    return (element.get("value") or element.get("auto") or element.text or "").strip()


def _unknown(document: Document, element: etree._Element, tag: str) -> Iterator[str]:
    known = _URDF[tag]
    for name in map(str, element.attrib):
        if name not in known.attributes and not name.startswith(_XML):
            what = f"{describe_element(element)} has an attribute {escaped(name.rpartition('}')[2])}"
            yield document.warning(line_of(element), f"{what}; ignored: no attribute of URDF")
    namespace = etree.QName(document.root).namespace
    for child in element:
        name = etree.QName(child).localname
        if etree.QName(child).namespace != namespace or name not in known.children:
            what = f"{describe_element(element)} has <{escaped(name)}>"
            yield document.warning(line_of(child), f"{what}; ignored: no element of URDF")
        elif name in _URDF:
            yield from _unknown(document, child, name)


def _number(text: str) -> float | None:
    """The number that a text stands for, with true as 1 and false as 0; None if it is no number."""
    words = {"true": 1.0, "false": 0.0}
    word = text.strip().lower()
    try:
        return words[word] if word in words else float(word)
    except ValueError:
        return None


def _listed(values: Sequence[str]) -> str:
    return ", ".join(values[:6]) + (", ..." if len(values) > 6 else "")
