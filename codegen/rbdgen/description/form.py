"""Finds the format of a robot file from its content; the extension of its name is ignored."""

from __future__ import annotations

from typing import Literal, TypeAlias

from lxml import etree

from rbdgen.description.document import Document, line_of
from rbdgen.description.quoting import escaped
from rbdgen.errors import DescriptionError

Form: TypeAlias = Literal["urdf", "xacro", "mjcf"]

_INSTEAD = {
    "sdf": ("an SDF file, a format of Gazebo", "give the URDF that describes the same robot"),
    "COLLADA": ("a COLLADA file, which is geometry", "give a URDF file"),
}
"""The root elements of other formats, with the name of the format and the advice for the user."""

_SRDF = {"group", "group_state", "end_effector", "virtual_joint", "passive_joint", "disable_collisions"}
"""The elements of an SRDF, whose root is <robot> as well."""


def form_of(document: Document) -> Form:
    """The format of a document. Raises DescriptionError, which names the format, if it is not supported."""
    root = document.root
    tag = etree.QName(root).localname
    if tag == "mujoco":
        return "mjcf"
    if tag != "robot":
        other = (f"an XML file whose root is <{escaped(tag)}>, not <robot>", "give a URDF file")
        raise _not_urdf(document, root, *_INSTEAD.get(tag, other))
    if _first_of_xacro(document) is not None or _holds_expressions(root):
        return "xacro"
    below = {etree.QName(child).localname for child in root}
    if "link" not in below and below & _SRDF:
        raise _not_urdf(
            document, root, "an SRDF file, which names groups of a robot's joints", "give the robot's URDF"
        )
    return "urdf"


def require_urdf(document: Document) -> None:
    """Raises DescriptionError, which names the format, unless the document is a URDF."""
    form = form_of(document)
    if form == "mjcf":
        raise _not_urdf(document, document.root, "an MJCF file, not a URDF", "give a URDF file")
    if form == "xacro":
        found = _first_of_xacro(document)
        where, what = document.root, "an expression"
        if found is not None:
            where, what = found, f"<xacro:{escaped(etree.QName(found).localname)}>"
        raise document.error(line_of(where), f"the file is a xacro: it has {what}", "run xacro on it first")


def _not_urdf(document: Document, root: etree._Element, what: str, what_to_do: str) -> DescriptionError:
    return document.error(line_of(root), f"this is {what}", what_to_do)


def _first_of_xacro(document: Document) -> etree._Element | None:
    """The first element that is for xacro: its prefix is `xacro`, or its namespace contains this word."""
    for element in document.root.iter("*"):
        if element.prefix == "xacro" or "xacro" in (etree.QName(element).namespace or ""):
            return element
    return None


def _holds_expressions(root: etree._Element) -> bool:
    """Whether the document has expressions for xacro.

    A declaration of the prefix alone does not show this, as the output of xacro keeps the declaration.
    """
    if "xacro" not in root.nsmap:
        return False
    texts = (text for element in root.iter("*") for text in (*element.values(), element.text or ""))
    return any("${" in text or "$(" in text for text in map(str, texts))
