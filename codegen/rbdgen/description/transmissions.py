"""Reads the rotor inertia of motors from the transmissions of a URDF, where Drake's extensions state it.

<transmission>
  <joint name="elbow"/>
  <actuator name="motor">
    <drake:rotor_inertia value="1e-5"/>  kg m^2
    <drake:gear_ratio value="100"/>      turns of the rotor per turn of the joint, 1 by default
  </actuator>
</transmission>
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from rbdgen.description.document import Document
from rbdgen.description.schema import Joint


def with_rotors(document: Document, joints: Sequence[Joint]) -> tuple[Joint, ...]:
    """The joints, each with the reflected inertia of the rotors that drive it as its armature."""
    felt: dict[str, float] = {}
    for transmission in document.children(document.root, "transmission"):
        name = joint_driven(document, transmission, joints)
        if name is not None:
            for actuator in document.children(transmission, "actuator"):
                felt[name] = felt.get(name, 0.0) + _reflected(document, actuator)
    return tuple(replace(joint, armature=felt.get(joint.name, 0.0)) for joint in joints)


def joint_driven(document: Document, transmission: etree._Element, joints: Sequence[Joint]) -> str | None:
    """The joint that a transmission drives; None unless it names exactly one joint, and this joint moves."""
    names = [element.get("name") for element in document.children(transmission, "joint")]
    moving = [joint.name for joint in joints if joint.type != "fixed" and [joint.name] == names]
    return moving[0] if moving else None


def rotor_elements(actuator: etree._Element) -> dict[str, etree._Element]:
    """The elements with Drake's prefix that describe an actuator's rotor, by name; empty without a rotor."""
    found = {
        etree.QName(child).localname: child for child in actuator.iterchildren("*") if child.prefix == "drake"
    }
    wanted = ("rotor_inertia", "gear_ratio")
    return {name: found[name] for name in wanted if name in found} if "rotor_inertia" in found else {}


def _reflected(document: Document, actuator: etree._Element) -> float:
    """The rotor's inertia reflected to the joint, n^2 J."""
    values = {name: document.number(element, "value") for name, element in rotor_elements(actuator).items()}
    return values.get("rotor_inertia", 0.0) * values.get("gear_ratio", 1.0) ** 2
