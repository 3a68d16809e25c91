"""Rotors of motors that a URDF's transmissions name, in the elements that Drake adds to URDF.

<transmission>
  <joint name="elbow"/>
  <actuator name="motor">
    <drake:rotor_inertia value="1e-5"/>  kg m^2
    <drake:gear_ratio value="100"/>      turns of the rotor for one of the joint, 1 where there is none
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
    """The joints with the inertia that they feel of their motors' rotors."""
    felt: dict[str, float] = {}
    for transmission in document.children(document.root, "transmission"):
        name = joint_driven(document, transmission, joints)
        if name is not None:
            for actuator in document.children(transmission, "actuator"):
                felt[name] = felt.get(name, 0.0) + _reflected(document, actuator)
    return tuple(replace(joint, armature=felt.get(joint.name, 0.0)) for joint in joints)


def joint_driven(document: Document, transmission: etree._Element, joints: Sequence[Joint]) -> str | None:
    """The moving joint that a transmission names, if it names one and one alone."""
    names = [element.get("name") for element in document.children(transmission, "joint")]
    moving = [joint.name for joint in joints if joint.type != "fixed" and [joint.name] == names]
    return moving[0] if moving else None


def rotor_elements(actuator: etree._Element) -> dict[str, etree._Element]:
    """Those of an actuator that has a rotor, by their names; none of one without."""
    found = {
        etree.QName(child).localname: child for child in actuator.iterchildren("*") if child.prefix == "drake"
    }
    wanted = ("rotor_inertia", "gear_ratio")
    return {name: found[name] for name in wanted if name in found} if "rotor_inertia" in found else {}


def _reflected(document: Document, actuator: etree._Element) -> float:
    """n^2 J."""
    values = {name: document.number(element, "value") for name, element in rotor_elements(actuator).items()}
    return values.get("rotor_inertia", 0.0) * values.get("gear_ratio", 1.0) ** 2
