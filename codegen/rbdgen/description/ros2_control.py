"""Reads joints that follow others from the <ros2_control> of a URDF.

<ros2_control name="gripper" type="system">
  <joint name="right_finger">
    <param name="mimic">left_finger</param>
    <param name="multiplier">-1</param>     1 by default
    <param name="offset">0</param>          rad or m, 0 by default
  </joint>
</ros2_control>
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lxml import etree

from rbdgen.description.document import Document, line_of
from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Joint, Mimic


def with_followers(document: Document, joints: Sequence[Joint]) -> tuple[tuple[Joint, ...], list[str]]:
    """The joints with the followers of the file's <ros2_control>, and warnings of entries that have no
    effect.

    A <mimic> of the joint itself takes precedence, then the first <ros2_control> that names the joint.

    Raises DescriptionError for a multiplier or an offset that is no number.
    """
    moving = {joint.name: joint.mimic for joint in joints if joint.type != "fixed"}
    warnings: list[str] = []
    for element in _joints(document):
        name = element.get("name", "")
        own, given, told = moving.get(name), _mimic(document, element), ""
        if name not in moving:
            if given is not None:
                told = f"{quoted(name)}, which mimics {quoted(given.joint)}, is no moving joint; ignored"
        elif own is None:
            moving[name] = given
        elif given not in (None, own):
            told = f"joint {quoted(name)} has a different mimic above; ignored: {_said(own)} is used"
        elif element.get("mimic", "").strip().lower() == "false":
            told = f"joint {quoted(name)} has mimic false; ignored: {_said(own)} is used"
        if told:
            warnings.append(document.warning(line_of(element), f"<ros2_control>: {told}"))
    return tuple(replace(joint, mimic=moving.get(joint.name)) for joint in joints), warnings


def _said(mimic: Mimic) -> str:
    return f"{mimic.multiplier:g} {quoted(mimic.joint)} + {mimic.offset:g}"


def _joints(document: Document) -> Iterator[etree._Element]:
    for owner in document.children(document.root, "ros2_control"):
        yield from document.children(owner, "joint")


def _mimic(document: Document, element: etree._Element) -> Mimic | None:
    params = {param.get("name"): param for param in document.children(element, "param")}
    name = (params["mimic"].text or "").strip() if "mimic" in params else ""
    if not name:
        return None
    multiplier, offset = (
        document.number_of(params[what], what) if what in params else default
        for what, default in (("multiplier", 1.0), ("offset", 0.0))
    )
    return Mimic(name, multiplier, offset)
